/**
 * Which version of a template a copy was made from. A version is the digest of the template's content in one spelling; a copy that was
 * just made tells it, since its metrics name those that they were copied from.
 */
import { hash } from 'node:crypto';
import type { DashboardExport } from '../../contract/dashboard-export.js';

/** Content as exports have it. */
export type ExportedContent = DashboardExport['data'];

/** What copies take from a template. */
export type TemplateContent = Pick<ExportedContent, 'layout' | 'filters' | 'metrics' | 'gridMargin'>;

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};

/**
 * The content of the template that an untouched copy was made from: each metric under the id of the one it was copied from.
 * Only a copy that nobody has edited yet tells it.
 */
export const templateContentOf = ({ layout, filters, metrics, gridMargin }: ExportedContent): TemplateContent => {
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
  };
};

/** SHA-256 in hex. The same for a template and for what its copies say of it; where metrics came from before does not count. */
export const templateVersionOf = ({ layout, filters, metrics, gridMargin }: TemplateContent): string => {
  const named = metrics
    .map(({ metricId, name, placement, definition }) => ({ metricId, name, placement, definition }))
    .toSorted((a, b) => (a.metricId < b.metricId ? -1 : 1));
  return hash('sha256', JSON.stringify(sorted({ layout, filters, metrics: named, gridMargin })), 'hex');
};
