/**
 * Caches the organization's content between guests' requests. A new content revision clears the cache. A request's revision is read in the
 * same statement as its token, so no request is answered from content that was changed before it arrived.
 */
import type { ContentRevision } from '../domain/brand.js';
import type { ContentStore } from '../domain/store/store.js';
import { createSizedLru } from '../platform/lru.js';

/** The largest size of the cached answers, in characters of JSON. */
const defaultMaxCharacters = 32 * 1024 * 1024;
/** The size of an answer while it loads, and each answer's overhead beside its JSON. */
const baseSize = 1000;

type Cache = {
  readonly revision: bigint;
  readonly keep: <Answer>(key: string, load: () => Promise<Answer>) => Promise<Answer>;
};

type Kept = { readonly loading: Promise<unknown>; readonly size: number };

const createCache = (revision: bigint, maxCharacters: number): Cache => {
  const kept = createSizedLru<string, Kept>(
    maxCharacters,
    ({ size }) => size,
    () => {},
  );
  /** Sets the answer's real size once it has loaded. A failed load is removed, so that the next request loads again. */
  const settle = async (key: string, loading: Promise<unknown>): Promise<void> => {
    try {
      const text = JSON.stringify(await loading) ?? '';
      if (kept.peek(key)?.loading === loading) kept.set(key, { loading, size: baseSize + text.length });
    } catch {
      kept.delete(key);
    }
  };
  return {
    revision,
    keep: <Answer>(key: string, load: () => Promise<Answer>): Promise<Answer> => {
      const found = kept.get(key);
      // The key names the query and all its arguments, so the value has the type of this `load`.
      if (found !== undefined) return found.loading as Promise<Answer>;
      const loading = load();
      kept.set(key, { loading, size: baseSize });
      void settle(key, loading);
      return loading;
    },
  };
};

const withCache = (store: ContentStore, { keep }: Cache): ContentStore => {
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

/** Answers content by revision: from the cache where it fits, else from `store`. Not for use in a transaction. */
export const createContent = (
  store: ContentStore,
  maxCharacters = defaultMaxCharacters,
): ((revision: ContentRevision | null) => ContentStore) => {
  let memory: Cache | undefined;
  let current = store;
  return (revision) => {
    if (revision === null) return store;
    // An earlier revision: a request that started before the others, or a database that was restored from a backup. The cache is too new for it.
    if (memory !== undefined && BigInt(revision) < memory.revision) return store;
    if (memory === undefined || memory.revision < BigInt(revision)) {
      memory = createCache(BigInt(revision), maxCharacters);
      current = withCache(store, memory);
    }
    return current;
  };
};
