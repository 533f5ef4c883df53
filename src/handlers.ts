/** Which use case serves which operation: a bound operation without one does not compile. */
import type { Handlers } from './contract/operations.js';
import type { Clock, Engine, Ids, Store, Tokens } from './domain/ports.js';
import { createDashboardEmbed } from './usecases/dashboard-embeds.js';
import { createDataApp } from './usecases/data-apps.js';
import { createDatasource, listDatasources, syncDatasource, updateDatasource } from './usecases/datasources.js';
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
import {
  createWorkspace,
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
};

export const createHandlers = (deps: HandlerDeps): Handlers => ({
  ...tokensAndEmbeds(deps),
  ...organization(deps),
  ...datasources(deps),
  ...guests(deps),
});

const tokensAndEmbeds = (deps: HandlerDeps) => ({
  createGuestToken: createGuestToken(deps),
  createEmbed: createEmbed(deps),
  createDashboardEmbed: createDashboardEmbed(deps),
  listEmbeds: listEmbeds(deps),
  listEmbedMetrics: listEmbedMetrics(deps),
});

const organization = (deps: HandlerDeps) => ({
  createDataApp: createDataApp(deps),
  createWorkspace: createWorkspace(deps),
  updateWorkspace: updateWorkspace(deps),
  listWorkspaces: listWorkspaces(deps),
  listDashboards: listDashboards(deps),
  listMetrics: listMetrics(deps),
  queryMetric: queryMetric(deps),
});

const datasources = (deps: HandlerDeps) => ({
  createDatasource: createDatasource(deps),
  updateDatasource: updateDatasource(deps),
  listDatasources: listDatasources(deps),
  syncDatasource: syncDatasource(deps),
});

const guests = (deps: HandlerDeps) => ({
  getGuestDashboard: getGuestDashboard(deps),
  getGuestMetric: getGuestMetric(deps),
  queryGuestMetric: queryGuestMetric(deps),
  listGuestUnderlying: listGuestUnderlying(deps),
  downloadGuestCsv: downloadGuestCsv(deps),
  listGuestFilterOptions: listGuestFilterOptions(deps),
});
