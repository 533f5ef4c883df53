/** Questions to the operator's database through the engine, before there is a service. */
import type { Epoch } from '../../model/brand.js';
import type { MetricDefinition } from '../../model/dashboard/metric.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { tenantScope, untenantedClientId } from '../../model/datamart/tenant.js';
import type { Datasource } from '../../model/organization.js';
import type { Engine, MetricAnswer } from '../../model/query/engine.js';

/** Answers a metric: for one tenant, or with null over the rows of all tenants. */
export type AskMetric = (
  datamart: Datamart,
  tenant: string | null,
  definition: MetricDefinition,
) => Promise<MetricAnswer>;

/** The datamart without tenancy: the operator may read every row of the own database. */
const untenanted = (datamart: Datamart): Datamart => ({
  ...datamart,
  tenancy: null,
  sharedTables: [],
  tables: datamart.tables.map((table) => ({ ...table, clientColumn: null, tenancyPath: null, through: null })),
});

export const createAsk =
  (engine: Pick<Engine, 'query'>, datasource: Datasource): AskMetric =>
  (datamart, tenant, definition) => {
    const read = tenant === null ? untenanted(datamart) : datamart;
    return engine.query({
      datasource,
      datamart: read,
      tenant: tenantScope(read, tenant ?? untenantedClientId),
      dataAppId: 'init',
      epoch: 'init' as Epoch,
      definition,
      conditions: [],
      timezone: null,
      sort: null,
      limit: definition.limit,
      offset: 0,
    });
  };
