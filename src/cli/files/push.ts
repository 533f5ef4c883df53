/** Does one step of a plan at the service. */
import { dirname } from 'node:path';
import type { Call } from '../../platform/http/interface/client.js';
import { getDashboardContent, replaceDashboardContent } from '../../service/dashboards/contract/content.js';
import { deleteTemplate, importDashboard } from '../../service/dashboards/contract/dashboards.js';
import { exportVersion } from '../../service/dashboards/contract/export.js';
import { deleteDatamart } from '../../service/datamarts/contract/datamarts.js';
import { createDatamart, updateDatamart } from '../../service/datamarts/contract/writes.js';
import { createEmbed, deleteEmbed } from '../../service/embeds/contract/embeds.js';
import { updateEmbed } from '../../service/embeds/contract/settings.js';
import { type DashboardFile, type EmbedFile, fileIdsOf, type StoredDashboard, storedDashboard } from './formats.js';
import type { DashboardStep, DatamartStep, EmbedStep, PlanStep, PolicyStep } from './plan.js';
import { writePolicyText } from './policies.js';
import type { Ends } from './service.js';
import { isOnlyShared, ownIdsOf } from './shared-metrics.js';

type Warnings = readonly { readonly message: string }[];

const pushDatamart = async (call: Call, step: DatamartStep): Promise<Warnings> => {
  if (step.action === 'delete') {
    await call(deleteDatamart, { datamartName: step.before.name });
    return [];
  }
  const { name, datasourceName, cacheTtlSeconds = null, cacheStaleSeconds = null, rollups = [], ...parts } = step.value;
  const { warnings = [] } =
    step.action === 'create'
      ? await call(createDatamart, step.value)
      : await call(updateDatamart, { datamartName: name, cacheTtlSeconds, cacheStaleSeconds, rollups, ...parts });
  return warnings;
};

/** The content with the service's own ids and lineages, where the service has the metric. */
const contentFor = (value: DashboardFile, before: StoredDashboard | undefined) => {
  const { workspaceName: _, dashboardId: __, dashboardName: ___, ...content } = value;
  const stored = before?.content.data.metrics ?? [];
  const own = ownIdsOf(before);
  const lineages = new Map(stored.map(({ metricId, lineage }) => [metricId, lineage]));
  const ownId = (fileId: string): string => own.get(fileId) ?? fileId;
  return {
    version: exportVersion,
    ...content,
    layout: content.layout.map((card) => ({ ...card, metricId: ownId(card.metricId) })),
    metrics: content.metrics.map((metric) => ({
      ...metric,
      metricId: ownId(metric.metricId),
      lineage: lineages.get(ownId(metric.metricId)) ?? [],
    })),
  };
};

/** The digest of the dashboard as it was planned. An earlier step may have changed a metric that both dashboards show. */
const expectedDigestOf = async (
  call: Call,
  { value, before }: Extract<DashboardStep, { action: 'change' | 'unchanged' }>,
): Promise<string> => {
  const { workspaceName, dashboardId } = value;
  const now = await call(getDashboardContent, { workspaceName, dashboardId });
  const isOurs = isOnlyShared(before.value, storedDashboard(workspaceName, now), value);
  return isOurs ? now.digest : before.content.digest;
};

const pushDashboard = async (call: Call, step: DashboardStep): Promise<void> => {
  if (step.action === 'delete') {
    const { workspaceName, dashboardId } = step.before.value;
    await call(deleteTemplate, { workspaceName, dashboardId });
    return;
  }
  const { workspaceName, dashboardId, dashboardName } = step.value;
  if (step.action === 'create') {
    const importDashboardData = contentFor(step.value, undefined);
    await call(importDashboard, { workspaceName, dashboardId, dashboardName, importDashboardData });
    return;
  }
  const content = contentFor(step.value, step.before);
  const expectedDigest = await expectedDigestOf(call, step);
  await call(replaceDashboardContent, { workspaceName, dashboardId, content, expectedDigest });
};

/** The service's own id of the metric that the file names. */
const ownMetricId = async (call: Call, value: EmbedFile): Promise<object> => {
  if (value.embedType === 'dashboard') return {};
  const { workspaceName, dashboardId, metricId } = value;
  const { data } = await call(getDashboardContent, { workspaceName, dashboardId });
  const found = [...fileIdsOf(data.metrics)].find(([, fileId]) => fileId === metricId);
  return { metricId: found?.[0] ?? metricId };
};

const pushEmbed = async ({ service, dataApp }: Ends, step: EmbedStep): Promise<readonly string[]> => {
  if (dataApp === undefined) throw new Error('embeds were planned without an API key');
  if (step.action === 'delete') {
    await dataApp(deleteEmbed, { embedId: step.before.embedId });
    return [];
  }
  if (step.action === 'create') {
    const { id } = await dataApp(createEmbed, { ...step.value, ...(await ownMetricId(service, step.value)) });
    return [`embed id: ${id}`];
  }
  await dataApp(updateEmbed, { embedId: step.before.embedId, accessSettings: step.value.accessSettings ?? {} });
  return [];
};

const pushPolicy = async ({ policyPath }: Ends, step: PolicyStep): Promise<void> => {
  if (policyPath === undefined || step.action === 'delete') throw new Error('a policy was planned without its place');
  await writePolicyText(dirname(policyPath), step.value);
};

/** Does the step. Returns what else is to say. Throws as calls do; then this step changed nothing. */
export const pushStep = async (ends: Ends, step: PlanStep): Promise<readonly string[]> => {
  switch (step.kind) {
    case 'datamart':
      return (await pushDatamart(ends.service, step)).map(({ message }) => `warning: ${message}`);
    case 'embed':
      return pushEmbed(ends, step);
    case 'dashboard':
      await pushDashboard(ends.service, step);
      return [];
    case 'policy':
      await pushPolicy(ends, step);
      return [];
  }
};

/** The text of the service with the metric ids of the file: the service has ids of its own for what it copied. */
export const inFileWords = (step: PlanStep, text: string): string => {
  if (step.kind !== 'dashboard' || step.action !== 'change') return text;
  return [...ownIdsOf(step.before)].reduce((words, [fileId, ownId]) => words.replaceAll(ownId, fileId), text);
};
