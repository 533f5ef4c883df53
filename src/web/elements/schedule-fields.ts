/**
 * The fields of a schedule, for the forms of guests and of hosts: name, format, cards, the condition of an alert, and when.
 * Each form adds whom it goes to. A form keeps its draft by `changed` (schedule-draft.ts).
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { ReportFormat } from '../../model/schedule/schedule.js';
import type { Format } from '../base/format.js';
import { type Choice, options } from '../base/options.js';
import type { Card, Draft, Every } from './schedule-draft.js';
import { conditionName, everyName, formatName, namedDays } from './schedule-words.js';

export type Form = {
  readonly format: Format;
  readonly draft: Draft;
  /** What is refused, by the names of the controls. */
  readonly faults: Readonly<Record<string, string | undefined>>;
  readonly cards: readonly Card[];
  readonly words: Readonly<Record<'card' | 'cards' | 'someCards' | 'tellIf', string>> & { readonly cronHint?: string };
};

const hasFault = ({ faults }: Form, name: string): boolean => faults[name] !== undefined;
const idOf = (name: string): string => encodeURIComponent(name);
const faultIdOf = (name: string): string => `${idOf(name)}-fault`;
const invalid = (form: Form, name: string) => (hasFault(form, name) ? 'true' : nothing);
export const describedBy = (form: Form, name: string) => (hasFault(form, name) ? faultIdOf(name) : nothing);
export const fault = (form: Form, name: string): TemplateResult | typeof nothing =>
  hasFault(form, name) ? html`<p class="fault" role="alert" id=${faultIdOf(name)}>${form.faults[name]}</p>` : nothing;

const labelled = (form: Form, name: string, label: string, hint: string | undefined, control: TemplateResult) =>
  html`<div class="field">
    <label for=${idOf(name)}>${label}${hint === undefined ? nothing : html` <span class="hint">${hint}</span>`}</label>
    ${control} ${fault(form, name)}
  </div>`;

const heldBy = ({ draft }: Form, name: string): string => String(draft[name as keyof Draft] ?? '');

/** `value`: left out, that of the draft's field. */
type More = {
  readonly type?: 'number' | 'time' | 'datetime-local';
  readonly value?: string;
  readonly hint?: string | undefined;
  readonly isRequired?: boolean;
  readonly list?: string;
  readonly placeholder?: string;
};
export const input = (
  form: Form,
  name: string,
  label: string,
  { type, value = heldBy(form, name), hint, isRequired = false, list, placeholder }: More = {},
): TemplateResult =>
  labelled(
    form,
    name,
    label,
    hint,
    html`<input id=${idOf(name)} name=${name} type=${type ?? 'text'} part="input" .value=${value} ?required=${isRequired}
      maxlength=${type === undefined ? 255 : nothing} step=${type === 'number' ? 'any' : nothing} list=${list ?? nothing}
      placeholder=${placeholder ?? nothing} autocomplete="off"
      aria-invalid=${invalid(form, name)} aria-describedby=${describedBy(form, name)} />`,
  );

/** A field of several lines. */
export const lines = (form: Form, name: string, label: string, hint: string, value: string): TemplateResult =>
  labelled(
    form,
    name,
    label,
    hint,
    html`<textarea id=${idOf(name)} name=${name} rows=${Math.min(6, value.split('\n').length + 1)} .value=${value}
      aria-invalid=${invalid(form, name)} aria-describedby=${describedBy(form, name)}></textarea>`,
  );

export const select = (
  form: Form,
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen = heldBy(form, name),
): TemplateResult =>
  labelled(
    form,
    name,
    label,
    undefined,
    html`<select id=${idOf(name)} name=${name} part="input"
      aria-invalid=${invalid(form, name)} aria-describedby=${describedBy(form, name)}
    >${options(choices, chosen)}</select>`,
  );

const toggle = ({ draft }: Form, name: 'hasOwnCards' | 'hasQuietHours', label: string): TemplateResult =>
  html`<label class="check"><input type="checkbox" name=${name} .checked=${draft[name]} /> ${label}</label>`;

/** A refusal of the choice is of its first box, so that the focus finds it. */
const checks = (form: Form, name: 'on' | 'metricIds', choices: readonly Choice[]): TemplateResult => {
  const chosen: readonly string[] = form.draft[name];
  return html`<div class="days">${choices.map(
    ([value, label], at) => html`<label class="check"><input type="checkbox" name=${name} value=${value}
      .checked=${chosen.includes(value)} aria-invalid=${at === 0 ? invalid(form, name) : nothing} /> ${label}</label>`,
  )}</div>`;
};

