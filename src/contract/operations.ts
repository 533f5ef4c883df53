/**
 * Every operation: what is here is routed and documented. One without a use case does not compile (`Handlers`), and one that is declared
 * and not here is found by test/conventions.test.ts.
 */
import { createApiKey, deleteApiKey, listApiKeys, rotateApiKey } from './api-keys.js';
import { eraseClient } from './client-erasure.js';
import { getDashboardContent, replaceDashboardContent } from './dashboard-content.js';
import { createDashboardEmbed } from './dashboard-embeds.js';
import { deleteDashboard, exportDashboard, exportEmbed, importDashboard } from './dashboards.js';
import { createDataApp, deleteDataApp, listDataApps, updateDataApp } from './data-apps.js';
import { getDatamartTenancy } from './datamart-tenancy.js';
import { createDatamart, updateDatamart } from './datamart-writes.js';
import { deleteDatamart, listDatamarts } from './datamarts.js';
import { createDatasource, listDatasources, syncDatasource, updateDatasource } from './datasources.js';
import { renameEmbed, updateEmbed } from './embed-settings.js';
import { createEmbed, deleteEmbed, listEmbedMetrics, listEmbeds } from './embeds.js';
import { createGuestView, deleteGuestView, listGuestViews, saveGuestLayout } from './guest-boards.js';
import {
  archiveGuestMetric,
  createGuestMetric,
  deleteGuestMetric,
  previewGuestMetric,
  publishMetric,
  updateGuestMetric,
} from './guest-metrics.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from './guest-reads.js';
import { listGuestTokens, revokeGuestTokens } from './guest-token-admin.js';
import { createGuestToken } from './guest-tokens.js';
import { queryMetric } from './metrics.js';
import type { Handler } from './operation.js';
import { createSemanticLayer, deleteSemanticLayer, getSemanticLayer, updateSemanticLayer } from './semantic-layer.js';
import { createServiceToken, deleteServiceToken, listServiceTokens, rotateServiceToken } from './service-tokens.js';
import {
  listDashboardMetrics,
  listDashboards,
  listMetrics,
  updateWorkspaceDashboards,
} from './workspace-dashboards.js';
import { createWorkspace, listWorkspaces, updateWorkspace } from './workspaces.js';

/** What works, in the order of the reference. */
export const bound = {
  createGuestToken,
  listGuestTokens,
  revokeGuestTokens,
  createEmbed,
  createDashboardEmbed,
  deleteEmbed,
  updateEmbed,
  renameEmbed,
  listEmbeds,
  listEmbedMetrics,
  exportEmbed,
  deleteDashboard,
  exportDashboard,
  importDashboard,
  getDashboardContent,
  replaceDashboardContent,
  createDataApp,
  createDatasource,
  updateDatasource,
  listDatasources,
  syncDatasource,
  listDatamarts,
  createDatamart,
  updateDatamart,
  deleteDatamart,
  getDatamartTenancy,
  createSemanticLayer,
  updateSemanticLayer,
  getSemanticLayer,
  deleteSemanticLayer,
  updateDataApp,
  deleteDataApp,
  listDataApps,
  eraseClient,
  createApiKey,
  listApiKeys,
  deleteApiKey,
  rotateApiKey,
  createServiceToken,
  listServiceTokens,
  deleteServiceToken,
  rotateServiceToken,
  createWorkspace,
  updateWorkspace,
  listWorkspaces,
  listDashboards,
  listMetrics,
  listDashboardMetrics,
  updateWorkspaceDashboards,
  queryMetric,
  getGuestDashboard,
  getGuestMetric,
  queryGuestMetric,
  listGuestUnderlying,
  downloadGuestCsv,
  listGuestFilterOptions,
  createGuestMetric,
  updateGuestMetric,
  deleteGuestMetric,
  archiveGuestMetric,
  previewGuestMetric,
  saveGuestLayout,
  createGuestView,
  listGuestViews,
  deleteGuestView,
  publishMetric,
} as const;

/** The use cases of a set of operations, one for each. */
export type HandlersOf<Operations> = { readonly [Name in keyof Operations]: Handler<Operations[Name]> };

export type Handlers = HandlersOf<typeof bound>;
