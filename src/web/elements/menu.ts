/** A menu that opens at a place of the page, in the browser's top layer. Closes by choice, Escape, Tab or a click elsewhere. */
import { css, html, LitElement } from 'lit';
import { baseStyles } from '../base/theme.js';

export type MenuItem = { readonly label: string; readonly run: () => void };
export type MenuPlace = { readonly x: number; readonly y: number };

const gapToEdge = 8;

export class Menu extends LitElement {
  static override properties = { label: { state: true }, items: { state: true } };
  declare label: string;
  declare items: readonly MenuItem[];

  #opener: HTMLElement | null = null;

  constructor() {
    super();
    this.label = '';
    this.items = [];
  }

  static override styles = [
    baseStyles,
    css`
      :host {
        position: absolute;
      }
      [role='menu'] {
        position: fixed;
        inset: auto;
        min-width: 180px;
        max-width: min(340px, calc(100vw - 16px));
        margin: 0;
        padding: 5px;
        border: 1px solid var(--gl-border);
        border-radius: 10px;
        background: var(--gl-raised);
        color: var(--gl-text);
        box-shadow: 0 12px 32px rgb(0 0 0 / 18%);
      }
      p {
        margin: 0;
        padding: 4px 10px 6px;
        font-size: 12px;
        color: var(--gl-muted);
        overflow-wrap: anywhere;
      }
      [role='menuitem'] {
        display: block;
        width: 100%;
        min-height: 32px;
        padding: 5px 10px;
        border: 0;
        border-radius: 6px;
        background: none;
        text-align: start;
        overflow-wrap: anywhere;
      }
      [role='menuitem']:hover,
      [role='menuitem']:focus-visible {
        background: var(--gl-subtle);
      }
      [role='menuitem']:focus-visible {
        outline-offset: -2px;
      }
    `,
  ];

  /** Opens the menu at a place of the viewport. `opener` gets the focus back when the menu closes. */
  open(label: string, items: readonly MenuItem[], at: MenuPlace, opener: HTMLElement | null): void {
    this.label = label;
    this.items = items;
    this.#opener = opener;
    void this.updateComplete.then(() => this.#show(at));
  }

  override render() {
    if (this.items.length === 0) return null;
    return html`<div part="menu" role="menu" aria-label=${this.label} popover="auto" @keydown=${this.#keyed} @toggle=${this.#toggled}>
      <p role="presentation">${this.label}</p>
      ${this.items.map(
        (
          item,
        ) => html`<button type="button" part="menu-item" role="menuitem" tabindex="-1" @click=${() => this.#choose(item)}>
          ${item.label}
        </button>`,
      )}
    </div>`;
  }

  get #menu(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>('[role=menu]');
  }

  get #buttons(): readonly HTMLElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement>('[role=menuitem]')];
  }

  #show({ x, y }: MenuPlace): void {
    const menu = this.#menu;
    if (menu === null) return;
    menu.showPopover();
    const { width, height } = menu.getBoundingClientRect();
    const within = (at: number, size: number, room: number) =>
      Math.max(gapToEdge, Math.min(at, room - size - gapToEdge));
    menu.style.left = `${within(x, width, innerWidth)}px`;
    menu.style.top = `${within(y, height, innerHeight)}px`;
    this.#buttons[0]?.focus();
  }

  #choose({ run }: MenuItem): void {
    this.#close();
    run();
  }

  #close(): void {
    this.#menu?.hidePopover();
    this.items = [];
    // The opener may be gone: a table draws its cells again.
    if (this.#opener?.isConnected) this.#opener.focus();
    this.#opener = null;
  }

  readonly #toggled = (event: Event): void => {
    if (event instanceof ToggleEvent && event.newState === 'closed' && this.items.length > 0) this.#close();
  };

  readonly #keyed = (event: KeyboardEvent): void => {
    const buttons = this.#buttons;
    const root = this.renderRoot;
    const at = buttons.findIndex((button) => root instanceof ShadowRoot && root.activeElement === button);
    const last = buttons.length - 1;
    const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) buttons[to]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}
