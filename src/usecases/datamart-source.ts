/** What a datamart's datasource holds. */
import type { Datamart } from '../domain/datamart.js';
import { type SourceView, viewSource } from '../domain/datamart-tables.js';
import type { Datasource } from '../domain/organization.js';
import type { Engine, Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';

/** The datasource as it is now. Throws DATASOURCE_CONNECTION_ERROR where it cannot be reached. */
export const readSource = async (engine: Pick<Engine, 'introspect'>, datasource: Datasource): Promise<SourceView> => {
  try {
    return viewSource(datasource, await engine.introspect(datasource));
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === 'METRIC_QUERY_ERROR') {
      throw new Refusal('DATASOURCE_CONNECTION_ERROR', cause.message, { reason: cause.reason, cause });
    }
    throw cause;
  }
};

export const readSourceOf = async (
  store: Pick<Store, 'datasources'>,
  engine: Pick<Engine, 'introspect'>,
  datamart: Datamart,
): Promise<SourceView> => {
  const datasource = await store.datasources.findById(datamart.datasourceId);
  if (datasource === undefined) throw new Error(`datamart ${datamart.name} has no datasource`);
  return readSource(engine, datasource);
};
