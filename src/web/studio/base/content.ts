/** Templates: the dashboards of a workspace, whose content is read with a digest and written only over that digest. */
import type { MetricDefinition } from '../../../domain/dashboard/metric.js';
import type { Tile } from '../../../domain/dashboard/tile.js';
import type { Api } from './api.js';
import { freeId } from './tiles.js';

export type Card = {
  readonly metricId: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};
export type TemplateMetric = {
  readonly metricId: string;
  readonly name: string;
  readonly definition: MetricDefinition;
  readonly lineage: readonly string[];
  readonly placement: 'METRIC' | 'GALLERY';
};
export type TemplateFilter = {
  readonly name: string;
  readonly dataType: string;
  readonly applyOnTables: readonly {
    readonly schemaName: string;
    readonly tableName: string;
    readonly columnName: string;
    readonly dataType: string;
  }[];
  readonly isSingleChoice?: true;
};
/** The `data` of a dashboard export. Fields that Studio does not know are kept as they are. */
export type TemplateData = {
  readonly layout: readonly Card[];
  readonly filters: readonly TemplateFilter[];
  readonly metrics: readonly TemplateMetric[];
  readonly tiles?: readonly Tile[];
};
export type Content = {
  readonly _meta: { readonly name: string; readonly dashboardId: string };
  readonly data: TemplateData;
  readonly digest: string;
};

export type Template = { readonly workspaceName: string; readonly dashboardId: string; readonly name: string };

/** The templates of all workspaces. */
export const listTemplates = async (api: Api, signal?: AbortSignal): Promise<readonly Template[]> => {
  const given = signal === undefined ? {} : { signal };
  const { data } = await api.call<{ data: readonly { name: string }[] }>('GET', 'workspace', given);
  const lists = await Promise.all(
    data.map(async ({ name: workspaceName }) => {
      const body = { workspaceName };
      type Listed = { data: readonly { name: string; externalDashboardId: string }[] };
      const listed = await api.call<Listed>('POST', 'workspace/dashboards', { body, ...given });
      return listed.data.map(({ name, externalDashboardId }) => ({
        workspaceName,
        dashboardId: externalDashboardId,
        name,
      }));
    }),
  );
  return lists.flat();
};

export const readContent = (
  api: Api,
  { workspaceName, dashboardId }: Template,
  signal?: AbortSignal,
): Promise<Content> =>
  api.call<Content>('GET', 'data-app/dashboards/content', {
    query: { workspaceName, dashboardId },
    ...(signal === undefined ? {} : { signal }),
  });

/** Rejects with DASHBOARD_CHANGED if the content is no longer that of the digest. */
export const writeContent = (
  api: Api,
  { workspaceName, dashboardId }: Template,
  data: TemplateData,
  expectedDigest: string,
): Promise<{ readonly digest: string }> =>
  api.call('PUT', 'data-app/dashboards/content', {
    body: { workspaceName, dashboardId, content: data, expectedDigest },
  });

/** The data with a new metric, below all others. */
export const withMetric = (data: TemplateData, name: string, definition: unknown): TemplateData => {
  const metricId = freeId(
    name,
    data.metrics.map((metric) => metric.metricId),
  );
  const y = Math.max(0, ...[...data.layout, ...(data.tiles ?? [])].map((card) => card.y + card.h));
  const whole = { kind: 'visual', ...(definition as object) } as MetricDefinition;
  const metric: TemplateMetric = { metricId, name, definition: whole, lineage: [], placement: 'METRIC' };
  return { ...data, metrics: [...data.metrics, metric], layout: [...data.layout, { metricId, x: 0, y, w: 6, h: 4 }] };
};

/** The data without a metric. */
export const withoutMetric = (data: TemplateData, id: string): TemplateData => ({
  ...data,
  metrics: data.metrics.filter(({ metricId }) => metricId !== id),
  layout: data.layout.filter(({ metricId }) => metricId !== id),
});

/** The data with another name of a metric. */
export const renamedMetric = (data: TemplateData, id: string, name: string): TemplateData => ({
  ...data,
  metrics: data.metrics.map((metric) => (metric.metricId === id ? { ...metric, name } : metric)),
});

/** The data with one more filter. Throws if there is one of that name: the policy refers to filters by name. */
export const withFilter = (data: TemplateData, filter: TemplateFilter): TemplateData => {
  const isTaken = data.filters.some(({ name }) => name.toLowerCase() === filter.name.toLowerCase());
  if (isTaken) throw new Error(`There is a filter “${filter.name}” already. Give this one another name.`);
  return { ...data, filters: [...data.filters, filter] };
};

/** The data without a filter. */
export const withoutFilter = (data: TemplateData, name: string): TemplateData => ({
  ...data,
  filters: data.filters.filter((filter) => filter.name !== name),
});

/** The data with another name and definition of a metric. */
export const changedMetric = (
  data: TemplateData,
  id: string,
  name: string,
  definition: MetricDefinition,
): TemplateData => ({
  ...data,
  metrics: data.metrics.map((metric) => (metric.metricId === id ? { ...metric, name, definition } : metric)),
});
