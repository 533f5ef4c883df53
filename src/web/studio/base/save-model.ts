/** Reads what a model says in words, and saves a model with its words. Neither is written over what others wrote. */
import { type Api, StudioError } from './api.js';
import { bodyOf, type ModelDraft } from './drafted-model.js';
import { changeOf, type StoredModel } from './model-edit.js';
import { type Described, type Notes, notesChange } from './model-notes.js';

/** What the service has, as far as this page knows: as it was read, or as a save left it that failed half-way. */
export type Saved = Described & {
  /** The version of the model. After such a save it is newer than the one in `model`, which is the author's object. */
  readonly updatedAt: string;
  /** What the service said when the tables were saved. */
  readonly warnings: readonly string[];
};

export const asRead = (read: Described): Saved => ({ ...read, updatedAt: read.model.updatedAt, warnings: [] });

/** The tables are saved, and the words are not. A retry begins at `saved`, and so sends only the words. */
export class PartlySaved extends Error {
  override readonly name = 'PartlySaved';
  constructor(
    readonly saved: Saved,
    why: string,
  ) {
    super(
      `Tables, columns and relationships are saved. Descriptions, synonyms, types and notes are not saved yet: ${why}`,
    );
  }
}

export const readNotes = async (api: Api, datamartName: string, signal?: AbortSignal): Promise<Notes> => {
  return (await api.call('getSemanticLayer', { datamartName }, signal)).data;
};

/** Somebody else wrote what this page read. */
class Stale extends Error {
  override readonly name = 'Stale';
  constructor(what = 'this model') {
    super(`Somebody changed ${what} meanwhile. Open the model again in another tab, and make your change to it.`);
  }
}

const staleCodes = ['DATAMART_CHANGED', 'SEMANTIC_LAYER_CHANGED', 'SEMANTIC_LAYER_ALREADY_EXISTS'];

const orStale = (error: unknown): unknown =>
  error instanceof StudioError && staleCodes.includes(error.code) ? new Stale() : error;

/** Whether the words must be written. Throws if somebody else wrote other words since they were read. */
const areWordsLeft = async (api: Api, before: Saved, after: Described): Promise<boolean> => {
  if (notesChange(before.notes, after) === undefined) return false;
  const now = await readNotes(api, after.model.name);
  if (now.lastUpdated === before.notes.lastUpdated) return true;
  // The service has these words already: an earlier save wrote them, and its answer was lost.
  if (notesChange(now, after) === undefined) return false;
  throw new Stale();
};

const writeNotes = async (api: Api, before: Notes, after: Described): Promise<void> => {
  const { lastUpdated } = before;
  const body = { datamartName: after.model.name, ...notesChange(before, after) };
  if (lastUpdated === null) await api.call('createSemanticLayer', body);
  else await api.call('updateSemanticLayer', { ...body, expectedLastUpdated: lastUpdated });
};

const writeModel = async (api: Api, before: Saved, model: StoredModel): Promise<Saved> => {
  if (model === before.model) return before;
  const change = changeOf({ ...model, updatedAt: before.updatedAt });
  const { updatedAt = '', warnings = [] } = await api.call('updateDatamart', change);
  return { model, notes: before.notes, updatedAt, warnings: warnings.map(({ message }) => message) };
};

const partly = (saved: Saved, error: unknown): PartlySaved => {
  if (orStale(error) instanceof Stale) return new PartlySaved(saved, new Stale('them').message);
  const why = error instanceof Error ? error.message : String(error);
  return new PartlySaved(saved, `${why} Saving again sends only these.`);
};

/**
 * Saves what differs between both, and returns what the service warns of. Throws if somebody else changed the model or
 * its words since they were read, and {@link PartlySaved} if only the words could not be saved.
 */
export const saveModel = async (api: Api, before: Saved, after: Described): Promise<readonly string[]> => {
  let saved = before;
  try {
    // The words are looked at first, so that stale ones stop the save before anything is written.
    const areLeft = await areWordsLeft(api, before, after);
    saved = await writeModel(api, before, after.model);
    if (areLeft) await writeNotes(api, before.notes, after);
    return saved.warnings;
  } catch (error) {
    const areTablesSaved = saved.model === after.model && saved.updatedAt !== after.model.updatedAt;
    throw areTablesSaved ? partly(saved, error) : orStale(error);
  }
};

/** Creates the model of a draft. A workspace of the same name makes it one that dashboards can be built on. */
export const createModel = async (api: Api, draft: ModelDraft): Promise<void> => {
  const name = draft.name.trim();
  await api.call('createDatamart', bodyOf(draft));
  const { data } = await api.call('listWorkspaces', {});
  if (!data.some((workspace) => workspace.name === name))
    await api.call('createWorkspace', { name, connectionType: 'DATAMART', datamartName: name });
};
