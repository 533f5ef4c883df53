/**
 * The predicate that keeps one client's rows of a table. model/datamart/table-tenancy.ts decides which tables are
 * readable; this file applies it with the keys of the datasource.
 */
import {
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  findTable,
  qualifiedName,
  type TableRef,
  tableKey,
} from '../../model/datamart/datamart.js';
import { type TableTenancy, tableTenancy } from '../../model/datamart/table-tenancy.js';
import { Refusal } from '../../model/refusal.js';
import { type Catalog, columnName, columnsOf, typeOf } from '../dialect/catalog.js';
import type { Bound, TenantPredicate, TypedColumn } from '../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../dialect/refuse.js';
import type { SqlKind, SqlType } from '../dialect/sql-type.js';
import { bindScalar } from '../plan/values.js';
import { baseTests } from './base-filters.js';

export type Source = {
  readonly datamart: Datamart;
  /** With the types of columns as they are stored. */
  readonly catalog: Catalog;
  /** The tenant's key for hashes of masked values. Left out: no column can be hashed. */
  readonly maskKey?: string | undefined;
  /** The tables whose base filters the metric's author left out. */
  readonly withoutBaseFilters?: readonly TableRef[] | undefined;
};

type Tenancy = Extract<NonNullable<Datamart['tenancy']>, { tenancyLevel: 'TABLE' }>;
type Path = Extract<TableTenancy, { kind: 'path' | 'bridge' }>;

/** Null: all clients share the table. Throws METRIC_QUERY_ERROR for a table that is not readable. */
export const tablePredicate = (
  table: DatamartTable,
  tenancy: Tenancy,
  clientId: string,
  source: Source,
): TenantPredicate | null => {
  const { datamart, catalog } = source;
  const own = tableTenancy(datamart, table, (other) => catalog.uniqueKeys?.get(tableKey(other)) ?? []);
  const ofColumn = (of: TableRef, name: string): TenantPredicate =>
    columnPredicate(of, name, clientId, tenancy.clientColumnType, source);
  /** The embed's own client column, which is enforced in addition. */
  const added = (of: DatamartTable): TenantPredicate | null =>
    of.isClientColumnOfEmbed === true && of.clientColumn !== null ? ofColumn(of, of.clientColumn) : null;
  const narrowed = (of: DatamartTable, predicate: TenantPredicate): TenantPredicate => {
    const other = added(of);
    return other === null ? predicate : { kind: 'all', items: [other, predicate] };
  };
  const follow = ([step, ...rest]: Path['steps'], owner: Path['owner']): TenantPredicate => {
    const parent = step === undefined ? undefined : findTable(datamart, step.far);
    if (step === undefined || parent === undefined) throw new TypeError('a path has steps, to tables of the datamart');
    const tenant = rest.length === 0 ? ofColumn(parent, owner.columnName) : narrowed(parent, follow(rest, owner));
    return { kind: 'parent', ...joinedBy(step, source), tenant };
  };
  switch (own.kind) {
    case 'column':
    case 'master':
      return ofColumn(table, own.columnName);
    case 'path':
      return narrowed(table, follow(own.steps, own.owner));
    case 'bridge':
      return narrowed(table, bridgePredicate(own.steps, tenancy, clientId, source));
    case 'shared':
      return added(table);
    case 'unreadable':
      return added(table) ?? refuseQuery(own.message, `table-${own.reason}`);
    default:
      return refuseUnknown('tenancy of a table', own);
  }
};

/** The base filters of the bridge hold in every metric: a row that is deleted makes nobody readable. */
const bridgePredicate = (
  [step]: Path['steps'],
  tenancy: Tenancy,
  clientId: string,
  source: Source,
): TenantPredicate => {
  const bridge = step && findTable(source.datamart, step.far);
  const tenant = bridge && tablePredicate(bridge, tenancy, clientId, source);
  if (step === undefined || bridge === undefined || tenant == null) throw new TypeError('a bridge has a tenant');
  return { kind: 'parent', ...joinedBy(step, source), tenant, tests: baseTests(bridge, source) };
};

