import type { Datamart } from '../../model/datamart/datamart.js';
import type { ContentStore } from '../store/content.js';

/** Returns the datamart if it is of the datasource, or else the only one that the datasource has. */
export const findOfDatasource = async (
  datamarts: Pick<ContentStore['datamarts'], 'findOnlyOf'>,
  datasourceId: string,
  datamart: Datamart | undefined,
): Promise<Datamart | undefined> =>
  datamart?.datasourceId === datasourceId ? datamart : datamarts.findOnlyOf(datasourceId);
