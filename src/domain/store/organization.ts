/** Stores of data apps, their clients, workspaces, datasources and datamarts. */
import type { Datamart } from '../datamart/datamart.js';
import type { SemanticLayer } from '../datamart/semantic-layer.js';
import type { ClientDatabases, ClientLevel, SourceTable } from '../datamart/source-schema.js';
import type { ClientDatabase } from '../datamart/tenant.js';
import type { DataApp, Datasource, DatasourceSummary, Workspace } from '../organization.js';
import type { Slices } from '../slices.js';
import type { NamedStore, Page } from './page.js';

export type DataAppStore = NamedStore<DataApp> & {
  /**
   * Renames the data app. `gone`: no data app has that id and name. `taken`: the new name is in use; of two
   * simultaneous renames to one name, one succeeds. Must not be called in a transaction.
   */
  readonly rename: (from: DataApp, to: DataApp) => Promise<'renamed' | 'gone' | 'taken'>;
  /** Deletes the data app and everything that belongs to it. Returns false if it does not exist. */
  readonly delete: (id: string) => Promise<boolean>;
  /** Prevents deletion of the data app until the transaction ends. Returns false if it does not exist. */
  readonly hold: (id: string) => Promise<boolean>;
  /** Returns the data apps, ordered by name. */
  readonly list: (page: Page | null) => Slices<DataApp>;
};

/** Number of deleted rows of an erased client, by kind. */
export type ErasedClient = {
  readonly dashboards: number;
  readonly embeds: number;
  readonly metrics: number;
  readonly guestMetrics: number;
  readonly guestLayouts: number;
  readonly guestViews: number;
  readonly guestBoards: number;
  readonly schedules: number;
  readonly guestTokens: number;
};

/** `number` rises with each process that takes the erasure over. `gateway` is the deployment that counts, if it has a name. */
export type ErasureFence = { readonly gateway: string | null; readonly number: number };

export type ClientStore = {
  /**
   * Deletes everything that the data app holds for the client, in one transaction. Afterwards no row names the client:
   * mints and writes of its guests that run at the same time also leave no row. Deletes nothing, and returns `late`, if
   * the same gateway erased the client with a larger fence lately.
   */
  readonly erase: (dataAppId: string, clientId: string, fence?: ErasureFence) => Promise<ErasedClient | 'late'>;
};

/** Stores workspaces. `list` is ordered by name. */
export type WorkspaceStore = NamedStore<Workspace> & {
  /** Prevents deletion of the workspace until the transaction ends. Returns false if it does not exist. */
  readonly hold: (id: string) => Promise<boolean>;
  /** Waits for those who hold the workspace, and then keeps others from holding it until the transaction ends. */
  readonly lock: (id: string) => Promise<boolean>;
  /** Returns the external ids of the workspace's dashboards, of every owner; at most `limit`. */
  readonly listDashboardIds: (id: string, limit: number) => Promise<readonly string[]>;
  /** Deletes the workspace with the metrics that are on no dashboard. It must have no dashboards. */
  readonly remove: (id: string) => Promise<void>;
  readonly list: (page: Page | null) => Slices<Workspace>;
  /**
   * Returns the datamarts that the workspace reaches, ordered by name: one, those of its datasource, or all. Empty if
   * its datamart or datasource was deleted.
   */
  readonly listDatamarts: (workspace: Workspace) => Promise<readonly Datamart[]>;
};

/** Names of what stands on a datasource. */
export type DatasourceUsers = { readonly datamarts: readonly string[]; readonly workspaces: readonly string[] };

export type DatasourceStore = NamedStore<Datasource> & {
  /** Prevents deletion of the datasource until the transaction ends. Returns false if it does not exist. */
  readonly hold: (id: string) => Promise<boolean>;
  /** Waits for those who hold the datasource, and then keeps others from holding it until the transaction ends. */
  readonly lock: (id: string) => Promise<boolean>;
  /** Returns the datamarts and workspaces of the datasource; at most `limit` of each. */
  readonly listUsers: (id: string, limit: number) => Promise<DatasourceUsers>;
  /** Deletes the datasource with what its syncs found. Nothing may stand on it. */
  readonly remove: (id: string) => Promise<void>;
  /** Returns the datasources, ordered by name. Decrypts no credentials, so it also works if their key is lost. */
  readonly list: (page: Page | null) => Slices<DatasourceSummary>;
  /** Returns the datasource of that name. Decrypts no credentials. */
  readonly findSummary: (name: string) => Promise<DatasourceSummary | undefined>;
  /** Stores the result of a sync at `syncedAt`, unless a later result is stored. Must be called in a transaction. */
  readonly saveSync: (datasourceId: string, found: SyncedSource, syncedAt: Date) => Promise<void>;
  /** Returns the tables that the latest sync found; undefined if there was no sync. */
  readonly findTables: (datasourceId: string) => Promise<readonly SourceTable[] | undefined>;
  /**
   * Returns the client database of exactly this name, byte by byte, from the list of the latest sync. Undefined if the
   * name is not listed, or there is no list.
   */
  readonly findClientDatabase: (
    datasourceId: string,
    level: ClientLevel,
    name: string,
  ) => Promise<ClientDatabase | undefined>;
  /** Returns the first names of that list, in order. */
  readonly listClientDatabases: (
    datasourceId: string,
    level: ClientLevel,
    limit: number,
  ) => Promise<readonly ClientDatabase[]>;
};

/** Result of a sync of a datasource. */
export type SyncedSource = { readonly tables: readonly SourceTable[]; readonly clientDatabases: ClientDatabases };

export type DatamartStore = NamedStore<Datamart> & {
  /** Returns the datasource's datamart if it has exactly one. */
  readonly findOnlyOf: (datasourceId: string) => Promise<Datamart | undefined>;
  /** As `findByName`, and locks the datamart until the transaction ends. */
  readonly lockByName: (name: string) => Promise<Datamart | undefined>;
  /** Returns the datamarts, ordered by name. */
  readonly list: (page: Page | null) => Slices<ListedDatamart>;
  /**
   * Deletes the datamart, its semantic layer and the guest tokens that are scoped to it. Workspaces that were connected
   * to it stay, without a datamart.
   */
  readonly remove: (id: string) => Promise<void>;
};

export type ListedDatamart = { readonly datamart: Datamart; readonly datasourceName: string };

/** Stores at most one semantic layer for each datamart. */
export type SemanticLayerStore = {
  /** Returns false if the datamart already has a semantic layer. */
  readonly insert: (datamartId: string, layer: SemanticLayer) => Promise<boolean>;
  readonly update: (datamartId: string, layer: SemanticLayer) => Promise<void>;
  readonly findByDatamart: (datamartId: string) => Promise<SemanticLayer | undefined>;
  /** Returns false if the datamart has no semantic layer. */
  readonly remove: (datamartId: string) => Promise<boolean>;
};
