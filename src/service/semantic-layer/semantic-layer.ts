/** Operation 11: the semantic layer of a datamart. */
import { type Datamart, visibleDatamart } from '../../model/datamart/datamart.js';
import {
  completionScore,
  type SemanticLayer,
  type SemanticTable,
  type TableNotes,
  viewSemanticTables,
} from '../../model/datamart/semantic-layer.js';
import { writeSemanticTables } from '../../model/datamart/semantic-notes.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store; readonly clock: Clock };

export type WriteSemanticLayer = {
  readonly datamartName: string;
  readonly tables?: readonly TableNotes[] | undefined;
  readonly feedback?: string | null | undefined;
};

type Named = { readonly datamartName: string };

const loadDatamart = async (find: Store['datamarts']['findByName'], name: string): Promise<Datamart> => {
  const datamart = name === '' ? undefined : await find(name);
  if (datamart !== undefined) return datamart;
  throw new Refusal(
    'INVALID_DATAMART',
    name === ''
      ? 'datamartName: missing, expected the name of a datamart.'
      : `datamartName: there is no datamart named ${JSON.stringify(name)}; names are case-sensitive.`,
  );
};

const missing = (name: string): Refusal =>
  new Refusal(
    'SEMANTIC_LAYER_NOT_FOUND',
    `Datamart ${JSON.stringify(name)} has no semantic layer; create one with POST.`,
  );

const written = (
  datamart: Datamart,
  current: SemanticLayer | undefined,
  { tables, feedback }: WriteSemanticLayer,
  updatedAt: Date,
): SemanticLayer => ({
  tables: writeSemanticTables(datamart, current, tables ?? []),
  feedback: feedback === undefined ? (current?.feedback ?? null) : feedback === '' ? null : feedback,
  updatedAt,
});

/** Throws SEMANTIC_LAYER_ALREADY_EXISTS if the datamart has one: of two simultaneous calls, one succeeds. */
export const createSemanticLayer =
  ({ store, clock }: Deps) =>
  (_caller: ServiceCaller, command: WriteSemanticLayer): Promise<Datamart> =>
    store.transaction(async (inner) => {
      const datamart = await loadDatamart(inner.datamarts.lockByName, command.datamartName);
      const isThere = (await inner.semanticLayers.findByDatamart(datamart.id)) !== undefined;
      const layer = isThere ? undefined : written(datamart, undefined, command, clock.now());
      if (layer === undefined || !(await inner.semanticLayers.insert(datamart.id, layer))) {
        throw new Refusal(
          'SEMANTIC_LAYER_ALREADY_EXISTS',
          `Datamart ${JSON.stringify(datamart.name)} has a semantic layer already; update it with PUT.`,
        );
      }
      return datamart;
    });

export type UpdateSemanticLayer = WriteSemanticLayer & {
  /** The `lastUpdated` that the caller had read. Undefined: any. */
  readonly expectedLastUpdated?: string | undefined;
};

const assertUnchanged = (datamart: Datamart, { updatedAt }: SemanticLayer, expected: string | undefined): void => {
  if (expected === undefined || Date.parse(expected) === updatedAt.getTime()) return;
  throw new Refusal(
    'SEMANTIC_LAYER_CHANGED',
    `expectedLastUpdated: the semantic layer of datamart ${JSON.stringify(datamart.name)} was changed at ${updatedAt.toISOString()}. Read it again, and make the change to it.`,
  );
};

/** Returns a time after the last update, even if the clock went back, so that two versions never have the same time. */
const later = ({ updatedAt }: SemanticLayer, clock: Clock): Date =>
  new Date(Math.max(clock.now().getTime(), updatedAt.getTime() + 1));

/**
 * Changes the fields that the command contains. Throws SEMANTIC_LAYER_NOT_FOUND if there is no layer, and
 * SEMANTIC_LAYER_CHANGED if it is not the one that the caller had read.
 */
export const updateSemanticLayer =
  ({ store, clock }: Deps) =>
  (_caller: ServiceCaller, { expectedLastUpdated, ...command }: UpdateSemanticLayer): Promise<Datamart> =>
    store.transaction(async (inner) => {
      const datamart = await loadDatamart(inner.datamarts.lockByName, command.datamartName);
      const current = await inner.semanticLayers.findByDatamart(datamart.id);
      if (current === undefined) throw missing(datamart.name);
      assertUnchanged(datamart, current, expectedLastUpdated);
      await inner.semanticLayers.update(datamart.id, written(datamart, current, command, later(current, clock)));
      return datamart;
    });

/** The semantic layer for all of the datamart's tables. `updatedAt` is null if no layer is stored. */
export type ReadSemanticLayer = {
  readonly datamart: Datamart;
  readonly tables: readonly SemanticTable[];
  readonly feedback: string | null;
  readonly completionScore: number;
  readonly updatedAt: Date | null;
};

/** Returns the semantic layer; an empty one if none is stored. Throws INVALID_DATAMART. */
export const getSemanticLayer =
  ({ store }: Pick<Deps, 'store'>) =>
  async (_caller: ServiceCaller, { datamartName }: Named): Promise<ReadSemanticLayer> => {
    const datamart = await loadDatamart(store.datamarts.findByName, datamartName);
    const layer = await store.semanticLayers.findByDatamart(datamart.id);
    const tables = viewSemanticTables(datamart, layer);
    const feedback = layer?.feedback ?? null;
    return {
      datamart,
      tables,
      feedback,
      // Hidden tables and columns are described to nobody.
      completionScore: completionScore(viewSemanticTables(visibleDatamart(datamart), layer), feedback),
      updatedAt: layer?.updatedAt ?? null,
    };
  };

/** Throws INVALID_DATAMART, or SEMANTIC_LAYER_NOT_FOUND if there is no layer. */
export const deleteSemanticLayer =
  ({ store }: Pick<Deps, 'store'>) =>
  (_caller: ServiceCaller, { datamartName }: Named): Promise<Datamart> =>
    store.transaction(async (inner) => {
      // The lock makes the deletion wait until a running update ends.
      const datamart = await loadDatamart(inner.datamarts.lockByName, datamartName);
      if (!(await inner.semanticLayers.remove(datamart.id))) throw missing(datamart.name);
      return datamart;
    });
