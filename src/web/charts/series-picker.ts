/** Lets the reader choose which of many series a chart shows: a list with a search field. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';
import { matcher } from '../base/search.js';
import { searchField } from '../base/search-field.js';
import { baseStyles } from '../base/theme.js';
import type { Offered } from './model/plot.js';

const styles = css`
  :host {
    flex: none;
  }
  .series {
    position: relative;
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

/** Names in the list at most. The search reaches the others. */
const most = 100;

/** Fires `pick` with the keys of the series that the reader chose; null: the largest again. */
export class SeriesPicker extends LitElement {
  static override properties = {
    offered: { attribute: false },
    text: { attribute: false },
    searched: { state: true },
  };
  declare offered: Offered;
  declare text: Text;
  declare searched: string;

  constructor() {
    super();
    this.searched = '';
  }

  static override styles = [baseStyles, styles];

  #pick(keys: ReadonlySet<string> | null): void {
    this.dispatchEvent(new CustomEvent('pick', { detail: keys }));
  }

  #change(key: string): void {
    const keys = new Set(this.offered.shown);
    if (!keys.delete(key)) keys.add(key);
    this.#pick(keys.size === 0 ? null : keys);
  }

  override render(): TemplateResult {
    const { text } = this;
    const { all, shown, limit } = this.offered;
    const isWanted = matcher(this.searched);
    const found = all.filter(({ name }) => isWanted(name));
    const search = (searched: string) => {
      this.searched = searched;
    };
    const isFull = shown.size >= limit;
    const entry = ({ key, name }: Offered['all'][number]): TemplateResult =>
      html`<label><input type="checkbox" .checked=${shown.has(key)} ?disabled=${isFull && !shown.has(key)} @change=${() => this.#change(key)} />${name}</label>`;
    return html`<details class="series" part="series">
      <summary>${text('Choose series')}</summary>
      <fieldset aria-label=${text('Choose series')}>
        ${searchField({ label: text('Search'), value: this.searched, search })}
        <div class="found">${found.slice(0, most).map(entry)}</div>
        ${found.length === 0 ? html`<p role="status">${text('Nothing found')}</p>` : null}
        ${isFull ? html`<p role="status">${text('At most {n} series at once', { n: limit })}</p>` : null}
        <p><button class="button" part="button" type="button" @click=${() => this.#pick(null)}>${text('Show the largest')}</button></p>
      </fieldset>
    </details>`;
  }
}
