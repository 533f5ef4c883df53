/**
 * What guests' requests read of the organization's content, kept from one request to the next. All of it goes with the next revision: the
 * caller's was read in the same statement as its token, so nothing is answered that was changed before the request came.
 */
import type { ContentRevision, ContentStore } from '../domain/ports.js';
import { createLru } from '../platform/lru.js';

/** Answers that are kept of one revision. */
const greatestMemory = 2000;

type Memory = {
  readonly revision: bigint;
  readonly keep: <Answer>(key: string, load: () => Promise<Answer>) => Promise<Answer>;
};

const createMemory = (revision: bigint): Memory => {
  const kept = createLru<string, Promise<unknown>>(greatestMemory);
  return {
    revision,
    keep: <Answer>(key: string, load: () => Promise<Answer>): Promise<Answer> => {
      const found = kept.get(key);
      // Under this key there is what this `load` answered before: the key names it with all its arguments.
      if (found !== undefined) return found as Promise<Answer>;
      const loading = load();
      kept.set(key, loading);
      loading.catch(() => kept.delete(key));
      return loading;
    },
  };
};

const remembering = (store: ContentStore, { keep }: Memory): ContentStore => {
  const kept =
    <Arguments extends readonly string[], Answer>(name: string, load: (...given: Arguments) => Promise<Answer>) =>
    (...given: Arguments): Promise<Answer> =>
      keep(JSON.stringify([name, ...given]), () => load(...given));
  const { embeds, dashboards, metrics, guestMetrics, workspaces, datamarts, datasources } = store;
  const madeBy = kept('metrics of guests', (dashboardId: string, dataAppId: string, clientId: string) =>
    guestMetrics.list(dashboardId, { dataAppId, clientId }),
  );
  return {
    embeds: {
      findById: kept('embed', embeds.findById),
      findByDashboard: kept('embed of dashboard', embeds.findByDashboard),
      listByMetric: kept('embeds of metric', embeds.listByMetric),
    },
    dashboards: {
      findById: kept('dashboard', dashboards.findById),
      findByExternalId: kept('dashboard by external id', dashboards.findByExternalId),
      listMetrics: kept('metrics of dashboard', dashboards.listMetrics),
    },
    metrics: {
      findById: kept('metric', metrics.findById),
      listDashboards: kept('dashboards of metric', metrics.listDashboards),
    },
    guestMetrics: { list: (dashboardId, { dataAppId, clientId }) => madeBy(dashboardId, dataAppId, clientId) },
    workspaces: { findById: kept('workspace', workspaces.findById) },
    datamarts: {
      findById: kept('datamart', datamarts.findById),
      findByName: kept('datamart by name', datamarts.findByName),
      findOnlyOf: kept('only datamart', datamarts.findOnlyOf),
    },
    datasources: {
      findById: kept('datasource', datasources.findById),
      findClientDatabase: kept('client database', datasources.findClientDatabase),
    },
  };
};

/** For a store outside of transactions. */
export const createContent = (store: ContentStore): ((revision: ContentRevision | null) => ContentStore) => {
  let memory: Memory | undefined;
  let current = store;
  return (revision) => {
    if (revision === null) return store;
    // Whoever read an earlier revision is served what is newer, which it could have come upon anyway.
    if (memory === undefined || memory.revision < BigInt(revision)) {
      memory = createMemory(BigInt(revision));
      current = remembering(store, memory);
    }
    return current;
  };
};
