/**
 * The embeds that a policy grants by their ids: of single metrics, and of dashboards that all clients share. Nothing is made for
 * them; what the service does not have denies.
 */

import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { listEmbeds } from '../../contract/embeds.js';
import type { Clock } from '../../domain/ports.js';
import { createLru } from '../../platform/lru.js';
import { createSingleFlight } from '../../platform/single-flight.js';
import { undecided } from '../policy/decide.js';
import { isUnreachable } from '../upstream/unavailable.js';
import type { ListedMetric } from './metric-lists.js';

export type FoundEmbed = {
  readonly id: string;
  readonly name: string;
  /** What it shows: a metric, or the dashboard of this id. */
  readonly shows: { readonly metric: ListedMetric } | { readonly dashboardId: string };
};

/** As the service has them, at most `maxAgeMs` old. Whose they are, it says at mint. Throws POLICY_UNDECIDED for one that it has not. */
export type FindEmbeds = (ids: readonly string[]) => Promise<readonly FoundEmbed[]>;

export type HeldEmbeds = FindEmbeds & {
  /** Whether each of these would be found again, without asking the service. */
  readonly areHeld: (embeds: readonly FoundEmbed[]) => boolean;
};

export type FindEmbedsOptions = { readonly upstream: Call; readonly clock: Clock; readonly maxAgeMs?: number };

const listFor = async (upstream: Call, embedId: string) => {
  try {
    return (await upstream(listEmbeds, { embedId })).data;
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    // A service that cannot be asked for one embed answers all of them.
    return (await upstream(listEmbeds, {})).data;
  }
};

const find = async (upstream: Call, id: string): Promise<FoundEmbed> => {
  const embed = (await listFor(upstream, id)).find(({ embedId }) => embedId === id);
  if (embed !== undefined) {
    const { name, externalMetric, externalDashboard } = embed;
    if (externalMetric !== null) return { id, name, shows: { metric: externalMetric } };
    if (externalDashboard !== null) return { id, name, shows: { dashboardId: externalDashboard.externalDashboardId } };
  }
  throw undecided(
    'granted-embed-unknown',
    new Error(`the policy grants the embed "${id}", which is not one of the data app's embeds at the service`),
  );
};

type Held = { readonly embed: FoundEmbed; readonly foundAtMs: number };

export const createFindEmbeds = ({ upstream, clock, maxAgeMs = 30_000 }: FindEmbedsOptions): HeldEmbeds => {
  const held = createLru<string, Held>(10_000);
  const flight = createSingleFlight<FoundEmbed>();
  const isCurrent = ({ foundAtMs }: Held, nowMs: number): boolean => nowMs - foundAtMs < maxAgeMs;
  const findOne = (id: string): FoundEmbed | Promise<FoundEmbed> => {
    const nowMs = clock.now().getTime();
    const known = held.get(id);
    if (known !== undefined && isCurrent(known, nowMs)) return known.embed;
    return flight(id, async () => {
      try {
        const embed = await find(upstream, id);
        held.set(id, { embed, foundAtMs: nowMs });
        return embed;
      } catch (error) {
        // While the service cannot be asked, nothing is minted either: it is for a token that there is already.
        if (known !== undefined && isUnreachable(error)) return known.embed;
        held.delete(id);
        throw error;
      }
    });
  };
  const isHeld = (embed: FoundEmbed): boolean => {
    const known = held.get(embed.id);
    return known?.embed === embed && isCurrent(known, clock.now().getTime());
  };
  return Object.assign((ids: readonly string[]) => Promise.all(ids.map(findOne)), {
    areHeld: (embeds: readonly FoundEmbed[]) => embeds.every(isHeld),
  });
};