export const formatField = (form: Form, formats: readonly ReportFormat[]): TemplateResult => {
  const { text } = form.format;
  return select(
    form,
    'format',
    text('Format'),
    formats.map((each) => [each, formatName(each, text)]),
  );
};

/** The cards of a file. */
export const cardsField = (
  form: Form,
): TemplateResult => html`<fieldset aria-describedby=${describedBy(form, 'metricIds')}>
    <legend>${form.words.cards}</legend>
    ${toggle(form, 'hasOwnCards', form.words.someCards)}
    ${
      form.draft.hasOwnCards
        ? checks(
            form,
            'metricIds',
            form.cards.map(({ metricId, name }) => [metricId, name]),
          )
        : nothing
    }
    ${fault(form, 'metricIds')}
  </fieldset>`;

/** What an alert tells. */
export const alertFields = (form: Form): TemplateResult => {
  const { text } = form.format;
  const { draft, cards, words } = form;
  const card = cards.find(({ metricId }) => metricId === draft.metricId);
  const isChange = draft.is === 'changeAbove' || draft.is === 'changeBelow';
  const isLevel = draft.is === 'above' || draft.is === 'below';
  const bases: readonly Choice[] = [
    ['lastCheck', text('The last check')],
    ['previousPeriod', text('The period before')],
  ];
  return html`<div class="pair">
      ${select(
        form,
        'metricId',
        words.card,
        cards.map(({ metricId, name }) => [metricId, name]),
      )}
      ${select(
        form,
        'measure',
        text('Measure'),
        (card?.measures ?? []).map((measure) => [measure, measure]),
      )}
    </div>
    <div class="pair">
      ${select(
        form,
        'is',
        words.tellIf,
        (card?.conditions ?? []).map((is) => [is, conditionName(is, text)]),
      )}
      ${isChange || isLevel ? input(form, 'value', isChange ? text('Percent') : text('Value'), { type: 'number', isRequired: true }) : nothing}
      ${isChange ? select(form, 'to', text('Compared with'), bases) : nothing}
    </div>`;
};

export const quietField = (form: Form): TemplateResult => {
  const { text } = form.format;
  const time = { type: 'time', isRequired: true } as const;
  return html`<fieldset>
    ${toggle(form, 'hasQuietHours', text('Quiet hours'))}
    ${
      form.draft.hasQuietHours
        ? html`<div class="pair">${input(form, 'quietFrom', text('From'), time)} ${input(form, 'quietTo', text('To'), time)}</div>`
        : nothing
    }
  </fieldset>`;
};

/** When it is sent. Hours are for alerts. */
export const whenFields = (form: Form): TemplateResult => {
  const { text } = form.format;
  const { every, format } = form.draft;
  const isAlert = format === 'alert';
  const isRequired = true;
  const kinds: readonly Every[] = [
    ...(isAlert ? (['hour'] as const) : []),
    ...(['workday', 'day', 'week', 'month', 'cron'] as const),
  ];
  return html`<div class="pair">
      ${select(
        form,
        'every',
        isAlert ? text('Check') : text('Send'),
        kinds.map((kind) => [kind, everyName(kind, text)]),
      )}
      ${every === 'month' ? dayOfMonth(form) : nothing}
      ${every === 'hour' || every === 'cron' ? nothing : input(form, 'at', text('Time'), { type: 'time', isRequired })}
      ${every === 'cron' ? input(form, 'cron', text('Cron expression'), { isRequired, hint: form.words.cronHint }) : nothing}
    </div>
    ${every === 'week' ? weekdaysField(form) : nothing}
    ${input(form, 'timezone', text('Time zone'), { isRequired, list: 'zones' })}
    <datalist id="zones">${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value=${zone}></option>`)}</datalist>`;
};

const dayOfMonth = (form: Form): TemplateResult => {
  const { text } = form.format;
  const numbers = Array.from({ length: 31 }, (_, index): Choice => [String(index + 1), String(index + 1)]);
  return select(form, 'day', text('Day'), [...numbers, ['last', text('Last day')]]);
};

const weekdaysField = (form: Form): TemplateResult => html`<fieldset aria-describedby=${describedBy(form, 'on')}>
    <legend>${form.format.text('Days')}</legend>
    ${checks(form, 'on', namedDays(form.format))} ${fault(form, 'on')}
  </fieldset>`;
