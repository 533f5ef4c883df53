/** `<guestlist-tabs>`: the titles of tabs, of a dashboard or of the editor. On paper, the title of one as a heading. */
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { keyAlong } from '../base/direction.js';
import { baseStyles } from '../base/theme.js';

/** A title, and what the event `choose` says of it. */
type Tab = { readonly tileId: string; readonly text: string };

const tabsStyles = css`
  :host {
    display: block;
    margin-bottom: var(--gl-gap);
    overflow-x: auto;
  }
  :host(:not(:first-child)) {
    margin-top: var(--gl-gap);
  }
  [role='tablist'] {
    display: flex;
    gap: 4px;
    border-bottom: 1px solid var(--gl-border);
  }
  [role='tab'] {
    flex: none;
    max-width: 280px;
    min-height: 36px;
    padding: 6px 14px;
    overflow: hidden;
    border: 0;
    border-bottom: 2px solid transparent;
    background: none;
    color: var(--gl-muted);
    font: inherit;
    font-weight: 600;
    text-overflow: ellipsis;
    white-space: nowrap;
    cursor: pointer;
  }
  [role='tab']:hover,
  [role='tab'][aria-selected='true'] {
    color: var(--gl-text);
  }
  [role='tab'][aria-selected='true'] {
    border-bottom-color: var(--gl-accent);
  }
  [role='tab']:focus-visible {
    outline-offset: -2px;
  }
  h3 {
    margin: 0;
    font-size: 17px;
    break-after: avoid;
  }
`;

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

export class TabsElement extends LitElement {
  static override properties = {
    tabs: { attribute: false },
    chosen: { attribute: false },
    printing: { type: Boolean },
  };
  declare tabs: readonly Tab[];
  declare chosen: Tab | undefined;
  declare printing: boolean;

  static override styles = [baseStyles, tabsStyles];

  constructor() {
    super();
    this.tabs = [];
    this.printing = false;
  }

  protected override render(): TemplateResult {
    if (this.printing) return html`<h3 part="heading">${this.tabs[0]?.text}</h3>`;
    return html`<div role="tablist" part="tabs" @keydown=${this.#pressed}>${this.tabs.map((tab) => this.#tab(tab))}</div>`;
  }

  #tab(tab: Tab): TemplateResult {
    const isChosen = tab.tileId === this.chosen?.tileId;
    return html`<button type="button" role="tab" part="tab" title=${tab.text} aria-selected=${isChosen ? 'true' : 'false'}
      tabindex=${isChosen ? 0 : -1} @click=${() => this.#choose(tab)}>${tab.text}</button>`;
  }

  /** The focus follows the choice, and a narrow page may not have room for all titles. */
  protected override updated(changed: PropertyValues<this>): void {
    const before = changed.get('chosen');
    // The same tab again must not move the page.
    if (before === undefined || before.tileId === this.chosen?.tileId) return;
    const tab = this.renderRoot.querySelector<HTMLElement>('[aria-selected="true"]');
    if (this.shadowRoot?.activeElement?.role === 'tab') tab?.focus();
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  readonly #pressed = (event: KeyboardEvent): void => {
    const key = keyAlong(event.key, this.matches(':dir(rtl)'));
    const at = this.tabs.findIndex(({ tileId }) => tileId === this.chosen?.tileId);
    const tab = this.tabs[steps[key]?.(at, this.tabs.length - 1) ?? -1];
    if (tab === undefined) return;
    event.preventDefault();
    this.#choose(tab);
  };

  #choose({ tileId }: Tab): void {
    this.dispatchEvent(new CustomEvent<string>('choose', { detail: tileId }));
  }
}
