/** Checks an expression of a calculated column or a measure while it is written: by its grammar, then by the database. */
import type { VisualDefinition } from '../../domain/dashboard/metric.js';
import {
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  qualifiedName,
  sameTable,
} from '../../domain/datamart/datamart.js';
import { nameTables } from '../../domain/datamart/relationships.js';
import type { ServiceCaller } from '../../domain/guest/caller.js';
import { type Engine, isTypeFault, type RequestSignal } from '../../domain/query/engine.js';
import type { SqlRewriter } from '../../domain/query/sql-rewriter.js';
import { Refusal } from '../../domain/refusal.js';
import type { Store } from '../../domain/store/store.js';
import { unknownDatamart } from '../datamarts/tenancy.js';
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
  readonly faults: readonly string[];
};

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

/**
 * Returns the faults of the expression. The database checks names, functions and types in a tenant scope that holds no
 * client, and reads no row. Throws INVALID_DATAMART or INVALID_TABLE.
 */
export const checkDatamartExpression =
  ({ store, engine, sqlRewriter }: Deps) =>
  async (
    _caller: ServiceCaller,
    { datamartName, tableName, sql }: CheckExpression,
    signal: RequestSignal,
  ): Promise<CheckedExpression> => {
    const datamart = await store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    const table = loadTable(datamart, tableName);
    const datasource = await store.datasources.findById(datamart.datasourceId);
    if (datasource === undefined) return { isMeasure: false, isChecked: false, faults: [] };
    const parsed = await sqlRewriter.check(datasource.datasourceType, sql, 'expression');
    if ('fault' in parsed) return { isMeasure: false, isChecked: true, faults: [parsed.fault] };
    const { isAggregate: isMeasure, names } = parsed;
    const own = table.columns.filter(({ isCustomColumn }) => isCustomColumn !== true);
    const read = names.map((path) => ({
      path,
      column: own.find(({ columnName }) => isSame(columnName, path.at(-1) ?? '')),
    }));
    const unknown = read
      .filter(({ column }) => column === undefined)
      .map(({ path }) => `${path.join('.')} is no column of the datamart in table ${qualifiedName(table)}`);
    if (unknown.length > 0) return { isMeasure, isChecked: true, faults: [...new Set(unknown)] };
    const name = freeName(table);
    const tried = withExpression(datamart, table, name, sql, isMeasure);
    const source = await checkSourceOf(store, tried, null);
    if (source === undefined) return { isMeasure, isChecked: false, faults: [] };
    const { schemaName, tableName: inSchema } = table;
    const definition = metricOf({ schemaName, tableName: inSchema, columnName: name }, isMeasure);
    const says = read.flatMap(({ column }) =>
      column === undefined ? [] : [`${column.columnName} has the type ${column.datatype}`],
    );
    try {
      await engine.check({ ...source, definition, conditions: [] }, signal);
      return { isMeasure, isChecked: true, faults: [] };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Refusal)) throw error;
      if (!isTypeFault(error)) return { isMeasure, isChecked: false, faults: [] };
      return { isMeasure, isChecked: true, faults: [typeMessage(error, [...new Set(says)].join(', '))] };
    }
  };
