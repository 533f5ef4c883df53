/** A dialog that asks for a heading, a text, a picture or the title of a tab. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TileContent } from '../../../model/dashboard/tile.js';
import { openDialog } from '../base/kit.js';
import { pictureOf } from './picture.js';

export type TileKind = TileContent['kind'];

export const kindNames: Readonly<Record<TileKind, string>> = {
  heading: 'heading',
  text: 'text',
  image: 'picture',
  tab: 'tab',
};

const textOf = (given: TileContent | undefined): string =>
  given === undefined ? '' : given.kind === 'image' ? given.alt : given.text;

const fields = (kind: TileKind, given: TileContent | undefined): TemplateResult => {
  const value = textOf(given);
  if (kind === 'text')
    return html`<label>Text <span class="hint">- lists, **bold**, *italics*, [links](https://…)</span>
      <textarea name="text" rows="8" maxlength="10000" required autofocus .value=${value}></textarea></label>`;
  if (kind !== 'image')
    return html`<label>${kind === 'tab' ? 'Title of the tab' : 'Heading'}
      <input name="text" maxlength="200" required autofocus autocomplete="off" .value=${value} /></label>
      ${kind === 'tab' ? html`<p class="soft">What stands below it, down to the next tab, is on the tab. What stands above the first tab is always shown.</p>` : nothing}`;
  return html`<label>Picture <span class="hint">png, jpeg or webp; a large one is made smaller${given === undefined ? '' : '; empty: as it is'}</span>
      <input type="file" name="picture" accept="image/png,image/jpeg,image/webp" ?required=${given === undefined} /></label>
    <label>What it shows <span class="hint">for those who do not see it</span>
      <input name="text" maxlength="300" required autocomplete="off" .value=${value} /></label>`;
};

const contentOf = async (kind: TileKind, form: FormData, given: TileContent | undefined): Promise<TileContent> => {
  const text = String(form.get('text') ?? '').trim();
  if (text === '') throw new Error('Write something: spaces alone show nothing.');
  if (kind !== 'image') return { kind, text };
  const file = form.get('picture');
  const kept = given?.kind === 'image' ? given.source : undefined;
  if (file instanceof File && file.size > 0) return { kind, source: await pictureOf(file), alt: text };
  if (kept === undefined) throw new Error('Choose a picture.');
  return { kind, source: kept, alt: text };
};

/** Resolves to null if the author changes nothing. */
export const askTile = async (kind: TileKind, given?: TileContent): Promise<TileContent | null> => {
  const title = given === undefined ? `Add a ${kindNames[kind]}` : `Change the ${kindNames[kind]}`;
  let made: TileContent | null = null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      made = await contentOf(kind, new FormData(event.target as HTMLFormElement), given);
      dialog.close();
    } catch (error) {
      draw(form(error instanceof Error ? error.message : String(error)));
    }
  };
  const form = (problem?: string): TemplateResult =>
    html`<form class="form" @submit=${submit}>
      <h2>${title}</h2>
      ${fields(kind, given)}
      ${problem === undefined ? nothing : html`<p class="failure" role="alert">${problem}</p>`}
      <div class="buttons"><button type="button" class="quiet" @click=${() => dialog.close()}>Cancel</button>
        <button>${given === undefined ? 'Add' : 'Change'}</button></div>
    </form>`;
  const { dialog, draw, closed } = openDialog(title, form());
  await closed;
  return made;
};
