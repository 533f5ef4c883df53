/** Which use case serves which operation: a bound operation without one does not compile. */
import type { Handlers } from './contract/operations.js';
import type { Clock, Engine, Ids, SqlRewriter, Store, Tokens } from './domain/ports.js';
import { createDashboardEmbed } from './usecases/dashboard-embeds.js';
import { exportDashboard, exportEmbed, importDashboard } from './usecases/dashboard-transfer.js';
import { createDataApp } from './usecases/data-apps.js';
import { deleteDashboard, deleteEmbed, renameEmbed, updateEmbed } from './usecases/embed-settings.js';
import { createEmbed, listEmbedMetrics, listEmbeds } from './usecases/embeds.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from './usecases/guest-reads.js';
import { createGuestToken } from './usecases/guest-tokens.js';
import { queryMetric } from './usecases/metrics.js';
import { updateWorkspaceDashboards } from './usecases/workspace-dashboards.js';
import { listDashboardMetrics, listDashboards, listMetrics } from './usecases/workspaces.js';

export type HandlerDeps = {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly sqlRewriter: SqlRewriter;
};

export const createHandlers = (deps: HandlerDeps): Handlers => ({
  ...tokensAndEmbeds(deps),
  ...organization(deps),
  ...guests(deps),
});

const tokensAndEmbeds = (deps: HandlerDeps) => ({
  createGuestToken: createGuestToken(deps),
  createEmbed: createEmbed(deps),
  createDashboardEmbed: createDashboardEmbed(deps),
  deleteEmbed: deleteEmbed(deps),
  updateEmbed: updateEmbed(deps),
  renameEmbed: renameEmbed(deps),
  deleteDashboard: deleteDashboard(deps),
  exportEmbed: exportEmbed(deps),
  exportDashboard: exportDashboard(deps),
  importDashboard: importDashboard(deps),
  listEmbeds: listEmbeds(deps),
  listEmbedMetrics: listEmbedMetrics(deps),
});

const organization = (deps: HandlerDeps) => ({
  createDataApp: createDataApp(deps),
  listDashboards: listDashboards(deps),
  listMetrics: listMetrics(deps),
  listDashboardMetrics: listDashboardMetrics(deps),
  updateWorkspaceDashboards: updateWorkspaceDashboards(deps),
  queryMetric: queryMetric(deps),
});

const guests = (deps: HandlerDeps) => ({
  getGuestDashboard: getGuestDashboard(deps),
  getGuestMetric: getGuestMetric(deps),
  queryGuestMetric: queryGuestMetric(deps),
  listGuestUnderlying: listGuestUnderlying(deps),
  downloadGuestCsv: downloadGuestCsv(deps),
  listGuestFilterOptions: listGuestFilterOptions(deps),
});
