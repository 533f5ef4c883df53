/** Questions to a database for the proposal of a first dashboard. Their callers may read the rows of all tenants. */

import type { Epoch } from '../../brand.js';
import type { MetricDefinition } from '../../dashboard/metric.js';
import type { Datamart } from '../../datamart/datamart.js';
import { tenantScope, untenantedClientId } from '../../datamart/tenant.js';
import type { Datasource } from '../../organization.js';
import type { Engine, MetricAnswer } from '../engine.js';

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

/** Stands for a data app in the keys of cached answers. No data app has it, since their ids are UUIDs. */
export const firstDashboardAsker = 'first-dashboard';

export const createAsk =
  (engine: Pick<Engine, 'query'>, datasource: Datasource): AskMetric =>
  (datamart, tenant, definition) => {
    const read = tenant === null ? untenanted(datamart) : datamart;
    return engine.query({
      datasource,
      datamart: read,
      tenant: tenantScope(read, tenant ?? untenantedClientId),
      dataAppId: firstDashboardAsker,
      epoch: firstDashboardAsker as Epoch,
      definition,
      conditions: [],
      timezone: null,
      sort: null,
      limit: definition.limit,
      offset: 0,
    });
  };
