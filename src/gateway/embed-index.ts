import type { Call } from '../contract/client.js';
import { listEmbeds } from '../contract/embeds.js';
import type { Clock } from '../domain/ports.js';
import { createSingleFlight } from '../platform/single-flight.js';

export type IndexedEmbed = { readonly metadata: Readonly<Record<string, unknown>> | null };

/** The data app's dashboard embeds by their dashboard id, from its paged listing. */
export type EmbedIndex = {
  /** At most `maxAgeMs` old; undefined only after a listing that began in this call did not have it. */
  readonly find: (dashboardId: string) => Promise<IndexedEmbed | undefined>;
  readonly forget: () => void;
};

const maxPages = 10_000;

const listAll = async (upstream: Call): Promise<Map<string, IndexedEmbed>> => {
  const found = new Map<string, IndexedEmbed>();
  const seen = new Set<string>();
  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const { data } = await upstream(listEmbeds, { isPagination: true, pageNumber });
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

/** One listing serves every client that waits for one: after a restart each of them has dashboards to verify. */
export const createEmbedIndex = (upstream: Call, clock: Clock, maxAgeMs = 30_000): EmbedIndex => {
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
  return {
    find: async (dashboardId) => {
      const isFresh = clock.now().getTime() - listedAtMs < maxAgeMs;
      if (isFresh && known.has(dashboardId)) return known.get(dashboardId);
      await refresh();
      if (known.has(dashboardId)) return known.get(dashboardId);
      // The listing that was joined may have passed this embed's page before the embed was made.
      await refresh();
      return known.get(dashboardId);
    },
    forget: () => {
      known = nothing;
    },
  };
};
