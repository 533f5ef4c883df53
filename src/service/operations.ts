/**
 * The table of operations: for each, its declaration and its use case. Routing, validation, the OpenAPI document and
 * the conformance suite are derived from it.
 *
 * To add an operation: declare it in src/service, write its use case, and add one row here. A declared operation
 * without a row does not compile, nor does a use case that does not fit its declaration.
 */

import type { Assistant } from '../model/chat/assistant.js';
import type { GuestReports } from '../model/guest/mail-preview.js';
import type { Renderer } from '../model/guest/render.js';
import type { FindTheme } from '../model/guest/view.js';
import type { WarmUp } from '../model/guest/warm-up.js';
import type { Clock, Digest, Ids, ShortTag, Tag, Tokens } from '../model/ports.js';
import type { DefinitionEngine, Engine } from '../model/query/engine.js';
import type { SqlRewriter } from '../model/query/sql-rewriter.js';
import type { AnswerOf, InputOf } from '../platform/http/interface/callable.js';
import type { Handler, HandlersOf, Operation } from '../platform/http/interface/operation.js';
import { chatOnGuestDashboard } from './chat/chat.js';
import * as guestChat from './chat/contract/chat.js';
import * as guestSummary from './chat/contract/summary.js';
import { listGuestSuggestions } from './chat/suggestions.js';
import { summariseGuestDashboard } from './chat/summary.js';
import { checkDatamartExpression } from './dashboards/check-expression.js';
import { compareDashboardContent } from './dashboards/compare-content.js';
import { compareDatamart } from './dashboards/compare-datamart.js';
import { getDashboardContent, replaceDashboardContent } from './dashboards/content.js';
import * as datamartChanges from './dashboards/contract/compare-datamart.js';
import * as dashboardContent from './dashboards/contract/content.js';
import * as dashboards from './dashboards/contract/dashboards.js';
import * as drafts from './dashboards/contract/draft.js';
import * as dashboardEmbeds from './dashboards/contract/embeds.js';
import * as workspaceDashboards from './dashboards/contract/workspace-dashboards.js';
import { deleteTemplate } from './dashboards/delete-template.js';
import { draftDashboardContent } from './dashboards/draft-content.js';
import { createDashboardEmbed } from './dashboards/embeds.js';
import { updateWorkspaceDashboards } from './dashboards/gallery.js';
import { mergeDashboardContent } from './dashboards/merge-content.js';
import { proposeDashboardContent } from './dashboards/propose-content.js';
import { listRefusedMetrics } from './dashboards/refused-metrics.js';
import { exportDashboard, exportEmbed, importDashboard } from './dashboards/transfer.js';
import { tryDashboardContent } from './dashboards/try-content.js';
import { listUnreadableMetrics } from './dashboards/unreadable-metrics.js';
import { holdClients } from './data-apps/client-holds.js';
import * as clientErasure from './data-apps/contract/client-erasure.js';
import * as clientHolds from './data-apps/contract/client-holds.js';
import * as dataApps from './data-apps/contract/data-apps.js';
import { createDataApp, deleteDataApp, eraseClient, listDataApps, updateDataApp } from './data-apps/data-apps.js';
import * as datamartColumns from './datamarts/contract/columns.js';
import * as datamarts from './datamarts/contract/datamarts.js';
import * as datamartExpressions from './datamarts/contract/expressions.js';
import * as datamartRollups from './datamarts/contract/rollups.js';
import * as datamartTenancy from './datamarts/contract/tenancy.js';
import * as tenantNames from './datamarts/contract/tenant-names.js';
import * as datamartWrites from './datamarts/contract/writes.js';
import {
  createDatamart,
  deleteDatamart,
  listDatamartColumns,
  listDatamarts,
  updateDatamart,
} from './datamarts/datamarts.js';
import { proposeRollups } from './datamarts/propose-rollups.js';
import { buildRollup, listRollups } from './datamarts/rollups.js';
import { getDatamartTenancy } from './datamarts/tenancy.js';
import { listTenantNames } from './datamarts/tenant-names.js';
import * as datasources from './datasources/contract/datasources.js';
import * as datasourceTables from './datasources/contract/tables.js';
import {
  compareDatasourceColumns,
  createDatasource,
  deleteDatasource,
  listDatasources,
  listDatasourceTables,
  syncDatasource,
  updateDatasource,
  updateDatasourceLogin,
} from './datasources/datasources.js';
import * as embeds from './embeds/contract/embeds.js';
import * as embedSettings from './embeds/contract/settings.js';
import { createEmbed, listEmbedMetrics, listEmbeds } from './embeds/embeds.js';
import { queryMetric } from './embeds/query.js';
import { deleteDashboard, deleteEmbed, renameEmbed, updateEmbed } from './embeds/settings.js';
import * as guestBoards from './guest/contract/boards.js';
import * as guestDashboardQuery from './guest/contract/dashboard-query.js';
import * as guestDownloads from './guest/contract/downloads.js';
import * as guestEmbeds from './guest/contract/embeds.js';
import * as guestFields from './guest/contract/fields.js';
import * as guestMetrics from './guest/contract/metrics.js';
import * as guestOwnBoards from './guest/contract/own-boards.js';
import * as guestOwnMetrics from './guest/contract/own-metrics.js';
import * as guestReads from './guest/contract/reads.js';
import * as guestRenders from './guest/contract/renders.js';
import { queryGuestDashboard } from './guest/dashboard-query.js';
import { downloadGuestCsv, downloadGuestDashboardXlsx, downloadGuestXlsx } from './guest/downloads.js';
import { listGuestEmbeds } from './guest/embeds.js';
import { listGuestFields } from './guest/fields.js';
import { restoreGuestLayout, saveGuestLayout } from './guest/layouts.js';
import {
  archiveGuestMetric,
  createGuestMetric,
  deleteGuestMetric,
  publishMetric,
  updateGuestMetric,
} from './guest/metrics.js';
import { listGuestFilterOptions } from './guest/options.js';
import {
  createGuestBoard,
  deleteGuestBoard,
  getGuestBoard,
  listGuestBoards,
  updateGuestBoard,
} from './guest/own-boards.js';
import { getGuestMetricDefinition, listGuestMetrics, publishGuestMetric } from './guest/own-metrics.js';
import { previewGuestMetric } from './guest/preview.js';
import { getGuestDashboard, getGuestMetric, listGuestUnderlying, queryGuestMetric } from './guest/reads.js';
import {
  renderGuestDashboardPdf,
  renderGuestDashboardPng,
  renderGuestMetricPdf,
  renderGuestMetricPng,
} from './guest/renders.js';
import { createGuestView, deleteGuestView, listGuestViews, updateGuestView } from './guest/views.js';
import * as guestTokenAdmin from './guest-tokens/contract/admin.js';
import * as guestTokens from './guest-tokens/contract/guest-tokens.js';
import { listGuestTokens, revokeGuestTokens } from './guest-tokens/guest-token-admin.js';
import { createGuestToken } from './guest-tokens/guest-tokens.js';
import { createApiKey, deleteApiKey, listApiKeys, rotateApiKey } from './keys/api-keys.js';
import * as apiKeys from './keys/contract/api-keys.js';
import * as serviceTokens from './keys/contract/service-tokens.js';
import {
  createServiceToken,
  deleteServiceToken,
  listServiceTokens,
  rotateServiceToken,
} from './keys/service-tokens.js';
import * as metrics from './metrics/contract.js';
import type { Board } from './running/board.js';
import * as running from './running/contract.js';
import { endRunning, readRunning } from './running/read.js';
import * as guestSchedules from './schedules/contract/guest-schedules.js';
import * as templateSchedules from './schedules/contract/template-schedules.js';
import { listGuestRecipients } from './schedules/recipients.js';
import {
  createGuestSchedule,
  deleteGuestSchedule,
  listGuestChannels,
  listGuestDeliveries,
  listGuestSchedules,
  previewGuestSchedule,
  sendGuestSchedule,
  updateGuestSchedule,
} from './schedules/schedules.js';
import {
  createTemplateSchedule,
  deleteTemplateSchedule,
  listTemplateDeliveries,
  listTemplateSchedules,
  sendTemplateSchedule,
  updateTemplateSchedule,
} from './schedules/template-schedules.js';
import { deleteTenantSchedule, listTenantSchedules, pauseTenantSchedule } from './schedules/tenant-schedules.js';
import * as semanticLayer from './semantic-layer/contract.js';
import {
  createSemanticLayer,
  deleteSemanticLayer,
  getSemanticLayer,
  updateSemanticLayer,
} from './semantic-layer/semantic-layer.js';
import type { Store } from './store/store.js';
import * as usage from './usage/contract.js';
import { exportUsage, readUsage } from './usage/read.js';
import { reportLogins } from './usage/report.js';
import * as workspaces from './workspaces/contract.js';
import {
  createWorkspace,
  deleteWorkspace,
  listDashboardMetrics,
  listDashboards,
  listMetrics,
  listWorkspaces,
  updateWorkspace,
} from './workspaces/workspaces.js';