/** Throws METRIC_QUERY_ERROR where two values could compare equal although a key treats them as different. */
const joinedBy = (step: Path['steps'][number], source: Source) => {
  const near = typed(step.near, source);
  const far = typed(step.far, source);
  const isExact = near.type.isAmbiguous !== true && far.type.isAmbiguous !== true;
  if (!isExact || kindOf[near.type.kind] !== kindOf[far.type.kind]) {
    refuseQuery(
      `Rows of ${qualifiedName(near.ref)} get their client by relationship ${step.relationshipName}, but ${columnName(near.ref)} and ${columnName(far.ref)} are of different types. Join columns of one type, or set clientColumn.`,
      'tenancy-join-types',
    );
  }
  return { near, far };
};

const typed = (ref: ColumnRef, { catalog }: Source): TypedColumn => {
  const type = typeOf(catalog, ref);
  if (type === undefined) {
    return refuseQuery(
      `Column ${columnName(ref)}, by which rows get their client, is not in the datasource; correct the datamart.`,
      'tenancy-column-missing',
    );
  }
  return { ref, type };
};

/** Types within a group compare exactly, and no value of theirs fails in a comparison. */
const kindOf: Readonly<Record<SqlKind, string>> = {
  text: 'text',
  enum: 'text',
  integer: 'number',
  decimal: 'number',
  float: 'float',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  instant: 'instant',
  uuid: 'uuid',
  json: 'other',
  other: 'other',
};

export const columnPredicate = (
  table: TableRef,
  columnName: string,
  clientId: string,
  declared: Tenancy['clientColumnType'] | undefined,
  source: Pick<Source, 'catalog'>,
): TenantPredicate => {
  const columns = columnsOf(source.catalog, table);
  if (columns.size === 0) {
    return refuseQuery(
      `Table ${qualifiedName(table)} is not in the datasource: it was renamed or removed, or may not be read. Correct the datamart.`,
      'table-not-in-datasource',
    );
  }
  const type = columns.get(columnName);
  if (type === undefined) {
    return refuseQuery(
      `Client column ${columnName} of ${qualifiedName(table)} is not in the datasource; correct the datamart.`,
      'client-column-missing',
    );
  }
  const ref = { schemaName: table.schemaName, tableName: table.tableName, columnName };
  return { kind: 'column', columnName, type, value: bindClient(clientId, type, ref, declared) };
};

/**
 * A NUMBER clientId needs an integer column, a STRING clientId a text or UUID column: any other pair could match two
 * clients. An undeclared type may be either.
 */
const bindClient = (
  clientId: string,
  type: SqlType,
  ref: ColumnRef,
  declared: Tenancy['clientColumnType'] | undefined,
): Bound => {
  const [isNumber, isString] = [type.kind === 'integer', type.kind === 'uuid' || type.kind === 'text'];
  const fits = declared === undefined ? isNumber || isString : declared === 'NUMBER' ? isNumber : isString;
  const isKnown = declared === undefined || declared === 'NUMBER' || declared === 'STRING';
  if (!fits || !isKnown || type.isAmbiguous === true) {
    refuseQuery(
      `Client column ${ref.columnName} of ${qualifiedName(ref)} does not hold what clientColumnType ${declared ?? 'NUMBER or STRING'} says; correct the datamart.`,
      'client-column-type',
    );
  }
  try {
    const bound = bindScalar(clientId, { ref, type });
    if (clientId !== '' && bound.text === clientId && bound.cast === type.cast) return bound;
  } catch (cause) {
    throw new Refusal('CLIENT_ID_ERROR', unfitting, { reason: 'client-id-unfit', cause });
  }
  return refuseClient(unfitting);
};

const unfitting = 'clientId does not fit the client column of the datamart; write it exactly as it is stored there.';

export const refuseClient = (message: string): never => {
  throw new Refusal('CLIENT_ID_ERROR', message, { reason: 'client-id-unfit' });
};
