/** What a datamart's datasource holds. */
import type { Datamart } from '../../domain/datamart/datamart.js';
import { type SourceView, viewSource } from '../../domain/datamart/tables.js';
import type { Datasource } from '../../domain/organization.js';
import type { Engine } from '../../domain/query/engine.js';
import type { Store } from '../../domain/store/store.js';

type Looking = Pick<Engine, 'introspect'>;

/**
 * The datasource as it is now. `databases`: those of its server that are looked at too, where the database is the schema. Throws
 * DATASOURCE_CONNECTION_ERROR where it cannot be reached.
 */
export const readSource = async (
  engine: Looking,
  datasource: Datasource,
  databases: readonly string[],
): Promise<SourceView> => viewSource(datasource, await engine.introspect(datasource, databases));

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
