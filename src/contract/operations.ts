/**
 * Every operation that is declared, and those that are bound: only these are routed and documented. A bound operation
 * without a use case does not compile (`Handlers`).
 */
import { createDashboardEmbed } from './dashboard-embeds.js';
import { createDataApp, deleteDataApp, updateDataApp } from './data-apps.js';
import { deleteDatamart, listDatamarts, updateDatamart } from './datamarts.js';
import { createDatasource, listDatasources, syncDatasource, updateDatasource } from './datasources.js';
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
  listDashboards,
  listMetrics,
  listWorkspaces,
  updateWorkspace,
  updateWorkspaceDashboards,
} from './workspaces.js';

/** What works, in the order of the reference. */
export const bound = {
  createGuestToken,
  createEmbed,
  createDashboardEmbed,
  listEmbeds,
  listEmbedMetrics,
  createDataApp,
  createDatasource,
  updateDatasource,
  listDatasources,
  syncDatasource,
  createWorkspace,
  updateWorkspace,
  listWorkspaces,
  listDashboards,
  listMetrics,
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
  deleteEmbed,
  updateDataApp,
  deleteDataApp,
  listDatamarts,
  updateDatamart,
  deleteDatamart,
  createSemanticLayer,
  updateSemanticLayer,
  getSemanticLayer,
  deleteSemanticLayer,
  updateWorkspaceDashboards,
} as const;

/** The use cases of a set of operations, one for each. */
export type HandlersOf<Operations> = { readonly [Name in keyof Operations]: Handler<Operations[Name]> };

export type Handlers = HandlersOf<typeof bound>;
