/** A button that opens a menu of downloads. Fires `choose` with the kind of file. */
import { css, html, LitElement } from 'lit';
import type { Text } from '../../model/texts/text.js';
import { downloadIcon } from '../base/icons.js';
import { baseStyles } from '../base/theme.js';

const downloads = ['csv', 'xlsx', 'png', 'svg'] as const;
export type DownloadKind = (typeof downloads)[number];

const names: Readonly<Record<DownloadKind, (text: Text) => string>> = {
  csv: () => 'CSV',
  xlsx: () => 'Excel (XLSX)',
  png: (text) => text('Picture ({type})', { type: 'PNG' }),
  svg: (text) => text('Picture ({type})', { type: 'SVG' }),
};

export class DownloadMenu extends LitElement {
  static override properties = {
    label: { attribute: false },
    text: { attribute: false },
    isOpen: { state: true },
  };
  /** The name of what is downloaded. */
  declare label: string;
  declare text: Text;
  declare isOpen: boolean;

  constructor() {
    super();
    this.label = '';
    this.isOpen = false;
  }

  static override styles = [
    baseStyles,
    css`
      :host {
        position: relative;
      }
      [role='menu'] {
        position: absolute;
        z-index: 6;
        inset-block-start: 100%;
        inset-inline-end: 0;
        min-width: max-content;
        margin: 2px 0 0;
        padding: 4px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-raised);
        box-shadow: 0 8px 24px rgb(0 0 0 / 14%);
      }
      [role='menuitem'] {
        display: block;
        width: 100%;
        padding: 7px 12px;
        border: 0;
        border-radius: 6px;
        background: none;
        font-size: 13px;
        text-align: start;
      }
      [role='menuitem']:hover,
      [role='menuitem']:focus-visible {
        background: var(--gl-subtle);
      }
    `,
  ];

  override render() {
    const { text } = this;
    const name = text('{name}: {value}', { name: text('Download'), value: this.label });
    return html`<div @keydown=${this.#keyed} @focusout=${this.#left}>
      <button
        class="icon" part="icon-button"
        type="button"
        aria-label=${name}
        title=${text('Download')}
        aria-haspopup="menu"
        aria-expanded=${this.isOpen ? 'true' : 'false'}
        @click=${() => this.#toggle(!this.isOpen)}
      >${downloadIcon}</button>
      ${
        this.isOpen
          ? html`<div part="menu" role="menu" aria-label=${name}>
              ${downloads.map((kind) => html`<button part="menu-item" role="menuitem" type="button" tabindex="-1" @click=${() => this.#choose(kind)}>${names[kind](text)}</button>`)}
            </div>`
          : null
      }
    </div>`;
  }

  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has('isOpen') && this.isOpen) this.#items()[0]?.focus();
  }

  #items(): readonly HTMLElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  }

  #toggle(isOpen: boolean): void {
    this.isOpen = isOpen;
    if (!isOpen) this.renderRoot.querySelector<HTMLElement>('button.icon')?.focus();
  }

  #choose(kind: DownloadKind): void {
    this.#toggle(false);
    this.dispatchEvent(new CustomEvent<DownloadKind>('choose', { detail: kind }));
  }

  readonly #left = ({ relatedTarget }: FocusEvent): void => {
    if (!(relatedTarget instanceof Node) || !this.renderRoot.contains(relatedTarget)) this.isOpen = false;
  };

  readonly #keyed = (event: KeyboardEvent): void => {
    if (!this.isOpen) return;
    const items = this.#items();
    const at = items.indexOf(
      this.renderRoot instanceof ShadowRoot ? (this.renderRoot.activeElement as HTMLElement) : this,
    );
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === 'Escape') this.#toggle(false);
    else if (next === undefined) return;
    else items[next % items.length]?.focus();
    event.preventDefault();
  };
}
