/** The form of a report or an alert. It holds a draft; the service decides whether it makes sense. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { GuestMetric } from '../../model/guest/view.js';
import type { Audience } from '../../model/schedule/recipients.js';
import type { ReportFormat } from '../../model/schedule/schedule.js';
import type { FilterValues } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import type { Choice } from '../base/options.js';
import { baseStyles } from '../base/theme.js';
import { sameValues } from '../filters/filter-values.js';
import { formStyles } from './form-styles.js';
import type { SentPreview } from './mail-preview.js';
import type { RecipientsField } from './recipients-field.js';
import {
  bodyOf,
  type Channel,
  cardOf,
  changed,
  channelWay,
  type Draft,
  draftOf,
  type Faults,
  faultsOf,
  forgiven,
  newDraft,
  type SentSchedule,
  takesChannel,
  takesContent,
  wayOf,
} from './schedule-draft.js';
import {
  alertFields,
  cardsField,
  describedBy,
  type Form,
  fault,
  formatField,
  input,
  quietField,
  select,
  whenFields,
} from './schedule-fields.js';
import { ownTimezone } from './schedule-words.js';

/** Rejects with the service's refusal. */
export type SaveSchedule = (plan: ReturnType<typeof bodyOf>, signal: AbortSignal) => Promise<void>;
/** The mail of a plan that is not saved. Rejects with the service's refusal. */
export type PreviewSchedule = (plan: ReturnType<typeof bodyOf>, signal: AbortSignal) => Promise<SentPreview>;

const messageOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && error.code === 'INVALID_REQUEST_BODY' ? error.message : undefined;

export class ScheduleForm extends LitElement {
  static override properties = {
    format: { attribute: false },
    metrics: { attribute: false },
    formats: { attribute: false },
    channels: { attribute: false },
    audience: { attribute: false },
    filters: { attribute: false },
    notesOf: { attribute: false },
    schedule: { attribute: false },
    isAlert: { attribute: false },
    save: { attribute: false },
    preview: { attribute: false },
    mail: { state: true },
    draft: { state: true },
    faults: { state: true },
    isBusy: { state: true },
  };
  declare format: Format;
  declare metrics: readonly GuestMetric[];
  /** What the service offers. */
  declare formats: readonly ReportFormat[];
  declare channels: readonly Channel[];
  /** Whom the guest may send it to; null: nobody else. */
  declare audience: Audience | null;
  /** The filters that are set on the dashboard now. */
  declare filters: FilterValues;
  /** Filters in the reader's words. */
  declare notesOf: (filters: FilterValues) => readonly string[];
  /** What is changed; undefined: a new one. */
  declare schedule: SentSchedule | undefined;
  declare isAlert: boolean;
  declare save: SaveSchedule;
  declare preview: PreviewSchedule;
  /** The mail of the draft as it is; undefined: nobody asked to see it. */
  declare mail: SentPreview | undefined;
  declare draft: Draft | undefined;
  declare faults: Faults;
  declare isBusy: boolean;

  readonly #latest = createLatest();

  constructor() {
    super();
    this.metrics = [];
    this.formats = [];
    this.channels = [];
    this.audience = null;
    this.filters = {};
    this.notesOf = () => [];
    this.isAlert = false;
    this.faults = {};
    this.isBusy = false;
  }

  static override styles = [
    baseStyles,
    formStyles,
    css`
      form {
        display: grid;
        gap: 12px;
        min-width: 0;
      }
      .pair {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(160px, 100%), 1fr));
        gap: 12px;
        align-items: start;
      }
      .buttons {
        display: flex;
        flex-wrap: wrap;
        justify-content: flex-end;
        gap: 8px;
      }
    `,
  ];

