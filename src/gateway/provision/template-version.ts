/**
 * Computes which version of a template a copy was made from. A version is the digest of the template's normalised
 * content. A new copy's content gives the version, since each of its metrics names the metric that it was copied from.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../model/canonical-json.js';
import type { CopySettings } from '../../model/dashboard/embed.js';
import type { DashboardExport } from '../../service/dashboards/contract/export.js';
import type { Template } from '../policy/policy.js';

/** The content of an export. */
export type ExportedContent = DashboardExport['data'];

/**
 * The parts of a template that its copies contain. `settings` are those of the policy; undefined: not known, or the
 * service cannot replace them.
 */
export type TemplateContent = Pick<ExportedContent, 'layout' | 'filters' | 'metrics' | 'gridMargin' | 'tiles'> & {
  readonly settings?: CopySettings | undefined;
};

/**
 * Returns what a copy takes from its template's entry in the policy. A service that does not know the setting for own
 * dashboards of users would refuse the copy.
 */
export const settingsFor = (
  { commonName, accessSettings }: Pick<Template, 'commonName' | 'accessSettings'>,
  allowsBoards: boolean,
) => {
  const { datamartName: _, isAllowDashboardCreation, ...settings } = accessSettings;
  const boards = isAllowDashboardCreation === true && allowsBoards ? { isAllowDashboardCreation } : {};
  const all: typeof settings & { readonly isAllowDashboardCreation?: true } = { ...settings, ...boards };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as typeof all;
  return { name: commonName, accessSettings: given } satisfies CopySettings;
};

/** The content as the service takes it, which has settings beside the content. */
export const withoutSettings = <T extends { readonly settings?: unknown }>({ settings: _, ...content }: T) => content;

/** Nothing if there are none, so that versions of templates without tiles stay what they were. */
export const tilesIn = (tiles: TemplateContent['tiles']): Pick<TemplateContent, 'tiles'> =>
  tiles === undefined || tiles.length === 0 ? {} : { tiles };

/**
 * Returns the content of the template that a copy was made from: each metric has the id of the one that it was copied
 * from. The result is correct only for a copy that nobody has edited.
 */
export const templateContentOf = ({
  layout,
  filters,
  metrics,
  gridMargin,
  tiles,
}: ExportedContent): TemplateContent => {
  const origins = new Map(metrics.map(({ metricId, lineage }) => [metricId, lineage[0] ?? metricId]));
  const originOf = (metricId: string): string => origins.get(metricId) ?? metricId;
  return {
    layout: layout.map((card) => ({ ...card, metricId: originOf(card.metricId) })),
    filters,
    metrics: metrics.map((metric) => ({
      ...metric,
      metricId: originOf(metric.metricId),
      lineage: metric.lineage.slice(1),
    })),
    gridMargin,
    ...tilesIn(tiles),
  };
};

/**
 * Returns the version: a SHA-256 in hex. It is the same for a template and for the content computed from its copies.
 * The lineage of the template's own metrics is ignored.
 */
export const templateVersionOf = ({
  layout,
  filters,
  metrics,
  gridMargin,
  tiles,
  settings,
}: TemplateContent): string => {
  const named = metrics
    .map(({ metricId, name, placement, definition }) => ({ metricId, name, placement, definition }))
    .toSorted((a, b) => (a.metricId < b.metricId ? -1 : 1));
  const content = { layout, filters, metrics: named, gridMargin, ...tilesIn(tiles) };
  return hash('sha256', canonicalJson(settings === undefined ? content : { ...content, settings }), 'hex');
};
