/** What `init` prints about the tables it found. */

import type { Facts } from '../../model/dashboard/first/facts.js';
import { qualifiedName } from '../../model/datamart/datamart.js';
import { grainOf, type SourceTable } from '../../model/datamart/source-schema.js';
import { tableText } from '../kit/terminal.js';
import type { Draft } from './draft.js';

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

const ownerOf = ({ isTenants, isOwned }: Facts['tables'][number]): string => {
  if (isTenants) return 'the tenant itself';
  return isOwned ? 'one tenant each' : 'ALL tenants read every row';
};

export const draftReport = ({ leftOut, leftOutColumns }: Draft, facts: Facts): string => {
  const kept = facts.tables.map((one) => [qualifiedName(one.table), ownerOf(one)]);
  const out = leftOut.map(({ table, reason }) => [qualifiedName(table), `LEFT OUT: ${reason}`]);
  const columns = leftOutColumns.map(({ column, reason }) => [column, `column left out: ${reason}`]);
  return tableText(['TABLE', 'WHOSE ROWS'], [...kept, ...out, ...columns]);
};
