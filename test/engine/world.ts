import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDuckDbType } from '../../src/engine/databases/duckdb/schema.js';
import type { Catalog } from '../../src/engine/dialect/catalog.js';
import { createEngine, type EngineOptions } from '../../src/engine/engine.js';
import type { Epoch } from '../../src/model/brand.js';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import {
  type Cardinality,
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  type JoinKind,
  type Relationship,
  type TableRef,
  tableKey,
} from '../../src/model/datamart/datamart.js';
import { type TenantScope, tenantScope } from '../../src/model/datamart/tenant.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import type { Datasource } from '../../src/model/organization.js';
import type { Cell, Engine, MetricQuestion, MetricStream } from '../../src/model/query/engine.js';
import { type Code, Refusal } from '../../src/model/refusal.js';
import { systemClock } from '../../src/platform/work/time.js';
import { buildFile } from '../suites/duckdb-file.js';

export const epoch = new Date(Date.UTC(2024, 0, 1));

/** The signal of a caller that never disconnects. */
export const stays = new AbortController().signal;
setMaxListeners(0, stays);

export const tableRef = (tableName: string): TableRef => ({ schemaName: 'main', tableName });

/** The column `flights.delay` of the schema main. */
export const columnRef = (path: string): ColumnRef => {
  const [tableName = '', columnName = ''] = path.split('.');
  return { schemaName: 'main', tableName, columnName };
};

/** A table from `{ delay: 'BIGINT' }`. A column whose name ends in `@` is converted to the question's timezone. */
export const table = (
  tableName: string,
  columns: Readonly<Record<string, string>>,
  clientColumn: string | null = null,
): DatamartTable => ({
  ...tableRef(tableName),
  label: '',
  clientColumn,
  isHide: false,
  columns: Object.entries(columns).map(([name, datatype]) => ({
    columnName: name.replace('@', ''),
    datatype,
    alias: name,
    label: '',
    isHide: false,
    isApplyTimezone: name.endsWith('@'),
  })),
});

export const relationship = (
  parent: string,
  child: string,
  join: JoinKind | null = null,
  cardinality: Cardinality | null = 'ManyToOne',
): Relationship => ({
  relationshipName: `${parent}-${child}`,
  parent: columnRef(parent),
  child: columnRef(child),
  cardinality,
  join,
});

/** Tenancy with the client master table `clients`, whose key is `id`. */
export const byClients = (clientColumnType: 'NUMBER' | 'STRING' = 'STRING'): NonNullable<Datamart['tenancy']> => ({
  tenancyLevel: 'TABLE',
  clientColumnType,
  schemaName: 'main',
  tableName: 'clients',
  tableClientNameColumn: 'name',
  tablePrimaryKeyColumn: 'id',
});

export const datamart = (parts: Partial<Datamart> & Pick<Datamart, 'tables'>): Datamart => ({
  id: 'm1',
  name: 'sales',
  datasourceId: 'd1',
  tenancy: byClients(),
  relationships: [],
  sharedTables: [],
  createdAt: epoch,
  updatedAt: epoch,
  ...parts,
});

export const metric = (from: string, parts: Partial<VisualDefinition> = {}): VisualDefinition => ({
  kind: 'visual',
  chart: { type: 'table' },
  from: tableRef(from),
  dimensions: [],
  measures: [],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
  ...parts,
});

export const condition = (path: string, predicate: Predicate): Condition => ({ column: columnRef(path), predicate });

export const datasourceAt = (path: string): Datasource => ({
  id: 'd1',
  name: 'warehouse',
  syncedAt: null,
  datasourceType: 'DUCKDB',
  path,
});

export const scopeOf = (mart: Datamart, clientId: string): TenantScope => tenantScope(mart, clientId);

/** Where a test's tables are. On MySQL, the schema of every table is its database. */
export type Place = { readonly datasource: Datasource; readonly schemaName: string };

/** Returns the question for the tables at `place`. The tests call their schema `main`. */
const relocate = (value: unknown, schemaName: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => relocate(item, schemaName));
  if (value === null || typeof value !== 'object' || value instanceof Date || value instanceof Map) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (name === 'schemaName' && item === 'main') return [name, schemaName];
      if (name === 'sharedTables')
        return [name, item.map((entry: string) => entry.replace(/^main\./, `${schemaName}.`))];
      return [name, relocate(item, schemaName)];
    }),
  );
};

export const at = <T>(place: string | Place, value: T): T =>
  typeof place === 'string' || place.schemaName === 'main' ? value : (relocate(value, place.schemaName) as T);

export const question = (
  place: string | Place,
  mart: Datamart,
  clientId: string,
  definition: MetricDefinition,
  parts: Partial<MetricQuestion> = {},
): MetricQuestion => ({
  datasource: typeof place === 'string' ? datasourceAt(place) : place.datasource,
  tenant: scopeOf(mart, clientId),
  dataAppId: 'app',
  epoch: '0/0' as Epoch,
  timezone: null,
  sort: null,
  limit: null,
  offset: 0,
  ...at(place, { datamart: mart, definition, conditions: [], ...parts }),
});

/** A catalog that fits the datamart, for tests without a database. */
export const catalogOf = (mart: Datamart): Catalog => ({
  database: 'warehouse',
  tables: new Map(
    mart.tables.map((item) => [
      tableKey(item),
      new Map(item.columns.map(({ columnName, datatype }) => [columnName, parseDuckDbType(datatype)])),
    ]),
  ),
});

/** Creates a folder for the databases of one test file; `remove` deletes it. */
export const createFolder = async (): Promise<{
  readonly path: (name: string) => string;
  readonly build: (name: string, statements: readonly string[]) => Promise<string>;
  readonly remove: () => Promise<void>;
}> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-engine-'));
  const path = (name: string): string => join(folder, `${name}.duckdb`);
  return {
    path,
    build: async (name, statements) => {
      await buildFile(path(name), statements);
      return path(name);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

export type LogLine = { readonly level: 'warn' | 'error'; readonly details: object; readonly message: string };

/** Of the processes that build: at the usual priority, since tests wait for them on busy machines. */
export const processes = { environment: {}, niceness: 0 };

/** An engine that collects its log lines. */
export const createLoggedEngine = (
  options: Partial<EngineOptions> = {},
): { readonly engine: Engine; readonly lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const keep =
    (level: LogLine['level']) =>
    (details: object, message: string): void => {
      lines.push({ level, details, message });
    };
  const log = { warn: keep('warn'), error: keep('error') };
  return { engine: createEngine({ clock: systemClock, log, assertReachable: async () => {}, ...options }), lines };
};

/** Returns a value of test data as SQL. */
const literal = (value: string | number | null): string => {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
};

export const insertInto = (name: string, rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.length === 0
    ? 'SELECT 1'
    : `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')}`;

/** Reads all rows of a stream. */
export const rowsOf = async ({ batches }: Pick<MetricStream, 'batches'>): Promise<(readonly Cell[])[]> => {
  const rows: (readonly Cell[])[] = [];
  for await (const batch of batches) rows.push(...batch);
  return rows;
};

/** Returns the refusal that `work` rejects with. Throws any other error. */
export const refusalOf = async (
  work: () => unknown,
): Promise<{ readonly code: Code; readonly reason: string; readonly message: string }> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
};
