/**
 * Every operation that is declared, and those that are bound: only these are routed and documented. A bound operation
 * without a use case does not compile (`Handlers`).
 */
import { createDashboardEmbed } from './dashboard-embeds.js';
import { deleteDashboard, exportDashboard, exportEmbed, importDashboard } from './dashboards.js';
import { createDataApp, deleteDataApp, updateDataApp } from './data-apps.js';
import { deleteDatamart, listDatamarts, updateDatamart } from './datamarts.js';
import { renameEmbed, updateEmbed } from './embed-settings.js';
import { createEmbed, deleteEmbed, listEmbedMetrics, listEmbeds } from './embeds.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from './guest-reads.js';
import { createGuestToken } from './guest-tokens.js';
import { queryMetric } from './metrics.js';
import type { Handler } from './operation.js';
import { createSemanticLayer, deleteSemanticLayer, getSemanticLayer, updateSemanticLayer } from './semantic-layer.js';
import {
  createWorkspace,
  listDashboardMetrics,
  listDashboards,
  listMetrics,
  updateWorkspace,
  updateWorkspaceDashboards,
} from './workspaces.js';

/** What works, in the order of the reference. */
export const bound = {
  createGuestToken,
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
  createDataApp,
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
} as const;

/** Everything that is declared. */
export const operations = {
  ...bound,
  updateDataApp,
  deleteDataApp,
  listDatamarts,
  updateDatamart,
  deleteDatamart,
  createSemanticLayer,
  updateSemanticLayer,
  getSemanticLayer,
  deleteSemanticLayer,
  createWorkspace,
  updateWorkspace,
} as const;

/** The use cases of a set of operations, one for each. */
export type HandlersOf<Operations> = { readonly [Name in keyof Operations]: Handler<Operations[Name]> };

export type Handlers = HandlersOf<typeof bound>;
