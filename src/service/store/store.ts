/**
 * The service's metadata, in PostgreSQL. Only this folder converts between rows and domain types. It holds no rules,
 * except those that need the database, such as which of two simultaneous writers gets a name. It knows no caller, no
 * permission and no clock.
 */
import type { Kysely } from 'kysely';
import type { ContentRevision } from '../../model/brand.js';
import { sealedColumnsOf } from '../../platform/keys/reseal.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { createApiKeyStore } from './api-keys.js';
import { createClientStore } from './clients.js';
import { type ContentStore, createContent } from './content.js';
import { createDashboardStore } from './dashboards.js';
import { createDataAppStore } from './data-apps.js';
import { createDatamartStore } from './datamarts.js';
import { createDatasourceStore } from './datasources.js';
import { createDeliveryStore } from './deliveries.js';
import { createEmbedStore } from './embeds.js';
import { createGuestBoardStore } from './guest-boards.js';
import { createGuestLayoutStore } from './guest-layouts.js';
import { createGuestMetricStore } from './guest-metrics.js';
import { cacheTokenLookups, createGuestTokenStore } from './guest-tokens.js';
import { createGuestViewStore } from './guest-views.js';
import { canaryContext } from './key-canary.js';
import { createLastUseStore } from './last-uses.js';
import { createMetricStore } from './metrics.js';
import { createReportAddressStore } from './report-addresses.js';
import { createRetentionStore } from './retention.js';
import { createRunningStore } from './running.js';
import { createScheduleStore, recipientsContext, stateContext } from './schedules.js';
import { createSearchStore } from './search.js';
import { createSemanticLayerStore } from './semantic-layers.js';
import { createServiceTokenStore } from './service-tokens.js';
import { createStudioSessionStore, issuerTokenContext } from './studio-sessions.js';
import { schemaName, type Tables } from './tables.js';
import { createUsageStore } from './usage.js';
import { createWorkspaceStore } from './workspaces.js';

/** All stores of the service's metadata. Writes that belong together run in one `transaction`. */
export type Store = ReturnType<typeof createStores> & {
  /**
   * Returns the content at that revision or later, which may be cached between requests. Null: the current content, not
   * cached.
   */
  readonly contentAt: (revision: ContentRevision | null) => ContentStore;
  /**
   * Runs `work` with a store on its own connection. An error thrown by `work` rolls everything back. `work` must use
   * only that store: the embedded database has one connection, so a call of the outer store would wait forever.
   */
  readonly transaction: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
};

/**
 * Creates the store on a migrated database. Nested transactions join the outermost one, so an error from an inner one
 * must be passed on to the outermost. `writes` returns a count that changes with every write, for a database that only
 * this process writes to; null if other processes write to it too.
 */
export const createStore = (db: Kysely<Tables>, sealer: Sealer, writes: (() => number) | null = null): Store => {
  const root = db.withSchema(schemaName);
  const stores = createStores(root, sealer);
  return {
    ...stores,
    guestTokens: { ...stores.guestTokens, findByHash: cacheTokenLookups(stores.guestTokens.findByHash, writes) },
    contentAt: createContent(stores),
    transaction: (work) => root.transaction().execute((transaction) => work(createInnerStore(transaction, sealer))),
  };
};

const createInnerStore = (transaction: Kysely<Tables>, sealer: Sealer): Store => {
  const store: Store = {
    ...createStores(transaction, sealer),
    contentAt: () => store,
    transaction: (work) => work(store),
  };
  return store;
};

const createStores = (db: Kysely<Tables>, sealer: Sealer) => ({
  dataApps: createDataAppStore(db),
  clients: createClientStore(db),
  apiKeys: createApiKeyStore(db),
  serviceTokens: createServiceTokenStore(db),
  datasources: createDatasourceStore(db, sealer),
  datamarts: createDatamartStore(db),
  semanticLayers: createSemanticLayerStore(db),
  workspaces: createWorkspaceStore(db),
  dashboards: createDashboardStore(db),
  metrics: createMetricStore(db),
  embeds: createEmbedStore(db),
  guestTokens: createGuestTokenStore(db),
  studioSessions: createStudioSessionStore(db, sealer),
  lastUses: createLastUseStore(db),
  guestMetrics: createGuestMetricStore(db),
  guestLayouts: createGuestLayoutStore(db),
  guestViews: createGuestViewStore(db),
  guestBoards: createGuestBoardStore(db),
  schedules: createScheduleStore(db, sealer),
  deliveries: createDeliveryStore(db, sealer),
  reportAddresses: createReportAddressStore(db),
  search: createSearchStore(db),
  usage: createUsageStore(db),
  running: createRunningStore(db),
  retention: createRetentionStore(db),
});

/** The sealed columns of the service's metadata. */
export const sealedColumns = sealedColumnsOf<Tables>(schemaName, {
  'datasources.sealed': { key: ['id'], contextOf: (id = '') => id },
  'schedules.recipients': { key: ['id'], contextOf: (id = '') => recipientsContext(id) },
  'schedules.alert_state': { key: ['id'], contextOf: (id = '') => stateContext(id, null) },
  'alert_states.state': {
    key: ['schedule_id', 'recipient'],
    contextOf: (id = '', recipient = '') => stateContext(id, recipient),
  },
  'studio_sessions.issuer_token': { key: ['id'], contextOf: (id = '') => issuerTokenContext(id) },
  'sealing_canary.sealed': { key: ['is_only'], contextOf: () => canaryContext },
});
