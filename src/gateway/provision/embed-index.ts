import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { listEmbeds } from '../../contract/embeds.js';
import type { Clock } from '../../domain/ports.js';
import { createSingleFlight } from '../../platform/single-flight.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/unavailable.js';

export type IndexedEmbed = { readonly metadata: Readonly<Record<string, unknown>> | null };

/** The data app's dashboard embeds by their dashboard id, from its paged listing. */
export type EmbedIndex = {
  /** At most `maxAgeMs` old; undefined only after a listing that began in this call did not have it. */
  readonly find: (dashboardId: string) => Promise<IndexedEmbed | undefined>;
  readonly forget: () => void;
};

const maxPages = 10_000;

/** A listing that is refused says nothing about the client it was made for. */
const refused = (error: unknown): never => {
  throw error instanceof UpstreamRefusal ? unavailable('embeds-not-listed', error) : error;
};

const listAll = async (upstream: Call): Promise<Map<string, IndexedEmbed>> => {
  const found = new Map<string, IndexedEmbed>();
  const seen = new Set<string>();
  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const { data } = await upstream(listEmbeds, { isPagination: true, pageNumber }).catch(refused);
    const before = seen.size;
    for (const { embedId, embedType, externalDashboard } of data) {
      seen.add(embedId);
      if (embedType !== 'dashboard' || externalDashboard === null) continue;
      // The first embed of a dashboard is the one that its id stands for; the metadata is the dashboard's own.
      const id = externalDashboard.externalDashboardId;
      if (!found.has(id)) found.set(id, { metadata: externalDashboard.metadata });
    }
    // A service that knows no pages gives everything each time: then a page brings nothing new.
    if (seen.size === before) break;
  }
  return found;
};

export type EmbedIndexOptions = {
  readonly upstream: Call;
  readonly clock: Clock;
  readonly capabilities?: Capabilities | undefined;
  readonly maxAgeMs?: number;
};

/** Asks for one embed. What another is answered with is no answer: a service may not know the parameter after all. */
const findOne = async (upstream: Call, dashboardId: string): Promise<IndexedEmbed | undefined> => {
  const { data } = await upstream(listEmbeds, { isPagination: true, pageNumber: 1, embedId: dashboardId });
  const dashboard = data.find(({ embedId }) => embedId === dashboardId)?.externalDashboard;
  return dashboard?.externalDashboardId === dashboardId ? { metadata: dashboard.metadata } : undefined;
};

/** Where the look-up is refused, the listing has the answer. */
const orListed = (error: unknown): undefined => {
  if (!(error instanceof UpstreamRefusal)) throw error;
};

/**
 * Asks for the one embed where the service can look it up, and otherwise, or where that finds nothing, reads the whole listing.
 * One listing serves every client that waits for one: after a restart each of them has dashboards to verify.
 */
export const createEmbedIndex = (options: EmbedIndexOptions): EmbedIndex => {
  const { upstream, clock, capabilities, maxAgeMs = 30_000 } = options;
  const nothing = new Map<string, IndexedEmbed>();
  let known = nothing;
  let listedAtMs = 0;
  const flight = createSingleFlight<void>();
  const refresh = () =>
    flight('all', async () => {
      const startedAtMs = clock.now().getTime();
      known = await listAll(upstream);
      listedAtMs = startedAtMs;
    });
  const findListed = async (dashboardId: string): Promise<IndexedEmbed | undefined> => {
    const isFresh = clock.now().getTime() - listedAtMs < maxAgeMs;
    if (isFresh && known.has(dashboardId)) return known.get(dashboardId);
    await refresh();
    if (known.has(dashboardId)) return known.get(dashboardId);
    // The listing that was joined may have passed this embed's page before the embed was made.
    await refresh();
    return known.get(dashboardId);
  };
  return {
    find: async (dashboardId) => {
      const isFindable = (await capabilities?.supports('find-embed')) ?? false;
      const found = isFindable ? await findOne(upstream, dashboardId).catch(orListed) : undefined;
      return found ?? findListed(dashboardId);
    },
    forget: () => {
      known = nothing;
    },
  };
};
