/**
 * Saved views of a dashboard: a button, and a dialog in which a guest opens, saves, shares and deletes them. Holds the
 * list only; the dashboard holds the filters.
 */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { ListedView } from '../../model/guest/saved-view.js';
import type { FilterValues, GuestError } from '../base/client.js';
import { dialogStyles, dialogView } from '../base/dialog.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { createGuestView, deleteGuestView, listGuestViews, updateGuestView } from '../base/guest-operations.js';
import { bookmarkIcon, checkIcon, closeIcon, homeIcon, peopleIcon } from '../base/icons.js';
import { createLatest } from '../base/latest.js';
import type { CallOnDashboard } from '../base/operations.js';
import { baseStyles } from '../base/theme.js';
import { sameValues } from './filter-values.js';

const isView = (value: unknown): value is ListedView => value !== null && typeof value === 'object' && 'name' in value;

export class ViewsPanel extends LitElement {
  static override properties = {
    values: { attribute: false },
    format: { attribute: false },
    call: { attribute: false },
    canShare: { attribute: false },
    opened: { attribute: false },
    views: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  /** The filter values that are shown. */
  declare values: FilterValues;
  declare format: Format;
  declare call: CallOnDashboard;
  declare canShare: boolean;
  /** The view that the dashboard opens with. */
  declare opened: ListedView | null;
  declare views: readonly ListedView[] | undefined;
  declare problem: string | undefined;
  declare isBusy: boolean;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.values = {};
    this.canShare = false;
    this.opened = null;
    this.isBusy = false;
  }

