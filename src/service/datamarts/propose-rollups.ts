/** Proposes rollups of a datamart out of what was used. Reads sums of use and definitions, and no row. */
import {
  type AskedMetric,
  proposeRollups as propose,
  type RollupProposal,
} from '../../model/dashboard/propose-rollups.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import { reachesDatamart } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import { whole } from '../../model/slices.js';
import type { Store } from '../store/store.js';
import { unknownDatamart } from './tenancy.js';

type Deps = { readonly store: Store; readonly clock: Clock };

/** Metrics that are looked at: those that were asked most. */
const mostMetrics = 500;
const dayMs = 86_400_000;

type Asked = { readonly datamartName: string; readonly days: number };

const usedMetrics = async ({ store, clock }: Deps, days: number) => {
  // The sums of the present hour stand at its beginning.
  const to = new Date(clock.now().getTime() + 1);
  const from = new Date(to.getTime() - days * dayMs);
  const rows = await store.usage.read({ from, to, step: null, by: ['metric'], limit: mostMetrics });
  return new Map(
    rows.flatMap(({ metricId, sourceQueries, ms }) =>
      metricId == null ? [] : [[metricId, { queries: sourceQueries, ms }]],
    ),
  );
};

export const proposeRollups =
  (deps: Deps) =>
  async (_caller: ServiceCaller, { datamartName, days }: Asked): Promise<RollupProposal> => {
    const { store } = deps;
    const datamart = await store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    const used = await usedMetrics(deps, days);
    const workspaces = await whole(store.workspaces.list(null));
    const reached = new Set(workspaces.filter((one) => reachesDatamart(one, datamart)).map(({ id }) => id));
    const metrics = (await store.metrics.listByIds([...used.keys()])).filter(({ workspaceId }) =>
      reached.has(workspaceId),
    );
    const asked: AskedMetric[] = [];
    for (const { metricId, name, definition, guest } of metrics) {
      const dashboards = await store.metrics.listDashboards(metricId);
      const use = used.get(metricId) ?? { queries: 0, ms: 0 };
      const filters = dashboards.flatMap((dashboard) => dashboard.filters);
      // A name that a guest gave may tell of its tenant.
      asked.push({ name: guest === null ? name : null, definition, filters, ...use });
    }
    return propose(datamart, asked, days);
  };
