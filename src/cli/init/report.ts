/** What `init` prints about the tables it found, and about what it will make of them. */
import { baseFilterWords } from '../../model/datamart/base-filter-words.js';
import { qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import type { Draft } from '../../model/datamart/model-draft.js';
import { amountWords } from '../../model/datamart/money.js';
import type { ProposedBaseFilter, ProposedBridge } from '../../model/datamart/source-proposals.js';
import { grainOf, type SourceTable } from '../../model/datamart/source-schema.js';
import type { TableOwnership } from '../../model/datamart/table-ownership.js';
import type { TenantlessRows } from '../../model/query/first/tenantless.js';
import { printable, shellText, tableText } from '../kit/terminal.js';
import { bridgeFlag } from './bridges.js';
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
    case 'bridge':
      return `several tenants each, by ${tenancy.steps[0]?.far.tableName}`;
    default:
      return 'ALL tenants read every row';
  }
};

const throughOf = ({ datamart }: Draft, table: TableRef) =>
  datamart.tables.find((one) => sameTable(one, table))?.through;

const takenBridge = (draft: Draft, bridge: ProposedBridge): readonly string[] => {
  const through = throughOf(draft, bridge);
  return through == null ? [] : [`  ${qualifiedName(bridge)}: ${through.columns.join(', ')}`];
};

/** What a flag would give that is not taken without one. */
const openBridge = (draft: Draft, bridge: ProposedBridge): readonly string[] => {
  if (throughOf(draft, bridge) != null) return [];
  const more =
    bridge.askedColumns.length === 0 ? '' : `; it also has ${bridge.askedColumns.join(', ')}, to be named like these`;
  return [`  ${bridge.reason}: --through ${shellText(bridgeFlag(bridge))}${more}`];
};

const filterLine = ({ filter, reason, ...table }: ProposedBaseFilter, flag: string): string =>
  `  ${qualifiedName(table)}: ${baseFilterWords(filter)} (${reason}); ${flag} ${shellText(qualifiedName(table))}`;

/** The columns that are read as amounts of money. */
const amountLines = ({ datamart: { tables } }: Draft): readonly string[] =>
  tables.flatMap((table) => {
    const name = qualifiedName(table);
    return table.columns.flatMap(({ columnName, numbers }) =>
      numbers == null ? [] : [`  ${name}.${columnName}: ${amountWords(numbers)}; as stored: --without-amounts ${name}`],
    );
  });

/** The tables of which `init` chose one of several ways, and how to choose another. */
const chosenWays = ({ owned }: Draft, chosen: Paths, given: Paths): readonly string[] =>
  owned
    .map(({ table }) => qualifiedName(table))
    .filter((name) => chosen.has(name) && !given.has(name))
    .map((name) => `  ${name} by ${chosen.get(name)}; another: --tenancy-path ${shellText(`${name}=RELATIONSHIP`)}`);

/** The names in it are those of the database. */
const printableLine = (text: string): string => printable(text).replaceAll('\n', '\uFFFD');

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n\n${title}\n${lines.map(printableLine).join('\n')}`;

/** What was proposed for a draft, beside what it took. */
export type Plan = {
  /** The ways that the draft follows. */
  readonly chosen: Paths;
  /** Those of them that the operator named. */
  readonly given: Paths;
  readonly bridges: readonly ProposedBridge[];
  readonly baseFilters: readonly ProposedBaseFilter[];
  /** Whether the terminal asks about shared people, base filters and amounts next, with the reasons. */
  readonly isAsked: boolean;
};

const rowsReport = (draft: Draft, { bridges, baseFilters }: Plan): readonly string[] => {
  const find = (ref: TableRef) => draft.datamart.tables.find((table) => sameTable(table, ref));
  const isTaken = (one: ProposedBaseFilter): boolean => find(one)?.baseFilters?.includes(one.filter) === true;
  const here = baseFilters.filter((one) => find(one) !== undefined);
  return [
    section(
      'A tenant reads these columns of the rows that it shares with other tenants:',
      bridges.flatMap((one) => takenBridge(draft, one)),
    ),
    section(
      'Not taken. A tenant would read, of the rows that it shares, also what other tenants wrote there:',
      bridges.flatMap((one) => openBridge(draft, one)),
    ),
    section(
      'Every chart reads only these rows:',
      here.filter(isTaken).map((one) => filterLine(one, 'all rows: --without-base-filter')),
    ),
    section(
      'Not taken. Every chart would read only these rows:',
      here.filter((one) => !isTaken(one)).map((one) => filterLine(one, 'to take it: --base-filter')),
    ),
    section('These columns are amounts of money, shown in whole units:', amountLines(draft)),
  ];
};

export const draftReport = (draft: Draft, plan: Plan): string => {
  const { chosen, given } = plan;
  const { leftOut, leftOutColumns, secondWays } = draft;
  const kept = draft.owned.map((one) => [qualifiedName(one.table), ownerOf(one)]);
  const out = leftOut.map(({ table, reason, ways }) => {
    const fix =
      ways.length === 0 ? '' : `: --tenancy-path ${shellText(`${qualifiedName(table)}=${ways[0]?.relationshipName}`)}`;
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
      ...(lists.length === 0
        ? []
        : [`  --shared ${shellText(lists.map(({ table }) => qualifiedName(table)).join(','))}`]),
    ]),
    ...(plan.isAsked ? [] : rowsReport(draft, plan)),
  ].join('');
};

/** The rows that nobody will see, table by table. */
export const tenantlessReport = (found: readonly TenantlessRows[]): string =>
  [
    'Rows without a tenant. Nobody sees them; to show them to all tenants, share a view of them:',
    ...found.map(
      ({ table, columnName, tenantless, rows }) =>
        `  ${table}: ${tenantless} of ${rows} rows have no tenant (${columnName} is empty)`,
    ),
  ]
    .map(printableLine)
    .join('\n');
