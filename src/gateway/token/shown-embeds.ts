/** What a token opens, and how the restrictions name it: a client's copies of templates, then embeds that exist anyway. */

import type { GrantedEmbed } from '../common/wire.js';
import { type Grant, undecided } from '../policy/decide.js';
import type { ProvisionedDashboard } from '../provision/provision.js';
import type { FoundEmbed } from './granted-embeds.js';

export type Shown = {
  readonly grant: Grant;
  readonly dashboards: readonly ProvisionedDashboard[];
  readonly embeds: readonly FoundEmbed[];
};

export type ShownEmbed = GrantedEmbed & {
  /** The template of a copy, or the embed's own id: as `hideMetrics` names it. */
  readonly source: string;
  /** What a setting for its dashboard names; of a metric embed its own id, which stands for the metric's dashboard. */
  readonly dashboardId: string;
};

/** What one restriction hides is hidden: a metric embed would show what its user does not see on a dashboard. */
const isHidden = ({ restriction }: Grant, { shows }: FoundEmbed): boolean => {
  if (!('metric' in shows)) return false;
  const { name, metricId } = shows.metric;
  return [...restriction.hideMetrics.values()].some((names) => names.includes(name) || names.includes(metricId));
};

/** In the policy's order. Throws POLICY_UNDECIDED where the restrictions hide all of it. */
export const shownEmbeds = ({ grant, dashboards, embeds }: Shown): readonly ShownEmbed[] => {
  const copies = dashboards.map(
    ({ id, name, template }): ShownEmbed => ({
      id,
      // The policy may have another name for it by now than when it was verified.
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

/** As the answer has them. */
export const grantedEmbeds = (shown: Shown): readonly GrantedEmbed[] =>
  shownEmbeds(shown).map(({ id, name, type }) => ({ id, name, type }));
