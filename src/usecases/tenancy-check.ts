/** Tables of stored datamarts that every query is refused: those of a start's own files, and of writes before the rule. */
import { type Datamart, qualifiedName } from '../domain/datamart/datamart.js';
import { undeclaredTables, warningsOf } from '../domain/datamart/table-ownership.js';
import { isUnreachable, readOwnerships, type TenancyDeps } from './datamart-tenancy.js';

type Deps = TenancyDeps & { readonly log: { readonly error: (details: object, message: string) => void } };

const checkDatamart = async ({ log, ...deps }: Deps, datamart: Datamart): Promise<void> => {
  try {
    for (const { table, message } of warningsOf(await readOwnerships(deps, datamart))) {
      log.error({ event: 'datamart-table-unreadable', datamart: datamart.name, table }, message);
    }
  } catch (err) {
    const tables = undeclaredTables(datamart).map(qualifiedName);
    const message = isUnreachable(err)
      ? 'the datasource cannot be reached, so it is not known whether queries may read these tables'
      : 'failed to check whether queries may read these tables';
    log.error({ event: 'datamart-tenancy-unchecked', datamart: datamart.name, tables, err }, message);
  }
};

/** Logs one line for each such table, one datamart after the other until `signal` aborts. Throws where the store does. */
export const logUnreadableTables = async (deps: Deps, signal: AbortSignal): Promise<void> => {
  for (const { datamart } of await deps.store.datamarts.list(null)) {
    if (signal.aborted) return;
    await checkDatamart(deps, datamart);
  }
};
