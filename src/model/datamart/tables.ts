/** A datamart's tables as a caller lists them, checked against the tables of the datasource. */
import { faultOf, repeatedAt } from '../faults.js';
import { type Datasource, isFile, usualSchemaOf } from '../organization.js';
import type { BaseFilter, DatamartColumn, DatamartTable, ModelNumbers, TableRef, Through } from './datamart.js';
import { sameTable, tableKey } from './datamart.js';
import { columnKind, type DatatypeKind, mayBeBoolean } from './datatypes.js';
import type { ColumnDates, DateGrain } from './dates.js';
import type { SourceColumn, SourceTable } from './source-schema.js';

/** An item of the interface's `tableList`. A missing field gets its default; the table's earlier value is not kept. */
export type TableDraft = {
  readonly name: string;
  readonly schemaName?: string | undefined;
  readonly clientColumn?: string | null | undefined;
  readonly tenancyPath?: string | null | undefined;
  readonly through?: Through | null | undefined;
  readonly baseFilters?: readonly BaseFilter[] | null | undefined;
  readonly leftOut?: readonly string[] | null | undefined;
  readonly isHide?: boolean | undefined;
  readonly label?: string | undefined;
  readonly wildcard?: string | null | undefined;
  readonly columns: readonly ColumnDraft[];
};

export type ColumnDraft = {
  readonly name: string;
  readonly alias?: string | undefined;
  readonly label?: string | undefined;
  readonly isHide?: boolean | undefined;
  readonly isCustomColumn?: boolean | undefined;
  readonly sql?: string | undefined;
  readonly isAggregate?: boolean | undefined;
  readonly allowAggregate?: boolean | undefined;
  readonly defaultAggregation?: string | null | undefined;
  readonly isApplyTimezone?: boolean | undefined;
  /** Undefined: as in the stored datamart. */
  readonly isBoolean?: boolean | undefined;
  readonly defaultSort?: 'ASC' | 'DESC' | '' | null | undefined;
  readonly defaultGrain?: DateGrain | null | undefined;
  readonly numbers?: ModelNumbers | null | undefined;
  readonly dates?: ColumnDates | null | undefined;
};

/** Lookup of a datasource's tables by name. */
export type SourceView = {
  /** Schema of tables that name no schema. */
  readonly defaultSchema: string;
  readonly find: (table: TableRef) => SourceTable | undefined;
  /** Returns a table whose name differs only in case, or undefined. */
  readonly findLike: (table: TableRef) => TableRef | undefined;
};

/** spec-gap: a table without schemaName is in the default schema of the datasource's own SQL statements. */
export const defaultSchemaOf = (datasource: Datasource): string => {
  if (isFile(datasource)) return 'main';
  const usual = usualSchemaOf(datasource.datasourceType);
  return usual === null ? datasource.database : (datasource.schema ?? usual);
};

const lowerKey = (table: TableRef): string => tableKey(table).toLowerCase();

export const viewSource = (datasource: Datasource, tables: readonly SourceTable[]): SourceView => {
  const byKey = new Map(tables.map((table) => [tableKey(table), table]));
  const byLowerKey = new Map(tables.map((table) => [lowerKey(table), table]));
  return {
    defaultSchema: defaultSchemaOf(datasource),
    find: (table) => byKey.get(tableKey(table)),
    findLike: (table) => byLowerKey.get(lowerKey(table)),
  };
};

/** Returns the table that a draft names, in the default schema if it names no schema. */
const refOf = ({ name, schemaName }: TableDraft, { defaultSchema }: SourceView): TableRef => ({
  schemaName: schemaName ?? defaultSchema,
  tableName: name,
});

const mend = (like: string | undefined): string =>
  like === undefined ? '' : ` (case counts: ${JSON.stringify(like)})`;

const columnLookup = ({ columns }: SourceTable) => {
  const datatypes = new Map(columns.map(({ columnName, datatype }) => [columnName, datatype]));
  const byLower = new Map(columns.map(({ columnName }) => [columnName.toLowerCase(), columnName]));
  return { datatypes, mend: (name: string) => mend(byLower.get(name.toLowerCase())) };
};

const columnFaults = (path: string, { name, columns, clientColumn }: TableDraft, table: SourceTable): string[] => {
  const found = columnLookup(table);
  const rule = (column: string) => `a column of table ${JSON.stringify(name)}${found.mend(column)}`;
  return [
    ...(clientColumn != null && !found.datatypes.has(clientColumn)
      ? [faultOf(`${path}.clientColumn`, clientColumn, rule(clientColumn))]
      : []),
    ...columns.flatMap((column, index) => {
      const isThere = found.datatypes.has(column.name);
      if (column.isBoolean === true && !mayBeBoolean({ datatype: found.datatypes.get(column.name) ?? '' })) {
        const holds = `left out: only a tinyint(1) may be declared a boolean, and it holds ${found.datatypes.get(column.name) ?? 'what its sql computes'}`;
        return [faultOf(`${path}.columns[${index}].isBoolean`, column.name, holds)];
      }
      if (column.isCustomColumn !== true)
        return isThere ? [] : [faultOf(`${path}.columns[${index}].name`, column.name, rule(column.name))];
      const own = `a name that no column of table ${JSON.stringify(name)} has, since isCustomColumn is true`;
      return isThere ? [faultOf(`${path}.columns[${index}].name`, column.name, own)] : [];
    }),
  ];
};

