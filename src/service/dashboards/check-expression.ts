/** Checks an expression of a calculated column or a measure while it is written: by its grammar, then by the database. */
import type { VisualDefinition } from '../../model/dashboard/metric.js';
import {
  type ColumnRef,
  type Datamart,
  type DatamartColumn,
  type DatamartTable,
  qualifiedName,
  sameTable,
} from '../../model/datamart/datamart.js';
import { nameTables } from '../../model/datamart/relationships.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { DatasourceType } from '../../model/organization.js';
import { type Engine, isTypeFault, type RequestSignal } from '../../model/query/engine.js';
import { findFault, type HasFault } from '../../model/query/fault-place.js';
import type { CheckedSql, SqlFault, SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { placeOf, type TextPlace } from '../../model/text-place.js';
import { unknownDatamart } from '../datamarts/tenancy.js';
import type { Store } from '../store/store.js';
import { checkSourceOf, typeMessage } from './type-check.js';

type Deps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'check'>;
  readonly sqlRewriter: Pick<SqlRewriter, 'check'>;
};

export type CheckExpression = { readonly datamartName: string; readonly tableName: string; readonly sql: string };

export type CheckedExpression = {
  readonly isMeasure: boolean;
  /** Whether the database was asked. */
  readonly isChecked: boolean;
  readonly faults: readonly ExpressionFault[];
};

/** `place`: the part of the expression that is at fault; null where the parser knows none, and for the last of many names. */
export type ExpressionFault = { readonly message: string; readonly place: TextPlace | null };

const loadTable = ({ name, tables }: Datamart, tableName: string): DatamartTable => {
  const [table, ...others] = nameTables(tables).get(tableName) ?? [];
  if (table !== undefined && others.length === 0) return table;
  throw new Refusal(
    'INVALID_TABLE',
    `tableName: datamart ${JSON.stringify(name)} has ${table === undefined ? 'no' : 'more than one'} table ${JSON.stringify(tableName)}. Name it as schema.table; case counts.`,
  );
};

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** A name that no column has. */
const freeName = ({ columns }: DatamartTable): string => {
  for (let number = 0; ; number += 1) {
    const name = `gl_checked_${number}`;
    if (!columns.some(({ columnName }) => isSame(columnName, name))) return name;
  }
};

const plain = { alias: '', label: '', isHide: false, isApplyTimezone: false } as const;

/** The datamart with the expression as a column of the table. */
const withExpression = (
  datamart: Datamart,
  table: DatamartTable,
  columnName: string,
  sql: string,
  isMeasure: boolean,
) => {
  const column = { ...plain, columnName, datatype: '', isCustomColumn: true, isAggregate: isMeasure, sql };
  return {
    ...datamart,
    tables: datamart.tables.map((one) => (sameTable(one, table) ? { ...one, columns: [...one.columns, column] } : one)),
  };
};

const metricOf = (column: ColumnRef, isMeasure: boolean): VisualDefinition => ({
  ...{ kind: 'visual', chart: { type: 'table' } },
  from: { schemaName: column.schemaName, tableName: column.tableName },
  dimensions: isMeasure ? [] : [{ name: 'value', column }],
  measures: isMeasure ? [{ name: 'value', aggregate: 'AGGREGATE', column }] : [],
  ...{ filters: [], rlsVariables: [], underlying: [], drillPath: [], sort: [], limit: null },
});

/** What one expression is checked against. */
type Ground = {
  readonly deps: Deps;
  readonly datamart: Datamart;
  readonly table: DatamartTable;
  readonly dialect: DatasourceType;
  readonly signal: RequestSignal;
};

const parse = ({ deps, dialect }: Ground, sql: string) => deps.sqlRewriter.check(dialect, sql, 'expression');

const ownColumn = ({ table }: Ground, path: readonly string[]): DatamartColumn | undefined =>
  table.columns.find(
    ({ isCustomColumn, columnName }) => isCustomColumn !== true && isSame(columnName, path.at(-1) ?? ''),
  );

