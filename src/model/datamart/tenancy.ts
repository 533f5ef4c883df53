/**
 * Applies and checks tenancy settings: which stored fields are kept or cleared, and whether the result fits the
 * datasource.
 */
import { faultOf } from '../faults.js';
import { namesRead } from './column-rules.js';
import {
  type DatamartTable,
  type KeptMaster,
  type Relationship,
  sameTable,
  type Tenancy,
  type Through,
} from './datamart.js';
import { type DatatypeKind, isOfKind } from './datatypes.js';
import type { NamedTables } from './relationships.js';
import type { SourceView } from './tables.js';

/**
 * The interface's `tenancySettings`. At level TABLE, the request schema requires all five fields of the master table.
 */
export type TenancyDraft = KeptMaster & {
  readonly tenancyLevel?: Tenancy['tenancyLevel'] | undefined;
  readonly primaryDatabase?: string | null | undefined;
};

const masterOf = (tenancy: Tenancy | TenancyDraft | null): KeptMaster => ({
  ...(tenancy?.clientColumnType === undefined ? {} : { clientColumnType: tenancy.clientColumnType }),
  ...(tenancy?.schemaName === undefined ? {} : { schemaName: tenancy.schemaName }),
  ...(tenancy?.tableName === undefined ? {} : { tableName: tenancy.tableName }),
  ...(tenancy?.tableClientNameColumn === undefined ? {} : { tableClientNameColumn: tenancy.tableClientNameColumn }),
  ...(tenancy?.tablePrimaryKeyColumn === undefined ? {} : { tablePrimaryKeyColumn: tenancy.tablePrimaryKeyColumn }),
});

const primaryDatabaseOf = (current: Tenancy | null, draft: TenancyDraft): string | null => {
  if (draft.tenancyLevel === undefined) return null;
  if (draft.primaryDatabase !== undefined) return draft.primaryDatabase;
  return current !== null && current.tenancyLevel !== 'TABLE' ? current.primaryDatabase : null;
};

/**
 * Returns the tenancy after the settings. Missing fields keep their values. `primaryDatabase` is null at level TABLE,
 * and if no level is sent. Undefined if the level, or a field that TABLE requires, is neither sent nor stored.
 */
export const mergeTenancy = (current: Tenancy | null, draft: TenancyDraft): Tenancy | undefined => {
  const tenancyLevel = draft.tenancyLevel ?? current?.tenancyLevel;
  const master = { ...masterOf(current), ...masterOf(draft) };
  if (tenancyLevel === undefined) return undefined;
  if (tenancyLevel !== 'TABLE') {
    return { tenancyLevel, primaryDatabase: primaryDatabaseOf(current, draft), ...master };
  }
  const { clientColumnType, schemaName, tableName, tableClientNameColumn, tablePrimaryKeyColumn } = master;
  if (
    clientColumnType === undefined ||
    schemaName === undefined ||
    tableName === undefined ||
    tableClientNameColumn === undefined ||
    tablePrimaryKeyColumn === undefined
  )
    return undefined;
  return { tenancyLevel, clientColumnType, schemaName, tableName, tableClientNameColumn, tablePrimaryKeyColumn };
};

const fitting: Readonly<
  Record<'NUMBER' | 'STRING', { readonly kinds: readonly DatatypeKind[]; readonly words: string }>
> = {
  NUMBER: { kinds: ['integer'], words: 'a column of integers, since clientColumnType is NUMBER' },
  STRING: { kinds: ['text', 'uuid'], words: 'a column of text or UUIDs, since clientColumnType is STRING' },
};

/**
 * Returns the faults of the master table. spec-gap: the table must be in the datasource but need not be in `tableList`;
 * if it is not listed, no metric can read it.
 */
export const masterFaults = (tenancy: Tenancy, source: SourceView): readonly string[] => {
  if (tenancy.tenancyLevel !== 'TABLE') return [];
  const table = source.find(tenancy);
  if (table === undefined) {
    const rule = `a table of schema ${JSON.stringify(tenancy.schemaName)} in the datasource (case counts)`;
    return [faultOf('tenancySettings.tableName', tenancy.tableName, rule)];
  }
  const { kinds, words } = fitting[tenancy.clientColumnType];
  return (['tableClientNameColumn', 'tablePrimaryKeyColumn'] as const).flatMap((field) => {
    const path = `tenancySettings.${field}`;
    const name = tenancy[field];
    const column = table.columns.find(({ columnName }) => columnName === name);
    if (column === undefined) {
      return [faultOf(path, name, `a column of table ${JSON.stringify(tenancy.tableName)} (case counts)`)];
    }
    if (field === 'tableClientNameColumn' || isOfKind(column, ...kinds)) return [];
    return [faultOf(path, name, `${words}; it holds ${column.datatype}`)];
  });
};

/**
 * Returns faults for client columns whose datatype does not fit `clientColumnType`; every query on them would be
 * refused. `isKept`: the tables were stored before, and the request changes the tenancy.
 */
export const clientColumnFaults = (
  tables: readonly DatamartTable[],
  tenancy: Tenancy | null,
  source: SourceView,
  isKept: boolean,
): readonly string[] => {
  if (tenancy?.tenancyLevel !== 'TABLE') return [];
  const { kinds, words } = fitting[tenancy.clientColumnType];
  return tables.flatMap((table, index) => {
    const { clientColumn } = table;
    const column = source.find(table)?.columns.find(({ columnName }) => columnName === clientColumn);
    if (clientColumn === null || column === undefined || isOfKind(column, ...kinds)) return [];
    const rule = `${words}; ${JSON.stringify(table.tableName)} has ${column.datatype} there`;
    const path = isKept
      ? `clientColumn of table ${JSON.stringify(table.tableName)}`
      : `tableList[${index}].clientColumn`;
    return [faultOf(path, clientColumn, rule)];
  });
};

