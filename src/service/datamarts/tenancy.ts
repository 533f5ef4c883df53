/** Which client the rows of a datamart's tables belong to, according to the current keys of its datasource. */

import { type Datamart, qualifiedName } from '../../model/datamart/datamart.js';
import {
  type TableOwnership,
  type TenancyWarning,
  tableOwnerships,
  undeclaredTables,
  warningsOf,
} from '../../model/datamart/table-ownership.js';
import type { SourceView } from '../../model/datamart/tables.js';
import type { UniqueKeys } from '../../model/datamart/tenancy-steps.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { Log } from '../../model/log-events.js';
import type { Engine, RequestSignal } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
import { readSourceOf } from './source.js';

export type TenancyDeps = {
  readonly store: Pick<Store, 'datasources' | 'datamarts'>;
  readonly engine: Pick<Engine, 'introspect'>;
};

const keysOf =
  ({ find }: SourceView): UniqueKeys =>
  (table) => {
    const found = find(table);
    if (found === undefined) return [];
    return found.primaryKey.length === 0 ? found.uniqueKeys : [found.primaryKey, ...found.uniqueKeys];
  };

/**
 * Returns the ownership of each table. The datasource is read only if a table's tenancy is not declared. Throws
 * DATASOURCE_CONNECTION_ERROR.
 */
export const readOwnerships = async (
  { store, engine }: TenancyDeps,
  datamart: Datamart,
  source?: SourceView,
): Promise<readonly TableOwnership[]> => {
  if (undeclaredTables(datamart).length === 0) return tableOwnerships(datamart, () => []);
  return tableOwnerships(datamart, keysOf(source ?? (await readSourceOf(store, engine, datamart, []))));
};

export const isUnreachable = (error: unknown): boolean =>
  error instanceof Refusal && error.code === 'DATASOURCE_CONNECTION_ERROR';

const unknownWarnings = (datamart: Datamart): readonly TenancyWarning[] =>
  undeclaredTables(datamart).map((table) => ({
    table: qualifiedName(table),
    message: `Whose the rows of table ${qualifiedName(table)} are is not known: the datasource cannot be reached, so its keys could not be read. Ask GET /api/v2/data-app/datamarts/tenancy when it can.`,
  }));

/** Returns the warnings for the answer of a write. `source` is what the write already read of the datasource. */
export const tenancyWarnings = async (
  deps: TenancyDeps,
  datamart: Datamart,
  source: SourceView | undefined,
): Promise<readonly TenancyWarning[]> => {
  try {
    return warningsOf(await readOwnerships(deps, datamart, source));
  } catch (error) {
    // The write itself is complete and did not need the datasource.
    if (isUnreachable(error)) return unknownWarnings(datamart);
    throw error;
  }
};

export const unknownDatamart = (name: string): Refusal =>
  new Refusal(
    'INVALID_DATAMART',
    `datamartName: there is no datamart named ${JSON.stringify(name)}; names are case-sensitive.`,
  );

/**
 * Returns the datamart and the ownership of its tables. Throws INVALID_DATAMART, and DATASOURCE_CONNECTION_ERROR if a
 * table's tenancy depends on keys that cannot be read.
 */
export const getDatamartTenancy =
  (deps: TenancyDeps) =>
  async (
    _caller: ServiceCaller,
    { datamartName }: { readonly datamartName: string },
    signal?: RequestSignal,
  ): Promise<{ readonly datamart: Datamart; readonly tables: readonly TableOwnership[] }> => {
    const datamart = await deps.store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    const { requestId } = signal ?? {};
    const engine: TenancyDeps['engine'] = {
      introspect: (datasource, databases) => deps.engine.introspect(datasource, databases, { requestId }),
    };
    return { datamart, tables: await readOwnerships({ ...deps, engine }, datamart) };
  };

type Deps = TenancyDeps & { readonly log: Pick<Log, 'error'> };

const checkDatamart = async ({ log, ...deps }: Deps, datamart: Datamart): Promise<void> => {
  try {
    for (const { table, message } of warningsOf(await readOwnerships(deps, datamart))) {
      log.error({ event: 'datamart.table_refused', datamart: datamart.name, table }, message);
    }
  } catch (err) {
    const tables = undeclaredTables(datamart).map(qualifiedName);
    const message = isUnreachable(err)
      ? 'the datasource cannot be reached, so it is not known whether queries may read these tables'
      : 'failed to check whether queries may read these tables';
    log.error({ event: 'datamart.check_failed', datamart: datamart.name, tables, err }, message);
  }
};

/**
 * Logs one line for each table on which every query is refused. Checks one datamart after the other until `signal`
 * aborts. Throws if the store fails.
 */
export const logUnreadableTables = async (deps: Deps, signal: AbortSignal): Promise<void> => {
  for await (const slice of deps.store.datamarts.list(null)) {
    for (const { datamart } of slice) {
      if (signal.aborted) return;
      await checkDatamart(deps, datamart);
    }
  }
};