export type UseCaseDeps = {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly sqlRewriter: SqlRewriter;
  readonly digest: Digest;
  readonly renderer: Renderer;
  readonly tag: Tag;
  readonly shortTag: ShortTag;
  readonly findTheme: FindTheme;
  readonly reports: GuestReports;
  readonly assistant: Assistant;
  readonly warmUp?: Pick<WarmUp, 'seen' | 'want'> | undefined;
  /** What runs now in all processes. */
  readonly running: Pick<Board, 'read' | 'end'>;
};

/** A use case whose operation declares that it reads no rows does not compile if it wants what reads them. */
type DepsOf<O extends Operation> = O['reads'] extends 'nothing' | 'definitions'
  ? Omit<UseCaseDeps, 'engine' | 'renderer' | 'assistant'> & {
      readonly engine: DefinitionEngine;
      readonly assistant: Pick<Assistant, 'models'>;
    }
  : UseCaseDeps;

const serve = <O extends Operation>(operation: O, createHandler: (deps: DepsOf<O>) => Handler<O>) => ({
  operation,
  createHandler,
});

/** Rows are in the order of the API reference. */
const table = {
  createGuestToken: serve(guestTokens.createGuestToken, createGuestToken),
  listGuestTokens: serve(guestTokenAdmin.listGuestTokens, listGuestTokens),
  revokeGuestTokens: serve(guestTokenAdmin.revokeGuestTokens, revokeGuestTokens),
  createEmbed: serve(embeds.createEmbed, createEmbed),
  createDashboardEmbed: serve(dashboardEmbeds.createDashboardEmbed, createDashboardEmbed),
  deleteEmbed: serve(embeds.deleteEmbed, deleteEmbed),
  updateEmbed: serve(embedSettings.updateEmbed, updateEmbed),
  renameEmbed: serve(embedSettings.renameEmbed, renameEmbed),
  listEmbeds: serve(embeds.listEmbeds, listEmbeds),
  listEmbedMetrics: serve(embeds.listEmbedMetrics, listEmbedMetrics),
  exportEmbed: serve(dashboards.exportEmbed, exportEmbed),
  deleteTemplate: serve(dashboards.deleteTemplate, deleteTemplate),
  deleteDashboard: serve(dashboards.deleteDashboard, deleteDashboard),
  exportDashboard: serve(dashboards.exportDashboard, exportDashboard),
  importDashboard: serve(dashboards.importDashboard, importDashboard),
  getDashboardContent: serve(dashboardContent.getDashboardContent, getDashboardContent),
  replaceDashboardContent: serve(dashboardContent.replaceDashboardContent, replaceDashboardContent),
  compareDashboardContent: serve(dashboardContent.compareDashboardContent, compareDashboardContent),
  mergeDashboardContent: serve(dashboardContent.mergeDashboardContent, mergeDashboardContent),
  proposeDashboardContent: serve(dashboardContent.proposeDashboardContent, proposeDashboardContent),
  draftDashboardContent: serve(drafts.draftDashboardContent, draftDashboardContent),
  tryDashboardContent: serve(dashboardContent.tryDashboardContent, tryDashboardContent),
  listRefusedMetrics: serve(dashboardContent.listRefusedMetrics, listRefusedMetrics),
  listUnreadableMetrics: serve(dashboardContent.listUnreadableMetrics, listUnreadableMetrics),
  createDataApp: serve(dataApps.createDataApp, createDataApp),
  createDatasource: serve(datasources.createDatasource, createDatasource),
  updateDatasource: serve(datasources.updateDatasource, updateDatasource),
  updateDatasourceLogin: serve(datasources.updateDatasourceLogin, updateDatasourceLogin),
  deleteDatasource: serve(datasources.deleteDatasource, deleteDatasource),
  listDatasources: serve(datasources.listDatasources, listDatasources),
  syncDatasource: serve(datasources.syncDatasource, syncDatasource),
  listDatasourceTables: serve(datasourceTables.listDatasourceTables, listDatasourceTables),
  compareDatasourceColumns: serve(datasourceTables.compareDatasourceColumns, compareDatasourceColumns),
  listDatamarts: serve(datamarts.listDatamarts, listDatamarts),
  createDatamart: serve(datamartWrites.createDatamart, createDatamart),
  updateDatamart: serve(datamartWrites.updateDatamart, updateDatamart),
  deleteDatamart: serve(datamarts.deleteDatamart, deleteDatamart),
  compareDatamart: serve(datamartChanges.compareDatamart, compareDatamart),
  checkDatamartExpression: serve(datamartExpressions.checkDatamartExpression, checkDatamartExpression),
  listDatamartColumns: serve(datamartColumns.listDatamartColumns, listDatamartColumns),
  listRollups: serve(datamartRollups.listRollups, listRollups),
  buildRollup: serve(datamartRollups.buildRollup, buildRollup),
  proposeRollups: serve(datamartRollups.proposeRollups, proposeRollups),
  getDatamartTenancy: serve(datamartTenancy.getDatamartTenancy, getDatamartTenancy),
  listTenantNames: serve(tenantNames.listTenantNames, listTenantNames),
  createSemanticLayer: serve(semanticLayer.createSemanticLayer, createSemanticLayer),
  updateSemanticLayer: serve(semanticLayer.updateSemanticLayer, updateSemanticLayer),
  getSemanticLayer: serve(semanticLayer.getSemanticLayer, getSemanticLayer),
  deleteSemanticLayer: serve(semanticLayer.deleteSemanticLayer, deleteSemanticLayer),
  updateDataApp: serve(dataApps.updateDataApp, updateDataApp),
  deleteDataApp: serve(dataApps.deleteDataApp, deleteDataApp),
  listDataApps: serve(dataApps.listDataApps, listDataApps),
  eraseClient: serve(clientErasure.eraseClient, eraseClient),
  holdClients: serve(clientHolds.holdClients, holdClients),
  readUsage: serve(usage.readUsage, readUsage),
  exportUsage: serve(usage.exportUsage, exportUsage),
  reportLogins: serve(usage.reportLogins, reportLogins),
  readRunning: serve(running.readRunning, readRunning),
  endRunning: serve(running.endRunning, endRunning),
  createApiKey: serve(apiKeys.createApiKey, createApiKey),
  listApiKeys: serve(apiKeys.listApiKeys, listApiKeys),
  deleteApiKey: serve(apiKeys.deleteApiKey, deleteApiKey),
  rotateApiKey: serve(apiKeys.rotateApiKey, rotateApiKey),
  createServiceToken: serve(serviceTokens.createServiceToken, createServiceToken),
  listServiceTokens: serve(serviceTokens.listServiceTokens, listServiceTokens),
  deleteServiceToken: serve(serviceTokens.deleteServiceToken, deleteServiceToken),
  rotateServiceToken: serve(serviceTokens.rotateServiceToken, rotateServiceToken),
  createWorkspace: serve(workspaces.createWorkspace, createWorkspace),
  updateWorkspace: serve(workspaces.updateWorkspace, updateWorkspace),
  deleteWorkspace: serve(workspaces.deleteWorkspace, deleteWorkspace),
  listWorkspaces: serve(workspaces.listWorkspaces, listWorkspaces),
  listDashboards: serve(workspaceDashboards.listDashboards, listDashboards),
  listMetrics: serve(workspaceDashboards.listMetrics, listMetrics),
  listDashboardMetrics: serve(workspaceDashboards.listDashboardMetrics, listDashboardMetrics),
  updateWorkspaceDashboards: serve(workspaceDashboards.updateWorkspaceDashboards, updateWorkspaceDashboards),
  queryMetric: serve(metrics.queryMetric, queryMetric),
  listGuestEmbeds: serve(guestEmbeds.listGuestEmbeds, listGuestEmbeds),
  getGuestDashboard: serve(guestReads.getGuestDashboard, getGuestDashboard),
  getGuestMetric: serve(guestReads.getGuestMetric, getGuestMetric),
  queryGuestMetric: serve(guestReads.queryGuestMetric, queryGuestMetric),
  queryGuestDashboard: serve(guestDashboardQuery.queryGuestDashboard, queryGuestDashboard),
  listGuestUnderlying: serve(guestReads.listGuestUnderlying, listGuestUnderlying),
  summariseGuestDashboard: serve(guestSummary.summariseGuestDashboard, summariseGuestDashboard),
  downloadGuestCsv: serve(guestDownloads.downloadGuestCsv, downloadGuestCsv),
  downloadGuestXlsx: serve(guestDownloads.downloadGuestXlsx, downloadGuestXlsx),
  downloadGuestDashboardXlsx: serve(guestDownloads.downloadGuestDashboardXlsx, downloadGuestDashboardXlsx),
  renderGuestDashboardPdf: serve(guestRenders.renderGuestDashboardPdf, renderGuestDashboardPdf),
  renderGuestDashboardPng: serve(guestRenders.renderGuestDashboardPng, renderGuestDashboardPng),
  renderGuestMetricPdf: serve(guestRenders.renderGuestMetricPdf, renderGuestMetricPdf),
  renderGuestMetricPng: serve(guestRenders.renderGuestMetricPng, renderGuestMetricPng),
  listGuestFilterOptions: serve(guestReads.listGuestFilterOptions, listGuestFilterOptions),
  listGuestFields: serve(guestFields.listGuestFields, listGuestFields),
  createGuestMetric: serve(guestMetrics.createGuestMetric, createGuestMetric),
  updateGuestMetric: serve(guestMetrics.updateGuestMetric, updateGuestMetric),
  deleteGuestMetric: serve(guestMetrics.deleteGuestMetric, deleteGuestMetric),
  archiveGuestMetric: serve(guestMetrics.archiveGuestMetric, archiveGuestMetric),
  listGuestMetrics: serve(guestOwnMetrics.listGuestMetrics, listGuestMetrics),
  getGuestMetricDefinition: serve(guestOwnMetrics.getGuestMetricDefinition, getGuestMetricDefinition),
  publishGuestMetric: serve(guestOwnMetrics.publishGuestMetric, publishGuestMetric),
  previewGuestMetric: serve(guestMetrics.previewGuestMetric, previewGuestMetric),
  listGuestSuggestions: serve(guestSummary.listGuestSuggestions, listGuestSuggestions),
  chatOnGuestDashboard: serve(guestChat.chatOnGuestDashboard, chatOnGuestDashboard),
  saveGuestLayout: serve(guestBoards.saveGuestLayout, saveGuestLayout),
  restoreGuestLayout: serve(guestBoards.restoreGuestLayout, restoreGuestLayout),
  listGuestBoards: serve(guestOwnBoards.listGuestBoards, listGuestBoards),
  createGuestBoard: serve(guestOwnBoards.createGuestBoard, createGuestBoard),
  getGuestBoard: serve(guestOwnBoards.getGuestBoard, getGuestBoard),
  updateGuestBoard: serve(guestOwnBoards.updateGuestBoard, updateGuestBoard),
  deleteGuestBoard: serve(guestOwnBoards.deleteGuestBoard, deleteGuestBoard),
  createGuestView: serve(guestBoards.createGuestView, createGuestView),
  listGuestViews: serve(guestBoards.listGuestViews, listGuestViews),
  createGuestSchedule: serve(guestSchedules.createGuestSchedule, createGuestSchedule),
  previewGuestSchedule: serve(guestSchedules.previewGuestSchedule, previewGuestSchedule),
  listGuestSchedules: serve(guestSchedules.listGuestSchedules, listGuestSchedules),
  listGuestChannels: serve(guestSchedules.listGuestChannels, listGuestChannels),
  listGuestRecipients: serve(guestSchedules.listGuestRecipients, listGuestRecipients),
  listTenantSchedules: serve(guestSchedules.listTenantSchedules, listTenantSchedules),
  pauseTenantSchedule: serve(guestSchedules.pauseTenantSchedule, pauseTenantSchedule),
  deleteTenantSchedule: serve(guestSchedules.deleteTenantSchedule, deleteTenantSchedule),
  updateGuestSchedule: serve(guestSchedules.updateGuestSchedule, updateGuestSchedule),
  deleteGuestSchedule: serve(guestSchedules.deleteGuestSchedule, deleteGuestSchedule),
  sendGuestSchedule: serve(guestSchedules.sendGuestSchedule, sendGuestSchedule),
  listGuestDeliveries: serve(guestSchedules.listGuestDeliveries, listGuestDeliveries),
  createTemplateSchedule: serve(templateSchedules.createTemplateSchedule, createTemplateSchedule),
  listTemplateSchedules: serve(templateSchedules.listTemplateSchedules, listTemplateSchedules),
  updateTemplateSchedule: serve(templateSchedules.updateTemplateSchedule, updateTemplateSchedule),
  deleteTemplateSchedule: serve(templateSchedules.deleteTemplateSchedule, deleteTemplateSchedule),
  sendTemplateSchedule: serve(templateSchedules.sendTemplateSchedule, sendTemplateSchedule),
  listTemplateDeliveries: serve(templateSchedules.listTemplateDeliveries, listTemplateDeliveries),
  updateGuestView: serve(guestBoards.updateGuestView, updateGuestView),
  deleteGuestView: serve(guestBoards.deleteGuestView, deleteGuestView),
  publishMetric: serve(guestMetrics.publishMetric, publishMetric),
} as const satisfies { readonly [Name in DeclaredName]: { readonly operation: { readonly name: Name } } };

