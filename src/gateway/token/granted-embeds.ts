/**
 * The embeds of a grant. `createFindEmbeds` looks up the embeds that a policy grants by id: single metrics, and
 * dashboards that all clients share. They are never created. An id that the service does not have is a denial.
 * `shownEmbeds` lists what a token gives access to: the client's dashboards and these embeds, without those that the
 * restrictions hide.
 */
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import type { GrantedEmbed } from '../common/wire.js';
import { type Grant, undecided } from '../policy/decide.js';
import type { ProvisionedDashboard } from '../provision/provision.js';
import { isUnreachable } from '../upstream/unavailable.js';
import type { ListedMetric, MetricListsOptions } from './metric-lists.js';

export type FoundEmbed = {
  readonly id: string;
  readonly name: string;
  /** The metric, or the dashboard, that the embed shows. */
  readonly shows: { readonly metric: ListedMetric } | { readonly dashboardId: string };
};

/**
 * Returns the embeds with these ids, at most `maxAgeMs` old. Throws POLICY_UNDECIDED if the service does not have an
 * id.
 */
export type FindEmbeds = (ids: readonly string[]) => Promise<readonly FoundEmbed[]>;

export type HeldEmbeds = FindEmbeds & {
  /** Whether `find` would return each of these embeds from its cache. */
  readonly areHeld: (embeds: readonly FoundEmbed[]) => boolean;
};

const listFor = async (upstream: Call, embedId: string) => {
  try {
    return (await upstream(listEmbeds, { embedId })).data;
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    // A service without look-up by id returns all embeds.
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

export const createFindEmbeds = ({ upstream, clock, maxAgeMs = 30_000 }: MetricListsOptions): HeldEmbeds => {
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
        // While the service is unreachable, no token is minted, so an old embed can only lead to a cached token.
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

/** What a token gives access to: the client's copies of templates, then the embeds that the policy grants by id. */
export type Shown = {
  readonly grant: Grant;
  readonly dashboards: readonly ProvisionedDashboard[];
  readonly embeds: readonly FoundEmbed[];
};

export type ShownEmbed = GrantedEmbed & {
  /** The name that `hideMetrics` uses: the template of a copy, or the embed's own id. */
  readonly source: string;
  /** The dashboard id that settings use. For a metric embed, its own id, which stands for the metric's dashboard. */
  readonly dashboardId: string;
};

/**
 * Whether the restrictions hide the embed. A metric that is hidden on a dashboard must not be visible as an embed
 * either.
 */
const isHidden = ({ restriction }: Grant, { shows }: FoundEmbed): boolean => {
  if (!('metric' in shows)) return false;
  const { name, metricId } = shows.metric;
  return [...restriction.hideMetrics.values()].some((names) => names.includes(name) || names.includes(metricId));
};

/** Returns the visible embeds in the policy's order. Throws POLICY_UNDECIDED if the restrictions hide all of them. */
export const shownEmbeds = ({ grant, dashboards, embeds }: Shown): readonly ShownEmbed[] => {
  const copies = dashboards.map(
    ({ id, name, template }): ShownEmbed => ({
      id,
      // The policy may have changed the template's name since the copy was verified.
      name: grant.templates.find((granted) => granted.template === template)?.name ?? name,
      type: 'dashboard',
      source: template,
      dashboardId: id,
    }),
  );
  const found = embeds
    .filter((embed) => !isHidden(grant, embed) && !copies.some(({ id }) => id === embed.id))
    .map(({ id, name, shows }): ShownEmbed => {
      const isMetric = 'metric' in shows;
      return {
        id,
        name,
        type: isMetric ? 'metric' : 'dashboard',
        source: id,
        dashboardId: isMetric ? id : shows.dashboardId,
      };
    });
  const shown = [...copies, ...found];
  if (shown.length === 0) throw undecided('everything-hidden', new Error('the restrictions hide every granted metric'));
  return shown;
};

/** Returns the visible embeds in the format of the response. */
export const grantedEmbeds = (shown: Shown): readonly GrantedEmbed[] =>
  shownEmbeds(shown).map(({ id, name, type }) => ({ id, name, type }));
