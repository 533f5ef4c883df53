/** Which use case serves which operation: a bound operation without one does not compile. */
import type { Handlers } from './contract/operations.js';
import type { Clock, Digest, Ids, Tokens } from './domain/ports.js';
import type { Engine } from './domain/query/engine.js';
import type { SqlRewriter } from './domain/query/sql-rewriter.js';
import type { Store } from './domain/store/store.js';
import { createApiKey, deleteApiKey, listApiKeys, rotateApiKey } from './usecases/credentials/api-keys.js';
import { listGuestTokens, revokeGuestTokens } from './usecases/credentials/guest-token-admin.js';
import { createGuestToken } from './usecases/credentials/guest-tokens.js';
import {
  createServiceToken,
  deleteServiceToken,
  listServiceTokens,
  rotateServiceToken,
} from './usecases/credentials/service-tokens.js';
import { getDashboardContent, replaceDashboardContent } from './usecases/dashboards/content.js';
import { createDashboardEmbed } from './usecases/dashboards/embeds.js';
import { updateWorkspaceDashboards } from './usecases/dashboards/gallery.js';
import { exportDashboard, exportEmbed, importDashboard } from './usecases/dashboards/transfer.js';
import { createDataApp, deleteDataApp, eraseClient, listDataApps, updateDataApp } from './usecases/data-apps.js';
import { createDatamart, deleteDatamart, listDatamarts, updateDatamart } from './usecases/datamarts/datamarts.js';
import {
  createDatasource,
  listDatasources,
  syncDatasource,
  updateDatasource,
} from './usecases/datamarts/datasources.js';
import {
  createSemanticLayer,
  deleteSemanticLayer,
  getSemanticLayer,
  updateSemanticLayer,
} from './usecases/datamarts/semantic-layer.js';
import { getDatamartTenancy } from './usecases/datamarts/tenancy.js';
import { createEmbed, listEmbedMetrics, listEmbeds } from './usecases/embeds/embeds.js';
import { queryMetric } from './usecases/embeds/query.js';
import { deleteDashboard, deleteEmbed, renameEmbed, updateEmbed } from './usecases/embeds/settings.js';
import { saveGuestLayout } from './usecases/guest/layouts.js';
import {
  archiveGuestMetric,
  createGuestMetric,
  deleteGuestMetric,
  publishMetric,
  updateGuestMetric,
} from './usecases/guest/metrics.js';
import { listGuestFilterOptions } from './usecases/guest/options.js';
import { previewGuestMetric } from './usecases/guest/preview.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestUnderlying,
  queryGuestMetric,
} from './usecases/guest/reads.js';
import { createGuestView, deleteGuestView, listGuestViews } from './usecases/guest/views.js';
import {
  createWorkspace,
  listDashboardMetrics,
  listDashboards,
  listMetrics,
  listWorkspaces,
  updateWorkspace,
} from './usecases/workspaces.js';

export type HandlerDeps = {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly sqlRewriter: SqlRewriter;
  readonly digest: Digest;
};

export const createHandlers = (deps: HandlerDeps): Handlers => ({
  ...tokensAndEmbeds(deps),
  ...organization(deps),
  ...datasources(deps),
  ...datamarts(deps),
  ...keys(deps),
  ...guests(deps),
  ...guestWrites(deps),
});

const tokensAndEmbeds = (deps: HandlerDeps) => ({
  createGuestToken: createGuestToken(deps),
  listGuestTokens: listGuestTokens(deps),
  revokeGuestTokens: revokeGuestTokens(deps),
  createEmbed: createEmbed(deps),
  createDashboardEmbed: createDashboardEmbed(deps),
  deleteEmbed: deleteEmbed(deps),
  updateEmbed: updateEmbed(deps),
  renameEmbed: renameEmbed(deps),
  deleteDashboard: deleteDashboard(deps),
  exportEmbed: exportEmbed(deps),
  exportDashboard: exportDashboard(deps),
  importDashboard: importDashboard(deps),
  getDashboardContent: getDashboardContent(deps),
  replaceDashboardContent: replaceDashboardContent(deps),
  listEmbeds: listEmbeds(deps),
  listEmbedMetrics: listEmbedMetrics(deps),
});

const organization = (deps: HandlerDeps) => ({
  createDataApp: createDataApp(deps),
  updateDataApp: updateDataApp(deps),
  deleteDataApp: deleteDataApp(deps),
  listDataApps: listDataApps(deps),
  eraseClient: eraseClient(deps),
  createWorkspace: createWorkspace(deps),
  updateWorkspace: updateWorkspace(deps),
  listWorkspaces: listWorkspaces(deps),
  listDashboards: listDashboards(deps),
  listMetrics: listMetrics(deps),
  listDashboardMetrics: listDashboardMetrics(deps),
  updateWorkspaceDashboards: updateWorkspaceDashboards(deps),
  queryMetric: queryMetric(deps),
});

const datasources = (deps: HandlerDeps) => ({
  createDatasource: createDatasource(deps),
  updateDatasource: updateDatasource(deps),
  listDatasources: listDatasources(deps),
  syncDatasource: syncDatasource(deps),
});

const datamarts = (deps: HandlerDeps) => ({
  listDatamarts: listDatamarts(deps),
  createDatamart: createDatamart(deps),
  updateDatamart: updateDatamart(deps),
  deleteDatamart: deleteDatamart(deps),
  getDatamartTenancy: getDatamartTenancy(deps),
  createSemanticLayer: createSemanticLayer(deps),
  updateSemanticLayer: updateSemanticLayer(deps),
  getSemanticLayer: getSemanticLayer(deps),
  deleteSemanticLayer: deleteSemanticLayer(deps),
});

const keys = (deps: HandlerDeps) => ({
  createApiKey: createApiKey(deps),
  listApiKeys: listApiKeys(deps),
  deleteApiKey: deleteApiKey(deps),
  rotateApiKey: rotateApiKey(deps),
  createServiceToken: createServiceToken(deps),
  listServiceTokens: listServiceTokens(deps),
  deleteServiceToken: deleteServiceToken(deps),
  rotateServiceToken: rotateServiceToken(deps),
});

const guests = (deps: HandlerDeps) => ({
  getGuestDashboard: getGuestDashboard(deps),
  getGuestMetric: getGuestMetric(deps),
  queryGuestMetric: queryGuestMetric(deps),
  listGuestUnderlying: listGuestUnderlying(deps),
  downloadGuestCsv: downloadGuestCsv(deps),
  listGuestFilterOptions: listGuestFilterOptions(deps),
});

const guestWrites = (deps: HandlerDeps) => ({
  createGuestMetric: createGuestMetric(deps),
  updateGuestMetric: updateGuestMetric(deps),
  deleteGuestMetric: deleteGuestMetric(deps),
  archiveGuestMetric: archiveGuestMetric(deps),
  previewGuestMetric: previewGuestMetric(deps),
  saveGuestLayout: saveGuestLayout(deps),
  createGuestView: createGuestView(deps),
  listGuestViews: listGuestViews(deps),
  deleteGuestView: deleteGuestView(deps),
  publishMetric: publishMetric(deps),
});
