/** Reads the tables of a datamart's datasource. */
import type { Datamart } from '../../model/datamart/datamart.js';
import { type SourceView, viewSource } from '../../model/datamart/tables.js';
import type { Datasource } from '../../model/organization.js';
import type { Engine, RequestSignal } from '../../model/query/engine.js';
import type { Store } from '../store/store.js';

type Looking = Pick<Engine, 'introspect'>;

type Reading = Pick<Engine, 'introspect' | 'listClientDatabases'>;

/** Reads for this request, whose id the log lines then have. */
export const askedBy = (engine: Reading, { requestId }: Partial<RequestSignal> = {}): Reading => ({
  introspect: (datasource, databases) => engine.introspect(datasource, databases, { requestId }),
  listClientDatabases: (datasource) => engine.listClientDatabases(datasource, { requestId }),
});

/**
 * Returns the current tables of the datasource. `databases`: further databases of the server that are read too, for
 * servers where a database is a schema. Throws DATASOURCE_CONNECTION_ERROR if the server cannot be reached.
 */
export const readSource = async (
  engine: Looking,
  datasource: Datasource,
  databases: readonly string[],
): Promise<SourceView> => viewSource(datasource, await engine.introspect(datasource, databases));

/** As `readSource`, for the datasource of a datamart. */
export const readSourceOf = async (
  store: Pick<Store, 'datasources'>,
  engine: Looking,
  datamart: Datamart,
  databases: readonly string[],
): Promise<SourceView> => {
  const datasource = await store.datasources.findById(datamart.datasourceId);
  if (datasource === undefined) throw new Error(`datamart ${datamart.name} has no datasource`);
  return readSource(engine, datasource, databases);
};
