/**
 * What the files of a rollup hold: their columns, from the declaration and the types that the datasource has now. Anything
 * that these files could not hold as it is gets refused here, so that no answer has to say that it is nearly right.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../model/canonical-json.js';
import type { ColumnRef, Datamart, DatamartTable, Rollup, TableRef } from '../../model/datamart/datamart.js';
import { findTable, qualifiedName, sameTable } from '../../model/datamart/datamart.js';
import type { Datasource } from '../../model/organization.js';
import { Refusal } from '../../model/refusal.js';
import { type Catalog, columnsOf, createCatalog } from '../dialect/catalog.js';
import type { Column } from '../dialect/dialect.js';
import { refuseUnknown } from '../dialect/refuse.js';
import { decimalOfCast, declaredType, integerRanges, type SqlType } from '../dialect/sql-type.js';
import { rollupSources } from './sources.js';

/** `of`: the column of the table that the values come from; null: the number of rows. */
export type RollupColumn = {
  readonly name: string;
  readonly role: 'client' | 'dimension' | 'time' | 'rows' | 'sum' | 'count' | 'min' | 'max';
  readonly of: string | null;
  /** In the file. */
  readonly type: SqlType;
  /** DuckDB's own name of it. */
  readonly stored: string;
};

export type Layout = {
  readonly table: DatamartTable;
  readonly rollup: Rollup;
  /** Null: the rows belong to nobody, or to all tenants. */
  readonly clientColumn: string | null;
  readonly columns: readonly RollupColumn[];
  /** The table's columns as a question reads them: as the datasource has them, and booleans as declared. */
  readonly source: ReadonlyMap<string, SqlType>;
  /** Whether the time of a row is kept as it is: days, of a column of days. */
  readonly isTimeExact: boolean;
  /** Whether the source divides sums of decimals in units of their last digit. */
  readonly averagesUnits: boolean;
  /** Rises whenever a row is written; null: the datamart's author names no such column. */
  readonly changeColumn: string | null;
  /** Changes with everything that decides over what is in the files. */
  readonly hash: string;
};

/** Increment whenever files are written differently. */
const formatVersion = 2;

export const refuseRollup = (message: string, cause?: unknown): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'rollup-refused', cause });
};

const storedIntegers: ReadonlySet<string> = new Set([
  ...['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'],
]);
/** Digits of a number in a file. */
export const widestDecimal = 38;

type Stored = Pick<RollupColumn, 'type' | 'stored'>;
const timestamp: Stored = { type: { kind: 'timestamp', cast: 'TIMESTAMP' }, stored: 'TIMESTAMP' };
const day: Stored = { type: { kind: 'date', cast: 'DATE' }, stored: 'DATE' };
const whole: Stored = { type: { kind: 'integer', cast: 'BIGINT' }, stored: 'BIGINT' };
const decimal = (scale: number): Stored => {
  const cast = `DECIMAL(${widestDecimal},${scale})`;
  return { type: { kind: 'decimal', cast }, stored: cast };
};

/** The decimal places of a number. PostgreSQL's catalog has them in the name of the type alone. */
const scaleOf = (type: SqlType, datatype: string): number | undefined => {
  if (type.kind === 'integer') return 0;
  const named = /\(\s*[0-9]+\s*(?:,\s*([0-9]+)\s*)?\)/.exec(datatype);
  if (type.hasNotFinite === true) return named === null ? undefined : Number(named[1] ?? 0);
  return decimalOfCast(type.cast)?.scale;
};

/** Values that are read as numbers and dates of their kind: numbers of bits and years, and dates without those that are none. */
const plainlyRead: ReadonlySet<string | undefined> = new Set([undefined, 'number', 'date']);

/** How a value of the type is kept; undefined: it cannot be. Instants are kept in UTC. */
const storedAs = (type: SqlType, datatype: string): Stored | undefined => {
  if (!plainlyRead.has(type.readAs) || type.isAmbiguous === true || type.scaled !== undefined) return undefined;
  switch (type.kind) {
    case 'text':
      return { type: { kind: 'text', cast: 'VARCHAR' }, stored: 'VARCHAR' };
    case 'integer':
      return storedIntegers.has(type.cast)
        ? { type: { kind: 'integer', cast: type.cast }, stored: type.cast }
        : undefined;
    case 'decimal': {
      const scale = scaleOf(type, datatype);
      return scale === undefined || scale > 18 ? undefined : decimal(scale);
    }
    case 'boolean':
      return { type: { kind: 'boolean', cast: 'BOOLEAN' }, stored: 'BOOLEAN' };
    case 'uuid':
      return { type: { kind: 'uuid', cast: 'UUID' }, stored: 'UUID' };
    case 'date':
      return day;
    case 'timestamp':
    case 'instant':
      return timestamp;
    default:
      return undefined;
  }
};

