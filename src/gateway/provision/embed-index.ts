import type { Clock } from '../../model/ports.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/unavailable.js';

export type IndexedEmbed = { readonly metadata: Readonly<Record<string, unknown>> | null };

/** Finds the data app's dashboard embeds by dashboard id. */
export type EmbedIndex = {
  /**
   * Returns an embed from a listing that is at most `maxAgeMs` old. Returns undefined only after a listing that began
   * during this call did not contain it.
   */
  readonly find: (dashboardId: string) => Promise<IndexedEmbed | undefined>;
  readonly forget: () => void;
};

const maxPages = 10_000;

/** Converts a refused listing to UPSTREAM_UNAVAILABLE, since it says nothing about the client that it was for. */
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
      // A dashboard can have several embeds, and the metadata belongs to the dashboard: keep the first.
      const id = externalDashboard.externalDashboardId;
      if (!found.has(id)) found.set(id, { metadata: externalDashboard.metadata });
    }
    // A service without paging returns all embeds for each page. Stop if a page has no new embed.
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

/** Looks up one embed by its id. A service can ignore the parameter, so the id of the result is checked. */
const findOne = async (upstream: Call, dashboardId: string): Promise<IndexedEmbed | undefined> => {
  const { data } = await upstream(listEmbeds, { isPagination: true, pageNumber: 1, embedId: dashboardId });
  const dashboard = data.find(({ embedId }) => embedId === dashboardId)?.externalDashboard;
  return dashboard?.externalDashboardId === dashboardId ? { metadata: dashboard.metadata } : undefined;
};

/** Ignores a refused look-up, so that the listing is read next. */
const orListed = (error: unknown): undefined => {
  if (!(error instanceof UpstreamRefusal)) throw error;
};

/**
 * Looks up an embed by its id if the service supports that. Otherwise, or if nothing is found, reads the whole listing.
 * All waiting clients share one listing, since after a restart every client has dashboards to verify.
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
    // The shared listing may have read this embed's page before the embed was created, so read it again.
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
