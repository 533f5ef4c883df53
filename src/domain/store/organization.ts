/** Stores of the organization: data apps, their clients, workspaces, and where rows come from. */
import type { Datamart } from '../datamart/datamart.js';
import type { SemanticLayer } from '../datamart/semantic-layer.js';
import type { ClientDatabases, ClientLevel, SourceTable } from '../datamart/source-schema.js';
import type { ClientDatabase } from '../datamart/tenant.js';
import type { DataApp, Datasource, DatasourceSummary, Workspace } from '../organization.js';
import type { NamedStore, Page } from './page.js';

export type DataAppStore = NamedStore<DataApp> & {
  /**
   * `gone`: there is none of that id and name any more. `taken`: of two simultaneous renames to one name, one succeeds. Not for
   * use in a transaction.
   */
  readonly rename: (from: DataApp, to: DataApp) => Promise<'renamed' | 'gone' | 'taken'>;
  /** With everything that belongs to it; false where it is gone already. */
  readonly delete: (id: string) => Promise<boolean>;
  /** Keeps it from being deleted until the transaction ends; false where it is gone. */
  readonly hold: (id: string) => Promise<boolean>;
  /** In order of their names. */
  readonly list: (page: Page | null) => Promise<readonly DataApp[]>;
};

/** What was erased of a client, in rows. */
export type ErasedClient = {
  readonly dashboards: number;
  readonly embeds: number;
  readonly metrics: number;
  readonly guestMetrics: number;
  readonly guestLayouts: number;
  readonly guestViews: number;
  readonly guestTokens: number;
};

export type ClientStore = {
  /**
   * Everything that the data app holds for the client, in one transaction: afterwards nothing names it. Mints and writes of its
   * guests that are under way at the time leave nothing either.
   */
  readonly erase: (dataAppId: string, clientId: string) => Promise<ErasedClient>;
};

/** `list` is in order of names. */
export type WorkspaceStore = NamedStore<Workspace> & {
  readonly list: (page: Page | null) => Promise<readonly Workspace[]>;
  /** The datamarts that its connection reaches, by name: one, those of its datasource, or all; none where its own was deleted. */
  readonly listDatamarts: (workspace: Workspace) => Promise<readonly Datamart[]>;
};

export type DatasourceStore = NamedStore<Datasource> & {
  /** In order of their names. Opens no credentials, so it answers also where their key is lost. */
  readonly list: (page: Page | null) => Promise<readonly DatasourceSummary[]>;
  /** By name; opens no credentials. */
  readonly findSummary: (name: string) => Promise<DatasourceSummary | undefined>;
  /** Keeps what was found at `syncedAt`, unless something later was kept meanwhile. To be called in a transaction. */
  readonly saveSync: (datasourceId: string, found: SyncedSource, syncedAt: Date) => Promise<void>;
  /** What was found when it was last looked at; undefined: it never was. */
  readonly findTables: (datasourceId: string) => Promise<readonly SourceTable[] | undefined>;
  /** The client database of exactly this name, byte by byte, on the list of the latest sync; one without a list has none. */
  readonly findClientDatabase: (
    datasourceId: string,
    level: ClientLevel,
    name: string,
  ) => Promise<ClientDatabase | undefined>;
};

/** What a look at a datasource found. */
export type SyncedSource = { readonly tables: readonly SourceTable[]; readonly clientDatabases: ClientDatabases };

export type DatamartStore = NamedStore<Datamart> & {
  /** The datasource's datamart, where it has exactly one. */
  readonly findOnlyOf: (datasourceId: string) => Promise<Datamart | undefined>;
  /** As `findByName`, and nobody else changes it until the transaction ends. */
  readonly lockByName: (name: string) => Promise<Datamart | undefined>;
  /** Ordered by name. */
  readonly list: (page: Page | null) => Promise<readonly ListedDatamart[]>;
  /** With its semantic layer and the guest tokens that are scoped to it; workspaces connected to it stay, without a datamart. */
  readonly remove: (id: string) => Promise<void>;
};

export type ListedDatamart = { readonly datamart: Datamart; readonly datasourceName: string };

/** One layer for a datamart. */
export type SemanticLayerStore = {
  /** False where the datamart has one already. */
  readonly insert: (datamartId: string, layer: SemanticLayer) => Promise<boolean>;
  readonly update: (datamartId: string, layer: SemanticLayer) => Promise<void>;
  readonly findByDatamart: (datamartId: string) => Promise<SemanticLayer | undefined>;
  /** False where there was none. */
  readonly remove: (datamartId: string) => Promise<boolean>;
};
