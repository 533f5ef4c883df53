/** Does one step of a plan at the service. */
import type { Call } from '../../contract/client.js';
import { replaceDashboardContent } from '../../contract/dashboard-content.js';
import { exportVersion } from '../../contract/dashboard-export.js';
import { deleteTemplate, importDashboard } from '../../contract/dashboards.js';
import { createDatamart, updateDatamart } from '../../contract/datamart-writes.js';
import { deleteDatamart } from '../../contract/datamarts.js';
import { type DashboardFile, fileIdsOf } from './formats.js';
import type { DashboardStep, DatamartStep, PlanStep } from './plan.js';
import type { StoredDashboard } from './service.js';

type Warnings = readonly { readonly message: string }[];

const pushDatamart = async (call: Call, step: DatamartStep): Promise<Warnings> => {
  if (step.action === 'delete') {
    await call(deleteDatamart, { datamartName: step.before.name });
    return [];
  }
  const { name, datasourceName, cacheTtlSeconds = null, ...parts } = step.value;
  const { warnings = [] } =
    step.action === 'create'
      ? await call(createDatamart, step.value)
      : await call(updateDatamart, { datamartName: name, cacheTtlSeconds, ...parts });
  return warnings;
};

/** The content with the service's own ids and lineages, where the service has the metric. */
const contentFor = (value: DashboardFile, before: StoredDashboard | undefined) => {
  const { workspaceName: _, dashboardId: __, dashboardName: ___, ...content } = value;
  const stored = before?.content.data.metrics ?? [];
  const own = new Map([...fileIdsOf(stored)].map(([metricId, fileId]) => [fileId, metricId]));
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
  await call(replaceDashboardContent, {
    workspaceName,
    dashboardId,
    content,
    expectedDigest: step.before.content.digest,
  });
};

/** Does the step. Returns the service's warnings. Throws as `call` does; then this step changed nothing. */
export const pushStep = async (call: Call, step: PlanStep): Promise<Warnings> => {
  if (step.kind === 'datamart') return pushDatamart(call, step);
  await pushDashboard(call, step);
  return [];
};
