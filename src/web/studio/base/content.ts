/** Templates: the dashboards of a workspace, whose content is read with a digest and written only over that digest. */

import type { DashboardContent } from '../../../model/dashboard/dashboard.js';
import type { MetricDefinition } from '../../../model/dashboard/metric.js';
import type { Api, OperationAnswer, OperationInput } from './api.js';

/** What the service takes. */
export const mostPictureBytes = 200_000;
export const mostPictureLength = 1_000_000;

/** An id for something new. Random, so that it names nothing that this or another author made, now or earlier. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The `data` of a dashboard export. Fields that Studio does not know are kept as they are. */
export type TemplateData = DashboardContent;
export type Card = TemplateData['layout'][number];
export type TemplateMetric = TemplateData['metrics'][number];
export type TemplateFilter = TemplateData['filters'][number];

export type Content = OperationAnswer<'getDashboardContent'>;

export type Template = { readonly workspaceName: string; readonly dashboardId: string; readonly name: string };

/** The templates of all workspaces. */
export const listTemplates = async (api: Api, signal?: AbortSignal): Promise<readonly Template[]> => {
  const { data } = await api.call('listWorkspaces', {}, signal);
  const lists = await Promise.all(
    data.map(async ({ name: workspaceName }) => {
      const listed = await api.call('listDashboards', { workspaceName }, signal);
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
  { workspaceName, dashboardId }: Pick<Template, 'workspaceName' | 'dashboardId'>,
  signal?: AbortSignal,
): Promise<Content> => api.call('getDashboardContent', { workspaceName, dashboardId }, signal);

/** Rejects with DASHBOARD_CHANGED if the content is no longer that of the digest. */
export const writeContent = (
  api: Api,
  { workspaceName, dashboardId }: Template,
  data: TemplateData,
  expectedDigest: string,
): Promise<{ readonly digest: string }> =>
  api.call('replaceDashboardContent', { workspaceName, dashboardId, content: whole(data), expectedDigest });

/** A replacement without tiles would keep those of the dashboard. */
const whole = (data: TemplateData): TemplateData => ({ ...data, tiles: data.tiles ?? [] });

/** Two authors' changes of one content. */
export type Merged = OperationAnswer<'mergeDashboardContent'>;
export type Choices = NonNullable<OperationInput<'mergeDashboardContent'>['choices']>;

/** Merges the change from `base` to `next` with what others changed since `base` was read. Nothing is written. */
export const mergeContent = (
  api: Api,
  { workspaceName, dashboardId }: Template,
  base: TemplateData,
  next: TemplateData,
  choices: Choices,
): Promise<Merged> =>
  api.call('mergeDashboardContent', {
    ...{ workspaceName, dashboardId, choices },
    ...{ base: whole(base), content: whole(next) },
  });

/** The data with a new metric, below all others. */
export const withMetric = (data: TemplateData, name: string, definition: unknown): TemplateData => {
  const metricId = newId();
  const y = Math.max(0, ...[...data.layout, ...(data.tiles ?? [])].map((card) => card.y + card.h));
  const whole = { kind: 'visual', ...(definition as object) } as MetricDefinition;
  const metric: TemplateMetric = { metricId, name, definition: whole, lineage: [], placement: 'METRIC' };
  return { ...data, metrics: [...data.metrics, metric], layout: [...data.layout, { metricId, x: 0, y, w: 6, h: 4 }] };
};

/** How a metric was answered for a tenant. */
export type Tried = OperationAnswer<'tryDashboardContent'>['data'][number];

/** Runs every metric of the data for the tenant that owns the dashboard. Nothing is written. */
export const tryContent = async (
  api: Api,
  { workspaceName }: Pick<Template, 'workspaceName'>,
  dashboardId: string,
  data: TemplateData,
): Promise<readonly Tried[]> => {
  const asked = { workspaceName, dashboardId, content: data, isMeasured: true };
  return (await api.call('tryDashboardContent', asked)).data;
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

type MappedColumn = TemplateFilter['applyOnTables'][number];

/** The data with one more column that a filter restricts, or with one less. The last one stays: a filter needs one. */
export const withMapping = (data: TemplateData, name: string, column: MappedColumn, isAdded: boolean): TemplateData => {
  const isSame = (one: MappedColumn): boolean =>
    (['schemaName', 'tableName', 'columnName'] as const).every((part) => one[part] === column[part]);
  const remap = (columns: readonly MappedColumn[]): readonly MappedColumn[] => {
    const others = columns.filter((one) => !isSame(one));
    if (isAdded) return others.length < columns.length ? columns : [...columns, column];
    return others.length === 0 ? columns : others;
  };
  const filters = data.filters.map((filter) =>
    filter.name === name ? { ...filter, applyOnTables: remap(filter.applyOnTables) } : filter,
  );
  return { ...data, filters };
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