  static override styles = [
    baseStyles,
    dialogStyles,
    css`
      dialog {
        width: min(440px, calc(100vw - 32px));
        max-height: min(640px, 88vh);
      }
      li,
      .save {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      ul {
        display: grid;
        gap: 2px;
        margin: 12px 0;
        padding: 0;
        list-style: none;
      }
      .open {
        flex: 1;
        display: flex;
        align-items: center;
        gap: 8px;
        min-width: 0;
        min-height: 36px;
        padding: 4px 8px;
        border: 0;
        border-radius: 8px;
        background: none;
        text-align: start;
        overflow-wrap: anywhere;
      }
      .open:hover,
      .open[aria-current] {
        background: var(--gl-subtle);
      }
      .open svg {
        flex: none;
      }
      .name {
        flex: 1;
        min-width: 0;
      }
      .open .quiet {
        font-size: 12px;
      }
      form {
        display: grid;
        gap: 10px;
        padding-top: 12px;
        border-top: 1px solid var(--gl-border);
      }
      label {
        font-size: 13px;
      }
      .save input {
        flex: 1;
        min-width: 0;
        min-height: 34px;
        padding: 0 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        font-size: 13px;
      }
      p {
        margin: 12px 0;
        font-size: 13px;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  override render(): TemplateResult {
    const { text } = this.format;
    const known = this.views ?? (this.opened === null ? [] : [this.opened]);
    const current = known.find((view) => sameValues(view.dashboardFilter, this.values));
    const content = html`${this.#list(current)}
      <p role="alert" ?hidden=${this.problem === undefined}>${this.problem}</p>
      ${this.#form()}`;
    return html`<button class="button" part="button" type="button" aria-haspopup="dialog" @click=${this.#open}>
        ${bookmarkIcon} ${current?.name ?? text('Views')}
      </button>
      ${dialogView({ text, title: text('Saved views'), content, closed: () => this.#latest.cancel() })}`;
  }

  #list(current: ListedView | undefined): TemplateResult {
    const { text } = this.format;
    if (this.views === undefined)
      return html`<p class="quiet" role="status">${this.problem === undefined ? text('Loading') : nothing}</p>`;
    if (this.views.length === 0) return html`<p class="quiet">${text('There are no saved views yet')}</p>`;
    return html`<ul>
      ${this.views.map((view) => this.#view(view, view === current))}
    </ul>`;
  }

  #view(view: ListedView, isCurrent: boolean): TemplateResult {
    const { text } = this.format;
    const { id, name, isShared, isDefault, isOwn } = view;
    const canChange = this.canShare || (isOwn && !isShared);
    const notes = [isShared ? text('Shared') : undefined, isDefault ? text('Default') : undefined].filter(Boolean);
    return html`<li>
      <button class="open" type="button" aria-current=${isCurrent ? 'true' : nothing} @click=${() => this.#choose(view)}>
        <span class="name">${name}</span>
        <span class="quiet">${notes.join(' · ')}</span>
        ${isCurrent ? checkIcon : nothing}
      </button>
      ${canChange ? this.#toggle(text('Open the dashboard with {name}', { name }), homeIcon, isDefault, () => this.#change(id, { isDefault: !isDefault })) : nothing}
      ${this.canShare && (isOwn || isShared) ? this.#toggle(text('Share {name} with everyone', { name }), peopleIcon, isShared, () => this.#change(id, { isShared: !isShared })) : nothing}
      ${
        canChange
          ? html`<button class="icon" part="icon-button" type="button" aria-label=${text('Delete {name}', { name })} ?disabled=${this.isBusy}
              @click=${() => this.#write((signal) => this.call(deleteGuestView, { viewId: id }, signal))}>${closeIcon}</button>`
          : nothing
      }
    </li>`;
  }

  #toggle(label: string, icon: TemplateResult, isOn: boolean, run: () => void): TemplateResult {
    return html`<button
      class="icon" part="icon-button"
      type="button"
      aria-label=${label}
      title=${label}
      aria-pressed=${isOn ? 'true' : 'false'}
      ?disabled=${this.isBusy}
      @click=${run}
    >${icon}</button>`;
  }

  #form(): TemplateResult {
    const { text } = this.format;
    return html`<form @submit=${this.#save}>
      <label for="name">${text('Save the current filters as a view')}</label>
      <div class="save">
        <input id="name" name="name" required maxlength="120" autocomplete="off" placeholder=${text('Name')} />
        <button class="button" part="button" ?disabled=${this.isBusy}>${text('Save')}</button>
      </div>
      ${
        this.canShare
          ? html`<label><input type="checkbox" name="isShared" /> ${text('Share with everyone')}</label>`
          : nothing
      }
    </form>`;
  }

  get #dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector('dialog');
  }

  readonly #open = (): void => {
    this.problem = undefined;
    this.#dialog?.showModal();
    this.#run((signal) => this.call(listGuestViews, {}, signal));
  };

  #choose(view: ListedView): void {
    this.#dialog?.close();
    this.dispatchEvent(new CustomEvent<ListedView>('view', { detail: view }));
  }

  #change(viewId: string, change: Readonly<Record<string, boolean>>): void {
    this.#write((signal) => this.call(updateGuestView, { viewId, ...change }, signal));
  }

  readonly #save = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    const given = new FormData(form);
    const name = String(given.get('name') ?? '').trim();
    if (name === '') return;
    const isShared = given.get('isShared') !== null;
    const input = { name, dashboardFilter: this.values, ...(isShared ? { isShared } : {}) };
    this.#write(
      (signal) => this.call(createGuestView, input, signal),
      () => form.reset(),
    );
  };

  /** Writes, and reads the list again. */
  #write(work: (signal: AbortSignal) => Promise<unknown>, done?: () => void): void {
    this.isBusy = true;
    this.#run(async (signal) => {
      await work(signal);
      done?.();
      return this.call(listGuestViews, {}, signal);
    });
  }

  #run(work: (signal: AbortSignal) => Promise<unknown>): void {
    void this.#latest.run(
      work,
      (data) => {
        this.isBusy = false;
        this.problem = undefined;
        this.views = Array.isArray(data) ? data.filter(isView) : [];
      },
      (error) => {
        this.isBusy = false;
        this.problem = this.#textOf(error);
      },
    );
  }

  #textOf(error: unknown): string {
    const { text } = this.format;
    const isTaken = error instanceof Error && (error as GuestError).code === 'VIEW_ALREADY_EXISTS';
    return isTaken ? text('There is a view of this name already') : failureText(error, text);
  }
}