/** A sum of whole or exact numbers; undefined for others: a sum of floats depends on the order of the rows. */
const summedAs = (type: SqlType, datatype: string): Stored | undefined => {
  const isExact = type.kind === 'integer' ? integerRanges.has(type.cast) : type.kind === 'decimal';
  const stored = isExact ? storedAs(type, datatype) : undefined;
  const scale = scaleOf(type, datatype);
  return stored === undefined || scale === undefined ? undefined : decimal(scale);
};

const quote = (name: string): string => JSON.stringify(name);

/** The column that says whose a row of the table is; null: it belongs to nobody, or to all. */
const clientColumnOf = ({ tenancy }: Datamart, table: DatamartTable): string | null => {
  if (tenancy?.tenancyLevel !== 'TABLE') return null;
  return sameTable(table, tenancy) ? tenancy.tablePrimaryKeyColumn : table.clientColumn;
};

/** The tenant's predicate reads the client column as the datasource has it. */
const sourceColumns = (
  stored: ReadonlyMap<string, SqlType>,
  { columns }: DatamartTable,
  clientColumn: string | null,
): ReadonlyMap<string, SqlType> => {
  const declared = new Map(columns.map((column) => [column.columnName, column]));
  return new Map(
    [...stored].map(([name, type]) => {
      const column = name === clientColumn ? undefined : declared.get(name);
      return [name, column === undefined ? type : declaredType(type, column)];
    }),
  );
};

type Place = { readonly datasource: Datasource; readonly datamart: Datamart; readonly catalog: Catalog };

type Typed = { readonly type: SqlType; readonly datatype: string };

const ordered: ReadonlySet<SqlType['kind']> = new Set(['integer', 'decimal', 'date', 'timestamp', 'instant']);
const rising: ReadonlySet<SqlType['kind']> = new Set(['integer', 'timestamp', 'instant']);
const temporal: ReadonlySet<SqlType['kind']> = new Set(['date', 'timestamp', 'instant']);

/** Throws INVALID_REQUEST_BODY for a column that the datasource does not have. */
const typedIn =
  ({ name, from }: Rollup, table: DatamartTable, source: ReadonlyMap<string, SqlType>) =>
  (column: string): Typed => {
    const declared = table.columns.find(({ columnName }) => columnName === column);
    const type = source.get(column);
    return type === undefined || declared?.isCustomColumn === true
      ? refuseRollup(`Rollup ${quote(name)}: the datasource has no column ${quote(column)} in ${qualifiedName(from)}.`)
      : { type, datatype: declared?.datatype ?? '' };
  };

/** How a rollup's columns are kept, by what they are for. Each throws INVALID_REQUEST_BODY for what a file cannot hold. */
const createKeeping = ({ name }: Rollup, { datasourceType }: Datasource, typed: ReturnType<typeof typedIn>) => {
  const ordersOtherwise = rollupSources[datasourceType]?.ordersOtherwise;
  const refuse = (column: string, why: string): never =>
    refuseRollup(`Rollup ${quote(name)}: ${why} of ${quote(column)} are not kept exactly. Leave it out.`);
  const kept = (column: string): Stored => {
    const { type, datatype } = typed(column);
    const stored = ordersOtherwise?.has(type.kind) === true ? undefined : storedAs(type, datatype);
    return stored ?? refuse(column, 'the values');
  };
  const summed = (column: string): Stored => {
    const { type, datatype } = typed(column);
    return summedAs(type, datatype) ?? refuse(column, 'sums of numbers that are no whole ones or stated decimals, as');
  };
  const isOf = (column: string, kinds: ReadonlySet<SqlType['kind']>): boolean => kinds.has(typed(column).type.kind);
  return {
    summed,
    // Two decimals of different digits are compared after a rounding.
    grouped: (column: string): Stored =>
      isOf(column, new Set(['decimal'])) ? refuse(column, 'groups by decimals, as') : kept(column),
    extreme: (column: string): Stored =>
      isOf(column, ordered) ? kept(column) : refuse(column, 'the least and the greatest'),
    change: (column: string): string => {
      if (!isOf(column, rising))
        refuseRollup(`Rollup ${quote(name)}: ${quote(column)} is no time of day or whole number.`);
      return column;
    },
    time: (column: string): SqlType => {
      if (!isOf(column, temporal)) refuse(column, 'periods');
      kept(column);
      return typed(column).type;
    },
  };
};

type Keeping = ReturnType<typeof createKeeping>;

