/** Reads what a model says in words, and saves a model with its words. Neither is written over what others wrote. */
import { type Api, StudioError } from './api.js';
import { changeOf } from './model-edit.js';
import { type Described, type Notes, notesChange } from './model-notes.js';

const path = 'data-app/datamarts/semantic-layer';

export const readNotes = async (api: Api, datamartName: string, signal?: AbortSignal): Promise<Notes> => {
  const given = signal === undefined ? {} : { signal };
  return (await api.call<{ data: Notes }>('GET', path, { query: { datamartName }, ...given })).data;
};

const stale = (): Error =>
  new Error('Somebody changed this model meanwhile. Open it again in another tab, and make your change to it.');

const staleCodes = ['DATAMART_CHANGED', 'SEMANTIC_LAYER_CHANGED', 'SEMANTIC_LAYER_ALREADY_EXISTS'];

const writeNotes = async (api: Api, before: Notes, after: Described): Promise<void> => {
  const change = notesChange(before, after);
  if (change === undefined) return;
  const { lastUpdated } = before;
  const body = { datamartName: after.model.name, ...change };
  if (lastUpdated === null) await api.call('POST', path, { body });
  else await api.call('PUT', path, { body: { ...body, expectedLastUpdated: lastUpdated } });
};

/** Returns what the service warns of. Throws if somebody else changed the model or its words since they were read. */
export const saveModel = async (api: Api, before: Described, after: Described): Promise<readonly string[]> => {
  const { name } = after.model;
  // Both are refused if one is stale, so that no half of a change is written.
  if (notesChange(before.notes, after) !== undefined) {
    const { lastUpdated } = await readNotes(api, name);
    if (lastUpdated !== before.notes.lastUpdated) throw stale();
  }
  try {
    const warnings = after.model === before.model ? [] : await writeModel(api, after);
    await writeNotes(api, before.notes, after);
    return warnings;
  } catch (error) {
    if (error instanceof StudioError && staleCodes.includes(error.code)) throw stale();
    throw error;
  }
};

const writeModel = async (api: Api, { model }: Described): Promise<readonly string[]> => {
  const { warnings = [] } = await api.call<{ warnings?: readonly { readonly message?: string }[] }>(
    'PUT',
    'data-app/datamarts',
    { body: changeOf(model) },
  );
  return warnings.flatMap(({ message }) => message ?? []);
};