const oneTableFaults = (draft: TableDraft, index: number, source: SourceView): readonly string[] => {
  const path = `tableList[${index}]`;
  const ref = refOf(draft, source);
  const table = source.find(ref);
  const twice = repeatedAt(draft.columns.map(({ name }) => name)).map((at) =>
    faultOf(`${path}.columns[${at}].name`, draft.columns[at]?.name ?? '', 'a column that is not in the list yet'),
  );
  if (table !== undefined) return [...columnFaults(path, draft, table), ...twice];
  const like = source.findLike(ref);
  const rule = `a table of schema ${JSON.stringify(ref.schemaName)} in the datasource`;
  const hint = mend(
    like && (like.schemaName === ref.schemaName ? like.tableName : `${like.schemaName}.${like.tableName}`),
  );
  return [faultOf(`${path}.name`, draft.name, `${rule}${hint}`), ...twice];
};

/** Returns all faults of the list: tables and columns that the datasource does not have, and duplicates. */
export const tableListFaults = (drafts: readonly TableDraft[], source: SourceView): readonly string[] => [
  ...drafts.flatMap((draft, index) => oneTableFaults(draft, index, source)),
  ...repeatedAt(drafts.map((draft) => tableKey(refOf(draft, source)))).map((at) =>
    faultOf(`tableList[${at}].name`, drafts[at]?.name ?? '', 'a table that is not in the list yet'),
  ),
];

/** What the author declares, what was declared before, or what the datasource says. */
const kindOf = (
  { isBoolean }: ColumnDraft,
  found: SourceColumn | undefined,
  stored: DatamartColumn | undefined,
): DatatypeKind | undefined => {
  if (found === undefined || !mayBeBoolean(found)) return found?.kind;
  const wasBoolean = stored !== undefined && columnKind(stored) === 'boolean';
  return (isBoolean ?? wasBoolean) ? 'boolean' : 'integer';
};

const columnOf = (
  draft: ColumnDraft,
  found: SourceColumn | undefined,
  stored: DatamartColumn | undefined,
): DatamartColumn => ({
  columnName: draft.name,
  datatype: draft.isCustomColumn === true ? '' : (found?.datatype ?? ''),
  ...(draft.isCustomColumn === true ? {} : { kind: kindOf(draft, found, stored) }),
  alias: draft.alias ?? '',
  label: draft.label ?? '',
  isHide: draft.isHide ?? false,
  isApplyTimezone: draft.isApplyTimezone ?? false,
  isCustomColumn: draft.isCustomColumn ?? false,
  sql: draft.isCustomColumn === true ? (draft.sql ?? '') : '',
  isAggregate: draft.isAggregate ?? false,
  allowAggregate: draft.allowAggregate ?? false,
  defaultAggregation: draft.defaultAggregation ?? null,
  defaultSort: draft.defaultSort === '' ? null : (draft.defaultSort ?? null),
  defaultGrain: draft.defaultGrain ?? null,
  numbers: draft.numbers ?? null,
  dates: draft.dates ?? null,
});

/** Returns the tables of a list without faults, with the datatypes of the datasource. `stored`: the tables until now. */
export const tablesOf = (
  drafts: readonly TableDraft[],
  source: SourceView,
  stored: readonly DatamartTable[] = [],
): readonly DatamartTable[] =>
  drafts.map((draft) => {
    const ref = refOf(draft, source);
    const was = stored.find((table) => sameTable(table, ref));
    const before = was && new Map(was.columns.map((column) => [column.columnName, column]));
    const columns = new Map(source.find(ref)?.columns.map((column) => [column.columnName, column]));
    return {
      ...ref,
      label: draft.label ?? '',
      clientColumn: draft.clientColumn ?? null,
      tenancyPath: draft.tenancyPath ?? null,
      ...(draft.through == null ? {} : { through: draft.through }),
      ...(draft.baseFilters == null ? {} : { baseFilters: draft.baseFilters }),
      ...(draft.leftOut == null || draft.leftOut.length === 0 ? {} : { leftOut: draft.leftOut }),
      isHide: draft.isHide ?? false,
      wildcard: draft.wildcard ?? null,
      columns: draft.columns.map((column) => columnOf(column, columns.get(column.name), before?.get(column.name))),
    };
  });
