/**
 * What guests' requests read of the organization's content, kept from one request to the next. All of it goes with the next revision: the
 * caller's was read in the same statement as its token, so nothing is answered that was changed before the request came.
 */
import type { ContentRevision } from '../domain/brand.js';
import type { ContentStore } from '../domain/store/store.js';
import { createSizedLru } from '../platform/lru.js';

/** What the answers that are kept of one revision may take, as characters of JSON. */
const greatestMemory = 32 * 1024 * 1024;
/** Of an answer that is not there yet, and what each takes beside its JSON. */
const leastSize = 1000;

type Memory = {
  readonly revision: bigint;
  readonly keep: <Answer>(key: string, load: () => Promise<Answer>) => Promise<Answer>;
};

type Kept = { readonly loading: Promise<unknown>; readonly size: number };

const createMemory = (revision: bigint, mostCharacters: number): Memory => {
  const kept = createSizedLru<string, Kept>(
    mostCharacters,
    ({ size }) => size,
    () => {},
  );
  /** From then on it counts as what it is; one that fails is asked again. */
  const settle = async (key: string, loading: Promise<unknown>): Promise<void> => {
    try {
      const text = JSON.stringify(await loading) ?? '';
      if (kept.peek(key)?.loading === loading) kept.set(key, { loading, size: leastSize + text.length });
    } catch {
      kept.delete(key);
    }
  };
  return {
    revision,
    keep: <Answer>(key: string, load: () => Promise<Answer>): Promise<Answer> => {
      const found = kept.get(key);
      // Under this key there is what this `load` answered before: the key names it with all its arguments.
      if (found !== undefined) return found.loading as Promise<Answer>;
      const loading = load();
      kept.set(key, { loading, size: leastSize });
      void settle(key, loading);
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
export const createContent = (
  store: ContentStore,
  mostCharacters = greatestMemory,
): ((revision: ContentRevision | null) => ContentStore) => {
  let memory: Memory | undefined;
  let current = store;
  return (revision) => {
    if (revision === null) return store;
    // Of an earlier revision is who came before others, or everybody, once an older copy of the database was put in its place: what is kept is not theirs.
    if (memory !== undefined && BigInt(revision) < memory.revision) return store;
    if (memory === undefined || memory.revision < BigInt(revision)) {
      memory = createMemory(BigInt(revision), mostCharacters);
      current = remembering(store, memory);
    }
    return current;
  };
};