const measureColumns = ({ measures }: Rollup, { summed, extreme }: Keeping): readonly RollupColumn[] => {
  const of = (role: RollupColumn['role'], column: string, at: number, as: Stored): RollupColumn => ({
    ...{ name: `gl_${role}_${at}`, role, of: column, ...as },
  });
  return measures.flatMap(({ aggregate, column }, at): readonly RollupColumn[] => {
    switch (aggregate) {
      case 'SUM':
        return [of('sum', column, at, summed(column))];
      case 'AVG':
        return [of('sum', column, at, summed(column)), of('count', column, at, whole)];
      case 'COUNT':
        return [of('count', column, at, whole)];
      case 'MIN':
        return [of('min', column, at, extreme(column))];
      case 'MAX':
        return [of('max', column, at, extreme(column))];
      default:
        return refuseUnknown('measure of a rollup', aggregate);
    }
  });
};

/** Throws INVALID_REQUEST_BODY for what the files cannot hold. */
export const layoutOf = (rollup: Rollup, { datasource, datamart, catalog }: Place): Layout => {
  const { from, dimensions, partition, grain, name } = rollup;
  const table = findTable(datamart, from) ?? refuseRollup(`Rollup ${quote(name)}: the datamart lost its table.`);
  const clientColumn = clientColumnOf(datamart, table);
  const source = sourceColumns(columnsOf(catalog, from), table, clientColumn);
  const keeping = createKeeping(rollup, datasource, typedIn(rollup, table, source));
  const timeType = keeping.time(partition.column);
  const groups = [...new Set([...(clientColumn === null ? [] : [clientColumn]), ...dimensions])];
  const columns: readonly RollupColumn[] = [
    ...groups.map(
      (column): RollupColumn => ({
        ...{ name: column, of: column, ...keeping.grouped(column) },
        role: column === clientColumn ? 'client' : 'dimension',
      }),
    ),
    { name: partition.column, role: 'time', of: partition.column, ...(grain === 'hour' ? timestamp : day) },
    { name: 'gl_rows', role: 'rows', of: null, ...whole },
    ...measureColumns(rollup, keeping),
  ];
  const own = { table, rollup, clientColumn, columns, source };
  const isTimeExact = timeType.kind === 'date' && grain === 'day';
  const averagesUnits = rollupSources[datasource.datasourceType]?.averagesUnits === true;
  const named = rollup.refresh.changeColumn;
  const changeColumn = named === undefined ? null : keeping.change(named);
  return { ...own, isTimeExact, averagesUnits, changeColumn, hash: hashOf(own, datasource, datamart) };
};

const hashOf = (
  {
    table,
    rollup,
    clientColumn,
    columns,
    source,
  }: Omit<Layout, 'hash' | 'isTimeExact' | 'averagesUnits' | 'changeColumn'>,
  datasource: Datasource,
  { tenancy }: Datamart,
): string => {
  const { refresh: _, ...declared } = rollup;
  const { baseFilters = [] } = table;
  const read = new Set([...columns.map(({ of }) => of), ...baseFilters.map(({ columnName }) => columnName)]);
  const types = [...source].filter(([column]) => read.has(column)).sort(([a], [b]) => (a < b ? -1 : 1));
  const place = 'path' in datasource ? [datasource.path] : [datasource.host, datasource.port, datasource.database];
  const parts = {
    ...{ formatVersion, declared, clientColumn, columns, types, baseFilters },
    tenancy: tenancy === null ? null : tenancy.tenancyLevel,
    datasource: [datasource.id, datasource.datasourceType, ...place],
  };
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(parts))))
    .digest('hex');
};

/** A column of the table as the builder reads it: instants in UTC, others as stored. */
export const sourceColumn = ({ rollup: { from }, source }: Layout, columnName: string): Column => {
  const type = source.get(columnName);
  if (type === undefined) throw new TypeError('a column that the layout has checked');
  const ref: ColumnRef = { schemaName: from.schemaName, tableName: from.tableName, columnName };
  return { ref, type, zone: type.kind === 'instant' ? 'UTC' : null };
};

/** A column of the files. */
export const keptColumn = ({ rollup: { from } }: Layout, { name, type }: RollupColumn): Column => ({
  ref: { schemaName: from.schemaName, tableName: from.tableName, columnName: name },
  type,
  zone: null,
});

/** The catalog of the files, in which the table has the columns of the rollup. */
export const catalogOfLayout = ({ columns, rollup: { from } }: Layout, database: string): Catalog => {
  const table: TableRef = { schemaName: from.schemaName, tableName: from.tableName };
  return createCatalog(
    database,
    columns.map(({ name, type }) => ({ ...table, columnName: name, type })),
  );
};
