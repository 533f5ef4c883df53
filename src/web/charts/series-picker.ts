/** Lets the reader choose which of many series a chart shows: a list with a search field. */
import { css, html, type TemplateResult } from 'lit';
import type { Text } from '../languages/text.js';
import type { Offered } from './model/plot.js';

export const seriesPickerStyles = css`
  .series {
    position: relative;
    flex: none;
    align-self: flex-start;
    margin-bottom: 4px;
    font-size: 12px;
  }
  .series summary {
    width: max-content;
    min-height: 26px;
    padding: 4px 6px;
    border-radius: 6px;
    color: var(--gl-muted);
    cursor: pointer;
  }
  .series fieldset {
    position: absolute;
    z-index: 4;
    width: min(260px, 80vw);
    min-width: 0;
    margin: 2px 0 0;
    padding: 8px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    color: var(--gl-text);
  }
  .series input[type='search'] {
    box-sizing: border-box;
    width: 100%;
    min-height: 28px;
    font: inherit;
  }
  .series .found {
    max-height: 160px;
    margin-top: 6px;
    overflow: auto;
  }
  .series label {
    display: flex;
    gap: 6px;
    align-items: center;
    min-height: 26px;
    overflow-wrap: anywhere;
  }
  .series p {
    margin: 6px 0 0;
  }
`;

type Picking = {
  readonly offered: Offered;
  readonly searched: string;
  readonly search: (text: string) => void;
  /** Null: the largest again. */
  readonly pick: (names: ReadonlySet<string> | null) => void;
};

/** Names in the list at most. The search reaches the others. */
const most = 100;

export const seriesPicker = ({ offered, searched, search, pick }: Picking, text: Text): TemplateResult => {
  const { all, shown, limit } = offered;
  const wanted = searched.trim().toLocaleLowerCase();
  const found = all.filter((name) => name.toLocaleLowerCase().includes(wanted));
  const isFull = shown.size >= limit;
  const change = (name: string): void => {
    const names = new Set(shown);
    if (!names.delete(name)) names.add(name);
    pick(names.size === 0 ? null : names);
  };
  return html`<details class="series" part="series">
    <summary>${text('Choose series')}</summary>
    <fieldset aria-label=${text('Choose series')}>
      <input type="search" part="input" aria-label=${text('Search')} placeholder=${text('Search')} .value=${searched}
        @input=${(event: InputEvent) => search((event.target as HTMLInputElement).value)} />
      <div class="found">
        ${found
          .slice(0, most)
          .map(
            (name) =>
              html`<label><input type="checkbox" .checked=${shown.has(name)} ?disabled=${isFull && !shown.has(name)} @change=${() => change(name)} />${name}</label>`,
          )}
      </div>
      ${found.length === 0 ? html`<p role="status">${text('Nothing found')}</p>` : null}
      ${isFull ? html`<p role="status">${text('At most {n} series at once', { n: limit })}</p>` : null}
      <p><button class="button" part="button" type="button" @click=${() => pick(null)}>${text('Show the largest')}</button></p>
    </fieldset>
  </details>`;
};
