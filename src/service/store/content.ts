/**
 * Caches the organization's content between requests of guests. A new content revision clears the cache. The statement
 * that finds a request's token also reads its revision, so a request never gets content older than its arrival.
 */
import type { ContentRevision } from '../../model/brand.js';
import { createLru } from '../../platform/work/lru.js';
import type { DashboardStore } from './dashboards.js';
import type { DatamartStore } from './datamarts.js';
import type { DatasourceStore } from './datasources.js';
import type { EmbedStore } from './embeds.js';
import type { GuestMetricStore } from './guest-metrics.js';
import type { MetricStore } from './metrics.js';
import type { WorkspaceStore } from './workspaces.js';

/** The content that guest requests read. Every `Store` is also a `ContentStore`. */
export type ContentStore = {
  readonly embeds: Pick<EmbedStore, 'findById' | 'findByDashboard' | 'listByMetric' | 'listByClient'>;
  readonly dashboards: Pick<DashboardStore, 'findById' | 'findByExternalId' | 'listMetrics'>;
  readonly metrics: Pick<MetricStore, 'findById' | 'listDashboards'>;
  readonly guestMetrics: Pick<GuestMetricStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'findById'>;
  readonly datamarts: Pick<DatamartStore, 'findById' | 'findByName' | 'findOnlyOf'>;
  readonly datasources: Pick<DatasourceStore, 'findById' | 'findClientDatabase'>;
};

/** Maximum size of all cached answers together, in characters of JSON. */
const defaultMaxCharacters = 32 * 1024 * 1024;
/** Size that is assumed for an answer while it loads; later, the overhead that is added to its JSON. In characters. */
const baseSize = 1000;

type Cache = {
  readonly revision: bigint;
  readonly keep: <Answer>(key: string, load: () => Promise<Answer>) => Promise<Answer>;
};

type Kept = { readonly loading: Promise<unknown>; readonly size: number };

const createCache = (revision: bigint, maxCharacters: number): Cache => {
  const kept = createLru<string, Kept>(maxCharacters, { sizeOf: ({ size }) => size });
  /**
   * Waits until the answer has loaded, then records its real size. If loading fails, the entry is removed, so that the
   * next request loads again.
   */
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
      // The type assertion holds: the key names the query and all its arguments, so the value came from an equal
      // `load`.
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
  const shownTo = kept('embeds of client', (dataAppId: string, clientId: string) =>
    embeds.listByClient({ dataAppId, clientId }),
  );
  return {
    embeds: {
      findById: kept('embed', embeds.findById),
      findByDashboard: kept('embed of dashboard', embeds.findByDashboard),
      listByMetric: kept('embeds of metric', embeds.listByMetric),
      listByClient: ({ dataAppId, clientId }) => shownTo(dataAppId, clientId),
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

/**
 * Returns the content of a revision, from the cache if it holds that revision, else from `store`. Must not be used in a
 * transaction.
 */
export const createContent = (
  store: ContentStore,
  maxCharacters = defaultMaxCharacters,
): ((revision: ContentRevision | null) => ContentStore) => {
  let memory: Cache | undefined;
  let current = store;
  return (revision) => {
    if (revision === null) return store;
    // The requested revision is older than the cached one: the request started earlier than others, or the database was
    // restored from a backup. Such a request reads from the store.
    if (memory !== undefined && BigInt(revision) < memory.revision) return store;
    if (memory === undefined || memory.revision < BigInt(revision)) {
      memory = createCache(BigInt(revision), maxCharacters);
      current = withCache(store, memory);
    }
    return current;
  };
};
