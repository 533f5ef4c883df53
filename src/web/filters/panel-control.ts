/**
 * A control of a filter: a button that says the value, and a panel below it. The panel closes on a press elsewhere, when
 * the focus leaves, and by the Escape key.
 */
import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { downIcon } from '../base/icons.js';

export const panelControlStyles = css`
  /* As wide for each value, so that nothing beside it moves. */
  :host {
    width: 200px;
    max-width: 100%;
  }
  .anchor {
    position: relative;
    display: grid;
    gap: 4px;
  }
  .label {
    font-size: 12px;
    color: var(--gl-muted);
  }
  .anchor > .button {
    justify-content: space-between;
    width: 100%;
    min-width: 0;
    font-weight: 400;
  }
  .text {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .panel {
    position: absolute;
    z-index: 20;
    top: calc(100% + 6px);
    border: 1px solid var(--gl-border);
    border-radius: 10px;
    background: var(--gl-raised);
    box-shadow: 0 12px 32px rgb(0 0 0 / 18%);
  }
`;

export abstract class PanelControl extends LitElement {
  static override properties: PropertyDeclarations = {
    label: { attribute: false },
    isOpen: { state: true },
  };
  declare label: string;
  declare isOpen: boolean;

  constructor() {
    super();
    this.label = '';
    this.isOpen = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('pointerdown', this.#pressed);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('pointerdown', this.#pressed);
  }

  protected abstract panel(): TemplateResult;

  /** Called before the panel is shown. */
  protected abstract opening(): void;

  /** Called when a key is pressed while the panel is shown. Returns whether the key did something. */
  protected pressedKey(_event: KeyboardEvent): boolean {
    return false;
  }

  /** `chosen`: the value in words, in an element with the id `chosen`. */
  protected control(chosen: TemplateResult, opens: 'dialog' | 'listbox'): TemplateResult {
    return html`<div class="anchor" @keydown=${this.#keydown} @focusout=${this.#leave}>
      <span class="label" id="label">${this.label}</span>
      <button
        class="button" part="button control"
        type="button"
        aria-haspopup=${opens}
        aria-expanded=${this.isOpen ? 'true' : 'false'}
        aria-labelledby="label chosen"
        @click=${() => (this.isOpen ? this.close(true) : this.#open())}
      >
        ${chosen}${downIcon}
      </button>
      ${this.isOpen ? this.panel() : null}
    </div>`;
  }

  protected panelInSight(): void {
    this.renderRoot.querySelector('.panel')?.scrollIntoView({ block: 'nearest' });
  }

  protected close(isFocusBack: boolean): void {
    this.isOpen = false;
    if (isFocusBack) this.renderRoot.querySelector('button')?.focus();
  }

  #open(): void {
    this.isOpen = true;
    this.opening();
  }

  readonly #pressed = (event: Event): void => {
    if (this.isOpen && !event.composedPath().includes(this)) this.close(false);
  };

  readonly #leave = (event: FocusEvent): void => {
    const isInside = event.relatedTarget instanceof Node && this.renderRoot.contains(event.relatedTarget);
    if (this.isOpen && event.relatedTarget !== null && !isInside) this.close(false);
  };

  readonly #keydown = (event: KeyboardEvent): void => {
    if (!this.isOpen) {
      // A closed control leaves all other keys to the page.
      if (event.key === 'ArrowDown') this.#open();
      return;
    }
    if (event.key === 'Escape') this.close(true);
    else if (!this.pressedKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
