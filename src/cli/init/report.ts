/** What `init` prints about the tables it found, and about what it will make of them. */
import { qualifiedName, sameTable } from '../../model/datamart/datamart.js';
import type { Draft } from '../../model/datamart/model-draft.js';
import { grainOf, type SourceTable } from '../../model/datamart/source-schema.js';
import type { TableOwnership } from '../../model/datamart/table-ownership.js';
import { tableText } from '../kit/terminal.js';
import type { Paths } from './ways.js';

const rowsOf = ({ estimatedRows }: SourceTable): string => (estimatedRows == null ? '' : `about ${estimatedRows}`);

const shortList = (names: readonly string[]): string => {
  const shown = names.slice(0, 6).join(', ');
  return names.length > 6 ? `${shown} and ${names.length - 6} more` : shown;
};

const nameOf = (table: SourceTable): string => {
  if (table.kind !== 'view') return qualifiedName(table);
  const grain = grainOf(table);
  const key = grain.length === 0 ? 'no key known' : `one row for each ${grain.join(', ')}`;
  return `${qualifiedName(table)} (view; ${key})`;
};

export const tablesReport = (tables: readonly SourceTable[]): string => {
  // A database that has not counted them yet says nothing.
  const isCounted = tables.some(({ estimatedRows }) => estimatedRows != null);
  const rows = tables.map((table) => [
    nameOf(table),
    ...(isCounted ? [rowsOf(table)] : []),
    shortList(table.columns.map(({ columnName }) => columnName)),
  ]);
  return tableText(['TABLE', ...(isCounted ? ['ROWS'] : []), 'COLUMNS'], rows);
};

const ownerOf = ({ tenancy }: TableOwnership): string => {
  switch (tenancy.kind) {
    case 'master':
      return 'the tenant itself';
    case 'column':
      return `one tenant each, by ${tenancy.columnName}`;
    case 'path':
      return `one tenant each, by ${tenancy.steps.map(({ near, far }) => `${near.columnName} → ${far.tableName}`).join(', ')}`;
    default:
      return 'ALL tenants read every row';
  }
};

/** The tables of which `init` chose one of several ways, and how to choose another. */
const chosenWays = ({ owned }: Draft, chosen: Paths, given: Paths): readonly string[] =>
  owned
    .map(({ table }) => qualifiedName(table))
    .filter((name) => chosen.has(name) && !given.has(name))
    .map((name) => `  ${name} by ${chosen.get(name)}; another: --tenancy-path ${name}=RELATIONSHIP`);

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n\n${title}\n${lines.join('\n')}`;

/** `chosen`: the ways that the draft follows; `given`: those of them that the operator named. */
export const draftReport = (draft: Draft, chosen: Paths, given: Paths): string => {
  const { leftOut, leftOutColumns, secondWays } = draft;
  const kept = draft.owned.map((one) => [qualifiedName(one.table), ownerOf(one)]);
  const out = leftOut.map(({ table, reason, ways }) => {
    const fix = ways.length === 0 ? '' : `: --tenancy-path ${qualifiedName(table)}=${ways[0]?.relationshipName}`;
    return [qualifiedName(table), `LEFT OUT: ${reason}${fix}`];
  });
  const columns = leftOutColumns.map(({ column, reason }) => [column, `column left out: ${reason}`]);
  const lists = leftOut.filter(({ isLookup, mayHaveTenants }) => isLookup && !mayHaveTenants);
  const isHere = (name: string): boolean => draft.datamart.tables.some((table) => qualifiedName(table) === name);
  return [
    tableText(['TABLE', 'WHOSE ROWS'], [...kept, ...out, ...columns]),
    section(
      'Several ways lead from these tables to a tenant. Check that the right one is taken:',
      chosenWays(draft, new Map([...chosen].filter(([name]) => isHere(name))), given),
    ),
    section(
      'Relationships left out, since another way leads between the same tables:',
      secondWays
        .filter(
          ({ child }) =>
            !(draft.datamart.tenancy?.tenancyLevel === 'TABLE' && sameTable(child, draft.datamart.tenancy)),
        )
        .map(({ relationshipName, child }) => `  ${relationshipName} → ${child.tableName}`),
    ),
    section('Rows of tenants refer to these tables. If ALL tenants may read every row of one, share it:', [
      ...(lists.length === 0 ? [] : [`  --shared ${lists.map(({ table }) => qualifiedName(table)).join(',')}`]),
    ]),
  ].join('');
};