  override willUpdate(): void {
    const kind = this.isAlert ? 'alert' : (this.formats.find((format) => format !== 'alert') ?? 'pdf');
    this.draft ??=
      this.schedule === undefined
        ? newDraft(kind, this.#cards, ownTimezone(), this.filters)
        : draftOf(this.schedule, this.#cards);
  }

  get #cards() {
    return this.metrics.map(cardOf);
  }

  override firstUpdated(): void {
    this.renderRoot.querySelector('input')?.focus();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  override render(): TemplateResult | typeof nothing {
    const { draft, faults, format } = this;
    const { text } = format;
    if (draft === undefined) return nothing;
    const words = {
      ...{ card: text('Card'), cards: text('Cards'), someCards: text('Only some cards') },
      tellIf: text('Tell me if it'),
    };
    const form = { format, draft, faults, cards: this.#cards, words };
    return html`<form @submit=${this.#submit} @input=${this.#changed}>
      <p role="alert" class="fault" ?hidden=${faults.form === undefined}>${faults.form}</p>
      ${input(form, 'name', text('Name'), { isRequired: true })}
      ${this.isAlert ? alertFields(form) : this.#reportFields(form)}
      ${whenFields(form)}
      ${this.#way(form)}
      ${this.isAlert ? quietField(form) : nothing}
      ${this.schedule === undefined ? nothing : input(form, 'mutedUntil', text('Muted until'), { type: 'datetime-local' })}
      ${this.mail === undefined ? nothing : html`<guestlist-mail-preview .format=${format} .mail=${this.mail}></guestlist-mail-preview>`}
      <div class="buttons">
        ${draft.channel === '' ? html`<button class="button" part="button" type="button" aria-disabled=${this.isBusy ? 'true' : nothing} @click=${this.#look}>${text('Preview')}</button>` : nothing}
        <button class="button" part="button" type="button" @click=${this.#cancel}>${text('Cancel')}</button>
        <button class="button" part="button" aria-disabled=${this.isBusy ? 'true' : nothing}>${text('Save')}</button>
      </div>
    </form>`;
  }

  #reportFields(form: Form): TemplateResult {
    const { draft } = form;
    // A format that is no longer offered stays visible until it is changed.
    const kinds = [...new Set([...this.formats.filter((format) => format !== 'alert'), draft.format])];
    return html`${formatField(form, kinds)}
      ${takesContent(draft) ? html`${this.#filtersField(form)} ${cardsField(form)}` : nothing}`;
  }

  #filtersField(form: Form): TemplateResult {
    const { text } = this.format;
    const { draft } = form;
    const isOther = !sameValues(draft.filters, this.filters);
    const take = () => {
      this.draft = { ...draft, filters: this.filters };
      this.mail = undefined;
    };
    return html`<fieldset aria-describedby=${describedBy(form, 'filters')}>
      <legend>${text('Filters')}</legend>
      <p class="quiet">${this.notesOf(draft.filters).join(' · ') || text('No filters set')}</p>
      ${isOther ? html`<div><button class="button" part="button" type="button" @click=${take}>${text('Use the filters that are set now')}</button></div>` : nothing}
      ${fault(form, 'filters')}
    </fieldset>`;
  }

  #way(form: Form): TemplateResult | typeof nothing {
    const { text } = this.format;
    const { draft } = form;
    // What is no longer granted stays visible until it is changed.
    const own = draft.channel === '' ? [] : [draft.channel];
    const names = takesChannel(draft) ? [...new Set([...own, ...this.channels.map(({ name }) => name)])] : [];
    const hasOthers = this.audience !== null || draft.isForOthers;
    if (names.length === 0 && !hasOthers) return nothing;
    const choices: readonly Choice[] = [
      ['', text('Me, by e-mail')],
      ...(hasOthers ? [['others', text('Others, by e-mail')] as const] : []),
      ...names.map((name): Choice => [channelWay(name), name]),
    ];
    return html`${select(form, 'way', text('Send to'), choices, wayOf(draft))}
      ${wayOf(draft) === 'others' ? this.#recipients(draft) : nothing}`;
  }

  #recipients({ recipients }: Draft): TemplateResult {
    const chosen = ({ target }: Event) => {
      const { draft } = this;
      if (draft === undefined) return;
      this.draft = { ...draft, recipients: (target as RecipientsField).value };
      this.mail = undefined;
      this.faults = forgiven(this.faults, 'recipients');
    };
    return html`<guestlist-recipients
      .format=${this.format}
      .audience=${this.audience ?? { users: [], roles: [], domains: [] }}
      .value=${recipients}
      .unconfirmed=${this.schedule?.unconfirmed ?? []}
      .fault=${this.faults.recipients}
      class=${this.faults.recipients === undefined ? nothing : 'refused'}
      @choose=${chosen}
    ></guestlist-recipients>`;
  }

  readonly #changed = ({ target }: Event): void => {
    const { draft } = this;
    const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (draft === undefined || !isField) return;
    const { name, value } = target;
    const checked = target instanceof HTMLInputElement && target.checked;
    this.draft = changed(draft, { name, value, checked }, this.#cards);
    this.mail = undefined;
    this.faults = forgiven(this.faults, name);
  };

  readonly #cancel = (): void => {
    this.dispatchEvent(new CustomEvent('end'));
  };

  readonly #submit = (event: SubmitEvent): void => {
    event.preventDefault();
    this.#ask(
      (draft, signal) => this.save(bodyOf(draft), signal),
      () => this.dispatchEvent(new CustomEvent('end')),
    );
  };

  readonly #look = (): void => {
    this.#ask(
      (draft, signal) => this.preview(bodyOf(draft), signal),
      (mail, of) => {
        // What was changed meanwhile has another message.
        if (this.draft !== of) return;
        this.mail = mail;
        void this.updateComplete.then(() =>
          this.renderRoot.querySelector('guestlist-mail-preview')?.scrollIntoView({ block: 'nearest' }),
        );
      },
    );
  };

  #ask<T>(work: (draft: Draft, signal: AbortSignal) => Promise<T>, done: (answer: T, of: Draft) => void): void {
    const { draft } = this;
    if (draft === undefined || this.isBusy) return;
    this.isBusy = true;
    this.faults = {};
    void this.#latest.run(
      (signal) => work(draft, signal),
      (answer) => {
        this.isBusy = false;
        done(answer, draft);
      },
      (error) => {
        this.isBusy = false;
        this.#refused(error);
      },
    );
  }

  /** The focus goes to the first field that the service names. */
  #refused(error: unknown): void {
    const { text } = this.format;
    const message = messageOf(error);
    const faults = message === undefined ? { form: failureText(error, text) } : faultsOf(message);
    this.faults = Object.fromEntries(
      Object.entries(faults).map(([field, said]) => [
        field,
        message === undefined ? said : text('Check this: {message}', { message: said }),
      ]),
    );
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>('[aria-invalid], .refused')?.focus(),
    );
  }
}