/** What the database says of an expression that parses, over columns of the table. Null: it was not asked. */
const askDatabase = async (
  { deps: { store, engine }, datamart, table, signal }: Ground,
  sql: string,
  isMeasure: boolean,
): Promise<Refusal | 'computes' | null> => {
  const name = freeName(table);
  const source = await checkSourceOf(store, withExpression(datamart, table, name, sql, isMeasure), null);
  if (source === undefined) return null;
  const { schemaName, tableName } = table;
  const definition = metricOf({ schemaName, tableName, columnName: name }, isMeasure);
  try {
    await engine.check({ ...source, definition, conditions: [] }, signal);
    return 'computes';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Refusal)) throw error;
    return isTypeFault(error) ? error : null;
  }
};

const placed = async (sql: string, message: string, hasFault: HasFault): Promise<ExpressionFault> => ({
  message,
  place: placeOf(sql, await findFault(sql, hasFault)),
});

/** Where SQL that does not parse fails, or the smallest part that has what the engine does not run. */
const grammarFault = async (ground: Ground, sql: string, { fault, place }: SqlFault): Promise<ExpressionFault> => {
  if (place !== null) return { message: fault, place };
  return placed(sql, fault, async (part) => {
    const parsed = await parse(ground, part);
    return 'fault' in parsed && parsed.fault === fault;
  });
};

/** Each place is looked for by parsing parts of the text, so that many would hold up other requests of this process. */
const mostPlaced = 8;

const nameFaults = async (
  ground: Ground,
  sql: string,
  names: CheckedSql['names'],
): Promise<readonly ExpressionFault[]> => {
  const unknown = new Set(names.filter((path) => ownColumn(ground, path) === undefined).map((path) => path.join('.')));
  const faults: ExpressionFault[] = [];
  for (const name of unknown) {
    const message = `${name} is no column of the datamart in table ${qualifiedName(ground.table)}`;
    const hasName = async (part: string): Promise<boolean> => {
      const parsed = await parse(ground, part);
      return !('fault' in parsed) && parsed.names.some((path) => path.join('.') === name);
    };
    faults.push(faults.length < mostPlaced ? await placed(sql, message, hasName) : { message, place: null });
  }
  return faults;
};

const typeFault = async (
  ground: Ground,
  sql: string,
  refusal: Refusal,
  names: CheckedSql['names'],
): Promise<ExpressionFault> => {
  const read = new Set(names.map((path) => ownColumn(ground, path)));
  const says = [...read].flatMap((column) =>
    column === undefined ? [] : [`${column.columnName} has the type ${column.datatype}`],
  );
  return placed(sql, typeMessage(refusal, says.join(', ')), async (part) => {
    const parsed = await parse(ground, part);
    if ('fault' in parsed || parsed.names.some((path) => ownColumn(ground, path) === undefined)) return false;
    return (await askDatabase(ground, part, parsed.isAggregate)) instanceof Refusal;
  });
};

/**
 * Returns the faults of the expression with their places. The database checks names, functions and types in a tenant
 * scope that holds no client, and reads no row; where it refuses, it is asked about parts too. Throws INVALID_DATAMART or
 * INVALID_TABLE.
 */
export const checkDatamartExpression =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    { datamartName, tableName, sql }: CheckExpression,
    signal: RequestSignal,
  ): Promise<CheckedExpression> => {
    const datamart = await deps.store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    const table = loadTable(datamart, tableName);
    const datasource = await deps.store.datasources.findById(datamart.datasourceId);
    if (datasource === undefined) return { isMeasure: false, isChecked: false, faults: [] };
    const ground = { deps, datamart, table, dialect: datasource.datasourceType, signal };
    const parsed = await parse(ground, sql);
    if ('fault' in parsed)
      return { isMeasure: false, isChecked: true, faults: [await grammarFault(ground, sql, parsed)] };
    const { isAggregate: isMeasure, names } = parsed;
    const unknown = await nameFaults(ground, sql, names);
    if (unknown.length > 0) return { isMeasure, isChecked: true, faults: unknown };
    const said = await askDatabase(ground, sql, isMeasure);
    if (!(said instanceof Refusal)) return { isMeasure, isChecked: said !== null, faults: [] };
    return { isMeasure, isChecked: true, faults: [await typeFault(ground, sql, said, names)] };
  };
