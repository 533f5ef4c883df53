/** The form of a report or an alert. It holds a draft; the service decides whether it makes sense. */
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { AlertCondition } from '../../domain/deliver/alert.js';
import type { Audience } from '../../domain/deliver/recipients.js';
import type { ReportFormat } from '../../domain/deliver/schedule.js';
import type { GuestMetric } from '../../domain/guest/view.js';
import type { FilterValues } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { baseStyles } from '../base/theme.js';
import { sameValues } from '../filters/filter-values.js';
import { formStyles } from './form-styles.js';
import type { RecipientsField } from './recipients-field.js';
import {
  bodyOf,
  type Channel,
  channelWay,
  conditionsFor,
  type Draft,
  draftOf,
  type Every,
  type Faults,
  type Field,
  faultsOf,
  newDraft,
  type SentSchedule,
  sentWay,
  takesChannel,
  takesContent,
  wayOf,
} from './schedule-draft.js';
import { conditionName, everyName, formatName, namedDays, ownTimezone } from './schedule-words.js';

/** Rejects with the service's refusal. */
export type SaveSchedule = (plan: ReturnType<typeof bodyOf>, signal: AbortSignal) => Promise<void>;
type Choice = readonly [value: string, label: string];

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
        ? newDraft(kind, this.metrics, ownTimezone(), this.filters)
        : draftOf(this.schedule, this.metrics);
  }

  override firstUpdated(): void {
    this.renderRoot.querySelector('input')?.focus();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#latest.cancel();
  }

  override render(): TemplateResult | typeof nothing {
    const { draft } = this;
    const { text } = this.format;
    if (draft === undefined) return nothing;
    return html`<form @submit=${this.#submit} @input=${this.#changed}>
      <p role="alert" class="fault" ?hidden=${this.faults.form === undefined}>${this.faults.form}</p>
      ${this.#input('name', text('Name'), 'text', { required: true })}
      ${this.isAlert ? this.#alertFields(draft) : this.#reportFields(draft)}
      ${this.#when(draft)}
      ${this.#way(draft)}
      ${this.isAlert ? this.#quietHours(draft) : nothing}
      ${this.schedule === undefined ? nothing : this.#input('mutedUntil', text('Muted until'), 'datetime-local')}
      <div class="buttons">
        <button class="button" part="button" type="button" @click=${this.#cancel}>${text('Cancel')}</button>
        <button class="button" part="button" aria-disabled=${this.isBusy ? 'true' : nothing}>${text('Save')}</button>
      </div>
    </form>`;
  }

  #reportFields(draft: Draft): TemplateResult {
    const { text } = this.format;
    // A format that is no longer offered stays visible until it is changed.
    const kinds = [...new Set([...this.formats.filter((format) => format !== 'alert'), draft.format])];
    return html`${this.#select(
      'format',
      text('Format'),
      kinds.map((kind) => [kind, formatName(kind, text)]),
    )}
      ${takesContent(draft) ? this.#content(draft) : nothing}`;
  }

  #content(draft: Draft): TemplateResult {
    const { text } = this.format;
    const isOther = !sameValues(draft.filters, this.filters);
    const take = () => {
      this.draft = { ...draft, filters: this.filters };
    };
    return html`<fieldset aria-describedby=${this.#describedBy('filters')}>
        <legend>${text('Filters')}</legend>
        <p class="quiet">${this.notesOf(draft.filters).join(' · ') || text('No filters set')}</p>
        ${isOther ? html`<div><button class="button" part="button" type="button" @click=${take}>${text('Use the filters that are set now')}</button></div>` : nothing}
        ${this.#fault('filters')}
      </fieldset>
      <fieldset aria-describedby=${this.#describedBy('metricIds')}>
        <label class="check"><input type="checkbox" name="hasOwnCards" .checked=${draft.hasOwnCards} /> ${text('Only some cards')}</label>
        ${
          draft.hasOwnCards
            ? html`<div class="days">${this.metrics.map(
                ({ metricId, name }) =>
                  html`<label class="check"><input type="checkbox" name="metricIds" value=${metricId} .checked=${draft.metricIds.includes(metricId)} /> ${name}</label>`,
              )}</div>`
            : nothing
        }
        ${this.#fault('metricIds')}
      </fieldset>`;
  }

  #alertFields(draft: Draft): TemplateResult {
    const { text } = this.format;
    const metric = this.#metric(draft);
    const isChange = draft.is === 'changeAbove' || draft.is === 'changeBelow';
    const isLevel = draft.is === 'above' || draft.is === 'below';
    const bases: readonly Choice[] = [
      ['lastCheck', text('The last check')],
      ['previousPeriod', text('The period before')],
    ];
    return html`<div class="pair">
        ${this.#select(
          'metricId',
          text('Card'),
          this.metrics.map(({ metricId, name }) => [metricId, name]),
        )}
        ${this.#select(
          'measure',
          text('Measure'),
          (metric?.chart.measures ?? []).map((measure) => [measure, measure]),
        )}
      </div>
      <div class="pair">
        ${this.#select(
          'is',
          text('Tell me if it'),
          conditionsFor(metric).map((is) => [is, conditionName(is, text)]),
        )}
        ${isChange || isLevel ? this.#input('value', isChange ? text('Percent') : text('Value'), 'number', { required: true }) : nothing}
        ${isChange ? this.#select('to', text('Compared with'), bases) : nothing}
      </div>`;
  }

  #when(draft: Draft): TemplateResult {
    const { text } = this.format;
    const kinds: readonly Every[] = [
      ...(this.isAlert ? (['hour'] as const) : []),
      ...(['workday', 'day', 'week', 'month', 'cron'] as const),
    ];
    const hasTime = draft.every !== 'hour' && draft.every !== 'cron';
    return html`<div class="pair">
        ${this.#select(
          'every',
          this.isAlert ? text('Check') : text('Send'),
          kinds.map((kind) => [kind, everyName(kind, text)]),
        )}
        ${draft.every === 'month' ? this.#dayOfMonth() : nothing}
        ${hasTime ? this.#input('at', text('Time'), 'time', { required: true }) : nothing}
        ${draft.every === 'cron' ? this.#input('cron', text('Cron expression'), 'text', { required: true }) : nothing}
      </div>
      ${draft.every === 'week' ? this.#days(draft) : nothing}
      ${this.#input('timezone', text('Time zone'), 'text', { required: true, list: 'zones' })}
      <datalist id="zones">${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value=${zone}></option>`)}</datalist>`;
  }

  #dayOfMonth(): TemplateResult {
    const { text } = this.format;
    const numbers = Array.from({ length: 31 }, (_, index): Choice => [String(index + 1), String(index + 1)]);
    return this.#select('day', text('Day'), [...numbers, ['last', text('Last day')]]);
  }

  #days(draft: Draft): TemplateResult {
    return html`<fieldset aria-describedby=${this.#describedBy('on')}>
      <legend>${this.format.text('Days')}</legend>
      <div class="days">
        ${namedDays(this.format).map(
          ([day, name]) =>
            html`<label class="check"><input type="checkbox" name="on" value=${day} .checked=${draft.on.includes(day)} /> ${name}</label>`,
        )}
      </div>
      ${this.#fault('on')}
    </fieldset>`;
  }

  #way(draft: Draft): TemplateResult | typeof nothing {
    const { text } = this.format;
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
    return html`${this.#select('way', text('Send to'), choices)}
      ${wayOf(draft) === 'others' ? this.#recipients(draft) : nothing}`;
  }

  #recipients({ recipients }: Draft): TemplateResult {
    const chosen = ({ target }: Event) => {
      const { draft } = this;
      if (draft === undefined) return;
      this.draft = { ...draft, recipients: (target as RecipientsField).value };
      this.#forgive('recipients');
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

  #quietHours(draft: Draft): TemplateResult {
    const { text } = this.format;
    return html`<fieldset aria-describedby=${this.#describedBy('quietHours')}>
      <label class="check"><input type="checkbox" name="hasQuietHours" .checked=${draft.hasQuietHours} /> ${text('Quiet hours')}</label>
      ${
        draft.hasQuietHours
          ? html`<div class="pair">
              ${this.#input('quietFrom', text('From'), 'time', { required: true })}
              ${this.#input('quietTo', text('To'), 'time', { required: true })}
            </div>`
          : nothing
      }
      ${this.#fault('quietHours')}
    </fieldset>`;
  }

  #input(
    name: keyof Draft,
    label: string,
    type: string,
    { required = false, list }: { readonly required?: boolean; readonly list?: string } = {},
  ): TemplateResult {
    return html`<div class="field">
      <label for=${name}>${label}</label>
      <input
        id=${name} name=${name} type=${type} part="input"
        .value=${String(this.draft?.[name] ?? '')}
        ?required=${required}
        maxlength=${type === 'text' ? 120 : nothing}
        step=${type === 'number' ? 'any' : nothing}
        list=${list ?? nothing}
        autocomplete="off"
        aria-invalid=${this.faults[name] === undefined ? nothing : 'true'}
        aria-describedby=${this.#describedBy(name)}
      />
      ${this.#fault(name)}
    </div>`;
  }

  #select(name: keyof Draft | 'way', label: string, choices: readonly Choice[]): TemplateResult {
    const chosen = name === 'way' ? this.draft && wayOf(this.draft) : this.draft?.[name];
    return html`<div class="field">
      <label for=${name}>${label}</label>
      <select
        id=${name} name=${name} part="input"
        aria-invalid=${this.faults[name] === undefined ? nothing : 'true'}
        aria-describedby=${this.#describedBy(name)}
      >${choices.map(([value, shown]) => html`<option value=${value} .selected=${live(value === chosen)}>${shown}</option>`)}</select>
      ${this.#fault(name)}
    </div>`;
  }

  #describedBy(name: Field) {
    return this.faults[name] === undefined ? nothing : `${name}-fault`;
  }

  #fault(name: Field): TemplateResult | typeof nothing {
    const fault = this.faults[name];
    return fault === undefined ? nothing : html`<p class="fault" id="${name}-fault">${fault}</p>`;
  }

  #metric({ metricId }: Draft): GuestMetric | undefined {
    return this.metrics.find((metric) => metric.metricId === metricId);
  }

  readonly #changed = ({ target }: Event): void => {
    const { draft } = this;
    const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (draft === undefined || !isField) return;
    const name = target.name as keyof Draft | 'way';
    const isOn = target instanceof HTMLInputElement && target.checked;
    if (name === 'way') {
      this.draft = { ...draft, ...sentWay(target.value) };
    } else if (name === 'on' || name === 'metricIds') {
      const others = draft[name].filter((each) => each !== target.value);
      this.draft = { ...draft, [name]: isOn ? [...others, target.value] : others };
    } else {
      const isSwitch = name === 'hasQuietHours' || name === 'hasOwnCards';
      this.draft = this.#fitting({ ...draft, [name]: isSwitch ? isOn : target.value }, name);
    }
    this.#forgive(name);
  };

  /** Takes back what was said against a field. */
  #forgive(name: Field): void {
    const { [name]: _, form: __, quietHours: ___, ...others } = this.faults;
    this.faults = others;
  }

  /** Another card has other measures and conditions. */
  #fitting(draft: Draft, changed: keyof Draft): Draft {
    if (changed !== 'metricId') return draft;
    const metric = this.#metric(draft);
    const measures = metric?.chart.measures ?? [];
    const conditions: readonly AlertCondition['is'][] = conditionsFor(metric);
    return {
      ...draft,
      measure: measures.includes(draft.measure) ? draft.measure : (measures[0] ?? ''),
      is: conditions.includes(draft.is) ? draft.is : 'below',
    };
  }

  readonly #cancel = (): void => {
    this.dispatchEvent(new CustomEvent('end'));
  };

  readonly #submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const { draft } = this;
    if (draft === undefined || this.isBusy) return;
    this.isBusy = true;
    this.faults = {};
    void this.#latest.run(
      (signal) => this.save(bodyOf(draft), signal),
      () => {
        this.isBusy = false;
        this.dispatchEvent(new CustomEvent('end'));
      },
      (error) => {
        this.isBusy = false;
        this.#refused(error);
      },
    );
  };

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
