/**
 * The dashboards that the token opens, as a list to choose from; on narrow screens behind a button. The service says which
 * they are, by the same checks as reading each, so the list has none that the token does not open.
 */
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { GuestClient } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { listGuestEmbeds } from '../base/guest-operations.js';
import { downIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import { baseStyles } from '../base/theme.js';

export type OpenedDashboard = { readonly dashboardId: string; readonly name: string };

/** Fires `open` with the dashboard that the guest chose. */
export class SideBar extends LitElement {
  static override properties = {
    client: { attribute: false },
    format: { attribute: false },
    current: { attribute: false },
    name: { attribute: false },
    dashboards: { state: true },
    isUnfolded: { state: true },
    failure: { state: true },
  };
  /** Reads with the token that the dashboard is read with. */
  declare client: GuestClient;
  declare format: Format;
  /** The id by which the page or the guest opened the shown dashboard. */
  declare current: string;
  /** The name of the shown dashboard; undefined while it is read. */
  declare name: string | undefined;
  declare dashboards: readonly OpenedDashboard[];
  /** Whether the list is open on a narrow screen. */
  declare isUnfolded: boolean;
  declare failure: unknown;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.dashboards = [];
    this.isUnfolded = false;
  }

  static override styles = [
    baseStyles,
    css`
      :host {
        position: relative;
      }
      .label {
        margin: 6px 10px 8px;
        color: var(--gl-muted);
        font-size: 12px;
        font-weight: 600;
      }
      ul {
        display: grid;
        gap: 2px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      li button {
        width: 100%;
        min-height: 34px;
        padding: 6px 10px;
        border: 0;
        border-inline-start: 3px solid transparent;
        border-radius: 6px;
        background: none;
        text-align: start;
        overflow-wrap: anywhere;
      }
      li button:hover {
        background: var(--gl-subtle);
      }
      li button[aria-current] {
        background: var(--gl-subtle);
        border-inline-start-color: var(--gl-accent);
        font-weight: 600;
      }
      .fold {
        display: none;
      }
      .failed {
        margin: 0;
        padding: 0 10px;
        font-size: 13px;
        color: var(--gl-danger);
      }
      .failed .button {
        margin-block-start: 8px;
        color: var(--gl-text);
      }
      @container (width <= 900px) {
        .label {
          display: none;
        }
        .fold {
          display: flex;
          width: 100%;
          max-width: 420px;
        }
        .fold span {
          overflow: hidden;
          text-overflow: ellipsis;
          white-space: nowrap;
        }
        .fold svg {
          flex: none;
          margin-inline-start: auto;
        }
        .fold[aria-expanded='true'] svg {
          transform: rotate(180deg);
        }
        .list {
          position: absolute;
          z-index: 6;
          inset-inline: 0;
          top: calc(100% + 4px);
          max-width: 420px;
          max-height: 60vh;
          overflow: auto;
          padding: 6px;
          border: 1px solid var(--gl-border);
          border-radius: 10px;
          background: var(--gl-raised);
          box-shadow: 0 12px 32px rgb(0 0 0 / 14%);
        }
        .list[data-folded] {
          display: none;
        }
        li button {
          min-height: 40px;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('pointerdown', this.#pointed);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('pointerdown', this.#pointed);
    this.#latest.cancel();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('client')) this.#read();
  }

  override render(): TemplateResult {
    const { text } = this.format;
    const { isUnfolded, dashboards } = this;
    const shown = this.#shown;
    return html`<nav part="side-bar" aria-label=${text('Dashboards')} @keydown=${this.#pressed} @focusout=${this.#left}>
      <p class="label" aria-hidden="true">${text('Dashboards')}</p>
      <button class="button fold" part="button" type="button" aria-expanded=${isUnfolded} aria-controls="list" @click=${this.#fold}>
        <span class="quiet">${text('Dashboards')}</span> <span>${shown?.name ?? this.name}</span>${downIcon}
      </button>
      <div class="list" id="list" ?data-folded=${!isUnfolded}>
        ${this.failure === undefined ? nothing : this.#failed()}
        <ul>${dashboards.map((each) => this.#item(each, each === shown))}</ul>
      </div>
    </nav>`;
  }

  /** A page may name the dashboard of an embed by an id of its own, which the list does not have. */
  get #shown(): OpenedDashboard | undefined {
    const { dashboards, current, name } = this;
    return (
      dashboards.find(({ dashboardId }) => dashboardId === current) ?? dashboards.find((each) => each.name === name)
    );
  }

  #item(dashboard: OpenedDashboard, isShown: boolean): TemplateResult {
    return html`<li><button part="menu-item" type="button" aria-current=${isShown ? 'page' : nothing}
      @click=${() => this.#choose(dashboard, isShown)}>${dashboard.name}</button></li>`;
  }

  #failed(): TemplateResult {
    const { text } = this.format;
    return html`<div class="failed" role="alert">${failureText(this.failure, text)}
      <button class="button" part="button" type="button" @click=${this.#read}>${text('Try again')}</button></div>`;
  }

  /** Of an earlier token, nothing stays that this one is not known to open. */
  readonly #read = (): void => {
    this.failure = undefined;
    void this.#latest.run(
      (signal) => this.client.call(listGuestEmbeds, {}, signal),
      ({ dashboards }) => {
        this.dashboards = dashboards.map(({ dashboardId, name }) => ({ dashboardId, name }));
      },
      (error) => {
        this.dashboards = [];
        this.failure = error;
      },
    );
  };

  #choose({ dashboardId, name }: OpenedDashboard, isShown: boolean): void {
    if (this.isUnfolded) this.#close();
    if (!isShown) this.dispatchEvent(new CustomEvent<OpenedDashboard>('open', { detail: { dashboardId, name } }));
  }

  readonly #fold = (): void => {
    this.isUnfolded = !this.isUnfolded;
  };

  /** The focus goes back to the button, as the list is hidden. */
  #close(): void {
    this.isUnfolded = false;
    this.renderRoot.querySelector<HTMLElement>('.fold')?.focus();
  }

  readonly #pressed = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape' && this.isUnfolded) this.#close();
  };

  readonly #pointed = (event: Event): void => {
    if (!event.composedPath().includes(this)) this.isUnfolded = false;
  };

  /** Some browsers give a clicked button no focus: then the focus goes nowhere, and the list stays open. */
  readonly #left = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget instanceof Node && !this.renderRoot.contains(relatedTarget)) this.isUnfolded = false;
  };
}
