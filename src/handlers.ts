/** Which use case serves which operation: a bound operation without one does not compile. */
import type { Handlers } from './contract/operations.js';
import type { Clock, Engine, Ids, Store, Tokens } from './domain/ports.js';
import { createDashboardEmbed } from './usecases/dashboard-embeds.js';
import { createDataApp } from './usecases/data-apps.js';
import { createEmbed, listEmbedMetrics, listEmbeds } from './usecases/embeds.js';
import { saveGuestLayout } from './usecases/guest-layouts.js';
import {
  archiveGuestMetric,
  createGuestMetric,
  deleteGuestMetric,
  updateGuestMetric,
} from './usecases/guest-metrics.js';
import { previewGuestMetric } from './usecases/guest-preview.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from './usecases/guest-reads.js';
import { createGuestToken } from './usecases/guest-tokens.js';
import { createGuestView, deleteGuestView, listGuestViews } from './usecases/guest-views.js';
import { queryMetric } from './usecases/metrics.js';
import { publishMetric } from './usecases/publish-metric.js';
import { listDashboards, listMetrics } from './usecases/workspaces.js';

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
  ...guests(deps),
  ...guestWrites(deps),
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
  listDashboards: listDashboards(deps),
  listMetrics: listMetrics(deps),
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
