/** What a datamart's datasource holds. */
import type { Datamart } from '../domain/datamart.js';
import { type SourceView, viewSource } from '../domain/datamart-tables.js';
import type { Datasource } from '../domain/organization.js';
import type { Engine, Store } from '../domain/ports.js';

/** The datasource as it is now. Throws DATASOURCE_CONNECTION_ERROR where it cannot be reached. */
export const readSource = async (engine: Pick<Engine, 'introspect'>, datasource: Datasource): Promise<SourceView> =>
  viewSource(datasource, await engine.introspect(datasource));

export const readSourceOf = async (
  store: Pick<Store, 'datasources'>,
  engine: Pick<Engine, 'introspect'>,
  datamart: Datamart,
): Promise<SourceView> => {
  const datasource = await store.datasources.findById(datamart.datasourceId);
  if (datasource === undefined) throw new Error(`datamart ${datamart.name} has no datasource`);
  return readSource(engine, datasource);
};
