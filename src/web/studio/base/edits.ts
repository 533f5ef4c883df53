/**
 * The changes that this author makes to one template: each is written over what was read, merged with what others wrote
 * meanwhile, and can be taken back and made again.
 */
import { type Api, StudioError } from './api.js';
import {
  type Choices,
  type Content,
  type Merged,
  mergeContent,
  readContent,
  type Template,
  type TemplateData,
  writeContent,
} from './content.js';
import { recordEdition } from './editions.js';

/** One change, with the content right before and right after it. */
type Edit = { readonly text: string; readonly before: Content; readonly after: Content };

/** `isAlone`: nobody else wrote before `after` was read. Otherwise taking the change back would take theirs back too. */
type Written = Omit<Edit, 'text'> & { readonly isAlone: boolean };

/** Asks the author about a merge. Null: the author drops the change. */
export type AskMerge = (merge: (choices: Choices) => Promise<Merged>) => Promise<Merged | null>;

type Place = { readonly api: Api; readonly template: Template; readonly ask: AskMerge };

/**
 * Writes `next`, which the author made from `base`. Returns the contents right before and right after. Throws if the
 * author drops the change.
 */
const write = async ({ api, template, ask }: Place, base: Content, next: TemplateData): Promise<Written> => {
  let [before, data, digest] = [base, next, base.digest];
  for (;;) {
    try {
      const { digest: written } = await writeContent(api, template, data, digest);
      await recordEdition(api, template.dashboardId);
      const after = await readContent(api, template);
      return { before, after, isAlone: after.digest === written };
    } catch (error) {
      if (!(error instanceof StudioError) || error.code !== 'DASHBOARD_CHANGED') throw error;
      const merged = await ask((choices) => mergeContent(api, template, base.data, next, choices));
      if (merged === null) {
        const told = 'Your change is not saved. The dashboard is as the other author left it.';
        throw new StudioError(error.code, told, error.status);
      }
      ({ data, digest } = merged);
      before = await readContent(api, template);
    }
  }
};

export class Edits {
  #past: readonly Edit[] = [];
  #future: readonly Edit[] = [];

  /** What would be taken back. Undefined: nothing. */
  get undoable(): string | undefined {
    return this.#past.at(-1)?.text;
  }

  /** What would be made again. Undefined: nothing. */
  get redoable(): string | undefined {
    return this.#future.at(-1)?.text;
  }

  /** Returns the content as it is then. */
  async make(place: Place, text: string, base: Content, next: TemplateData): Promise<Content> {
    const { before, after, isAlone } = await write(place, base, next);
    if (isAlone) this.#past = [...this.#past, { text, before, after }];
    this.#future = [];
    return after;
  }

  /** Takes the last change back. What others wrote since stays. Returns its text. Undefined: there is none. */
  async undo(place: Place): Promise<string | undefined> {
    const edit = this.#past.at(-1);
    if (edit === undefined) return undefined;
    const { before, after, isAlone } = await write(place, edit.after, edit.before.data);
    this.#past = this.#past.slice(0, -1);
    if (isAlone) this.#future = [...this.#future, { ...edit, before: after, after: before }];
    return edit.text;
  }

  /** Makes the change again that was taken back last. Returns its text. Undefined: there is none. */
  async redo(place: Place): Promise<string | undefined> {
    const edit = this.#future.at(-1);
    if (edit === undefined) return undefined;
    const { before, after, isAlone } = await write(place, edit.before, edit.after.data);
    this.#future = this.#future.slice(0, -1);
    if (isAlone) this.#past = [...this.#past, { ...edit, before, after }];
    return edit.text;
  }
}

const kept = new Map<string, Edits>();

/** The edits of a template. They stay while this page of Studio is open. */
export const editsOf = ({ workspaceName, dashboardId }: Template): Edits => {
  const key = JSON.stringify([workspaceName, dashboardId]);
  const edits = kept.get(key) ?? new Edits();
  kept.set(key, edits);
  return edits;
};