type Declared =
  | typeof apiKeys
  | typeof clientErasure
  | typeof clientHolds
  | typeof dashboardContent
  | typeof drafts
  | typeof dashboardEmbeds
  | typeof dashboards
  | typeof dataApps
  | typeof datamartChanges
  | typeof datamartColumns
  | typeof datamartExpressions
  | typeof datamartRollups
  | typeof datamartTenancy
  | typeof datamartWrites
  | typeof datamarts
  | typeof datasourceTables
  | typeof datasources
  | typeof embedSettings
  | typeof embeds
  | typeof guestBoards
  | typeof guestChat
  | typeof guestDashboardQuery
  | typeof guestDownloads
  | typeof guestEmbeds
  | typeof guestFields
  | typeof guestMetrics
  | typeof guestOwnBoards
  | typeof guestOwnMetrics
  | typeof guestReads
  | typeof guestRenders
  | typeof guestSchedules
  | typeof guestSummary
  | typeof guestTokenAdmin
  | typeof guestTokens
  | typeof metrics
  | typeof running
  | typeof semanticLayer
  | typeof serviceTokens
  | typeof templateSchedules
  | typeof tenantNames
  | typeof workspaceDashboards
  | typeof usage
  | typeof workspaces;

/** The names of all exported operations. */
type DeclaredName = Declared extends infer Module
  ? Module extends unknown
    ? {
        [Name in keyof Module]: Module[Name] extends { readonly bindings: readonly unknown[] } ? Name : never;
      }[keyof Module]
    : never
  : never;

type Table = typeof table;
export type Operations = { readonly [Name in keyof Table]: Table[Name]['operation'] };
/** What a caller of the operation sends, and what it reads. */
export type OperationInput<Name extends keyof Operations> = InputOf<Operations[Name]>;
export type OperationAnswer<Name extends keyof Operations> = AnswerOf<Operations[Name]>;
export type Handlers = HandlersOf<Operations>;

const mapRows = (read: (row: Table[keyof Table]) => unknown): { readonly [Name in keyof Table]: unknown } =>
  Object.fromEntries(Object.entries(table).map(([name, row]) => [name, read(row)])) as {
    [Name in keyof Table]: unknown;
  };

/** Every operation of the service, by name. */
export const operations = mapRows(({ operation }) => operation) as Operations;

/** The use cases, by the name of their operation. */
export const createHandlers = (deps: UseCaseDeps): Handlers =>
  mapRows(({ createHandler }) => createHandler(deps)) as Handlers;
