/** What the use cases need to keep of datamarts and their semantic layers. */
import type { Datamart } from './datamart.js';
import type { SemanticLayer } from './semantic-layer.js';
import type { NamedStore, Page } from './stores.js';

export type DatamartStore = NamedStore<Datamart> & {
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
