/** The part of `stores.ts` that is about where rows come from: datasources, datamarts with their semantic layers, workspaces. */
import type { Datamart } from './datamart.js';
import type { Datasource, DatasourceSummary, Workspace } from './organization.js';
import type { SemanticLayer } from './semantic-layer.js';
import type { ClientDatabases, ClientLevel, SourceTable } from './source-schema.js';
import type { NamedStore, Page } from './stores.js';
import type { ClientDatabase } from './tenant.js';

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