type Whole = {
  readonly tenancy: Tenancy | null;
  readonly tables: readonly DatamartTable[];
  readonly named: NamedTables;
  readonly relationships: readonly Relationship[];
  readonly sharedTables: readonly string[];
};

const quote = (name: string): string => JSON.stringify(name);

/**
 * Returns the declaration that contradicts a `tenancyPath`, since the rows would belong to a client by two
 * declarations. Undefined if there is none.
 */
const contradiction = (table: DatamartTable, { named, sharedTables }: Whole): string | undefined => {
  if (table.clientColumn !== null) return `clientColumn ${quote(table.clientColumn)}`;
  const entry = sharedTables.find((name) => named.get(name)?.some((meant) => sameTable(meant, table)));
  return entry === undefined ? undefined : `the entry ${quote(entry)} of sharedTables`;
};

/**
 * Returns faults for tables whose `tenancyPath` names no relationship from the table to another table, or contradicts
 * another declaration of the rows' owner. `isKept`: the tables were stored before, and the request changes another part
 * of the datamart.
 */
export const tenancyPathFaults = (whole: Whole, isKept: boolean): readonly string[] =>
  whole.tables.flatMap((table, index) => {
    const { tableName, tenancyPath } = table;
    if (tenancyPath == null) return [];
    const path = `tableList[${index}].tenancyPath`;
    const kept = `table ${quote(tableName)} has the tenancyPath ${quote(tenancyPath)}`;
    const other = contradiction(table, whole);
    if (other !== undefined) {
      return [isKept ? `${kept}, which contradicts ${other}` : faultOf(path, tenancyPath, `none, because of ${other}`)];
    }
    const names = whole.relationships
      .filter(({ parent, child }) => sameTable(parent, table) !== sameTable(child, table))
      .map(({ relationshipName }) => relationshipName);
    if (names.includes(tenancyPath)) return [];
    if (isKept) {
      return [
        `relationships: ${kept}, which is no relationship of that table in the list; add it, or send tableList with another tenancyPath`,
      ];
    }
    const known = names.length === 0 ? 'it has none' : `it has ${names.map(quote).join(', ')}`;
    return [faultOf(path, tenancyPath, `a relationshipName of table ${quote(tableName)}; ${known}`)];
  });

type Declared = { readonly table: DatamartTable; readonly through: Through };

/** What contradicts a `through`, since it would say twice, or at another level, whose the rows are. */
const throughContradiction = ({ table }: Declared, whole: Whole): string | undefined => {
  const { tenancy } = whole;
  if (tenancy?.tenancyLevel !== 'TABLE') return 'a tenancyLevel that is not TABLE';
  if (sameTable(table, tenancy)) return 'tenancySettings, which names it as the table of clients';
  if (table.tenancyPath != null) return `tenancyPath ${quote(table.tenancyPath)}`;
  return contradiction(table, whole);
};

/** What is wrong with the relationship of a `through`; undefined if nothing is. */
const bridgeFault = ({ table, through }: Declared, { relationships }: Whole): string | undefined => {
  const own = relationships.filter(({ parent, child }) => sameTable(parent, table) !== sameTable(child, table));
  const found = own.find(({ relationshipName }) => relationshipName === through.relationship);
  if (found === undefined) {
    const names = own.map(({ relationshipName }) => quote(relationshipName));
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    return `a relationshipName of table ${quote(table.tableName)} and the bridge; ${known}`;
  }
  const { cardinality, parent, child } = found;
  const wanted = sameTable(child, table) ? 'ManyToOne' : 'OneToMany';
  if (cardinality === null || cardinality === wanted || cardinality === 'OneToOne') return undefined;
  return `a relationship that is many-to-one from the bridge to table ${quote(table.tableName)}; it is ${cardinality} from ${quote(parent.tableName)} to ${quote(child.tableName)}`;
};

/** Faults of the columns: those that the table does not have, and custom ones that read a column that is not named. */
const throughColumnFaults = ({ table, through }: Declared, path: string): readonly string[] => {
  const left = table.columns.map(({ columnName }) => columnName).filter((name) => !through.columns.includes(name));
  return through.columns.flatMap((name, index) => {
    const at = `${path}.columns[${index}]`;
    const column = table.columns.find(({ columnName }) => columnName === name);
    if (column === undefined)
      return [faultOf(at, name, `a column that the datamart has of table ${quote(table.tableName)}`)];
    if (through.columns.indexOf(name) < index) return [faultOf(at, name, 'a column that is not in the list yet')];
    const [read] = column.isCustomColumn === true ? namesRead(column.sql ?? '', left) : [];
    return read === undefined
      ? []
      : [faultOf(at, name, `no custom column that reads ${quote(read)}, or ${quote(read)} in the list too`)];
  });
};

/**
 * Returns faults for each `through` that names no bridge, names a column that the table does not have, or contradicts
 * another declaration of the rows' owner. `isKept` as in `tenancyPathFaults`.
 */
export const throughFaults = (whole: Whole, isKept: boolean): readonly string[] =>
  whole.tables.flatMap((table, index) => {
    const { through, tableName } = table;
    if (through == null) return [];
    const path = isKept ? `through of table ${quote(tableName)}` : `tableList[${index}].through`;
    const declared = { table, through };
    const other = throughContradiction(declared, whole);
    if (other !== undefined) return [faultOf(path, through.relationship, `none, because of ${other}`)];
    const fault = bridgeFault(declared, whole);
    return [
      ...(fault === undefined ? [] : [faultOf(`${path}.relationship`, through.relationship, fault)]),
      ...throughColumnFaults(declared, path),
    ];
  });
