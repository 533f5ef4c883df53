/** A dialog that asks for a report to all tenants: what, to whom and when. */
import { html, nothing, render, type TemplateResult } from 'lit';
import type { Alert } from '../../../domain/deliver/alert.js';
import type { Recurrence, Weekday } from '../../../domain/deliver/recurrence.js';
import { type Draft, draftOf, hourly, newDraft, takesContent } from '../../elements/schedule-draft.js';
import { datePresets } from '../../filters/filter-values.js';
import type { Template } from '../base/content.js';
import {
  controlFaults,
  endsOf,
  filterControl,
  formats,
  type HostReport,
  leastControl,
  mostControl,
  type NewReport,
  planOf,
  textOf,
} from '../base/report-plan.js';
import type { TemplateFilter, TemplateMetric } from '../base/template.js';

const dayNames: Readonly<Record<Weekday, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};
const everyNames = {
  hour: 'every hour',
  workday: 'Monday to Friday',
  day: 'every day',
  week: 'every week',
  month: 'every month',
  cron: 'as a cron expression says',
};

/** When a report is sent, in few words. */
export const recurrenceText = (recurrence: Recurrence): string => {
  const { timezone } = recurrence;
  if ('cron' in recurrence) return `${recurrence.cron === hourly ? everyNames.hour : recurrence.cron} (${timezone})`;
  const on =
    recurrence.every === 'week'
      ? recurrence.on.map((day) => dayNames[day]).join(', ')
      : recurrence.every === 'month'
        ? `day ${recurrence.day} of the month`
        : everyNames[recurrence.every];
  return `${on}, ${recurrence.at} (${timezone})`;
};

/** What an alert tells, in few words. */
export const alertText = ({ metricId, measure, condition }: Alert): string => {
  const words = `${measure} of ${metricId} ${conditions[condition.is]}`;
  if ('value' in condition) return `${words} ${condition.value}`;
  if (!('percent' in condition)) return words;
  const than = condition.to === 'lastCheck' ? 'the last check' : 'the period before';
  return `${words} ${Math.abs(condition.percent)} %, compared with ${than}`;
};

/** What a report of a template can hold. */
export type ReportParts = {
  readonly metrics: readonly Pick<TemplateMetric, 'metricId' | 'name' | 'definition'>[];
  readonly filters: readonly TemplateFilter[];
};

type Asked = {
  /** What may be sent; of a report that is changed, its template. */
  readonly templates: readonly Pick<Template, 'dashboardId' | 'name'>[];
  /** Of a report that is changed. */
  readonly given?: HostReport;
  /** Rejects if the template cannot be read: its metrics and filters then stay as they are. */
  readonly partsOf: (dashboardId: string) => Promise<ReportParts>;
  /** Rejects if the server refuses the report: the dialog then stays and says why. */
  readonly save: (report: NewReport) => Promise<void>;
};

type State = {
  /** What the dialog began with, and the choices that decide which fields it has. */
  draft: Draft;
  /** `reading`: not known yet. */
  parts: ReportParts | 'reading' | { readonly problem: string };
  faults: Readonly<Record<string, string>>;
  isBusy: boolean;
};

const textOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const filtersIn = ({ parts }: State): readonly TemplateFilter[] | undefined =>
  typeof parts === 'object' && 'filters' in parts ? parts.filters : undefined;

/** The metrics of the template are read later, so the draft of an alert is given its own. */
const draftOfReport = (given: HostReport): Draft => ({
  ...draftOf({ ...given, mutedUntil: null, recipients: null }, []),
  ...(given.alert && { metricId: given.alert.metricId, measure: given.alert.measure }),
});

const startOf = ({ templates, given }: Asked): State => ({
  draft: given ? draftOfReport(given) : newDraft('pdf', [], Intl.DateTimeFormat().resolvedOptions().timeZone),
  parts: templates.length === 0 ? { metrics: [], filters: [] } : 'reading',
  faults: {},
  isBusy: false,
});

/** What a choice changes in the dialog. What is changed is no longer refused. */
const choose = (state: State, { name, value, checked }: Pick<HTMLInputElement, 'name' | 'value' | 'checked'>): void => {
  state.faults = Object.fromEntries(Object.entries(state.faults).filter(([control]) => control !== name));
  const { every } = state.draft;
  if (['every', 'format', 'is', 'metricId'].includes(name)) state.draft = { ...state.draft, [name]: value };
  if (name === 'hasOwnCards' || name === 'hasQuietHours') state.draft = { ...state.draft, [name]: checked };
  // Hours are for alerts.
  if (name === 'format' && every === 'hour' && value !== 'alert') state.draft = { ...state.draft, every: 'workday' };
};

/** Resolves when the dialog is closed. */
const shown = (dialog: HTMLDialogElement): Promise<void> =>
  new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });

/** Resolves when the report is saved, or the dialog is closed. */
export const askReport = (asked: Asked): Promise<void> => {
  const { templates, partsOf, save } = asked;
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'report-title');
  const state = startOf(asked);
  const read = async (dashboardId: string): Promise<void> => {
    state.parts = 'reading';
    const parts = await partsOf(dashboardId).catch((error: unknown) => ({ problem: textOfError(error) }));
    // Meanwhile another template may have been chosen.
    if ((dialog.querySelector<HTMLSelectElement>('[name=dashboardId]')?.value ?? dashboardId) !== dashboardId) return;
    state.parts = parts;
    draw();
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (state.isBusy || state.parts === 'reading') return;
    state.isBusy = true;
    try {
      await save(planOf(new FormData(event.target as HTMLFormElement), state.draft, filtersIn(state)));
      dialog.close();
    } catch (error) {
      state.faults = controlFaults(textOfError(error), filtersIn(state) ?? []);
    } finally {
      state.isBusy = false;
      draw();
      dialog.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    }
  };
  const changed = (event: Event): void => {
    const target = event.target as HTMLInputElement;
    choose(state, target);
    if (target.name === 'dashboardId') void read(target.value);
    draw();
  };
  const draw = (): void => {
    const close = () => dialog.close();
    render(html`<form class="form" @submit=${submit} @input=${changed}>${fields(asked, state, close)}</form>`, dialog);
  };
  if (templates[0] !== undefined) void read(templates[0].dashboardId);
  draw();
  return shown(dialog);
};

const fields = ({ templates, given }: Asked, state: State, close: () => void): TemplateResult => {
  const { draft, faults } = state;
  return html`<h2 id="report-title">${given === undefined ? 'Report to all tenants' : 'Change the report'}</h2>
    ${whatFields(templates, given, state)}
    ${draft.format === 'alert' ? alertFields(state) : takesContent(draft) ? contentFields(state) : nothing}
    ${whomFields(given, state)}
    ${whenFields(state)}
    ${faults.form === undefined ? nothing : html`<p class="failure" role="alert">${faults.form}</p>`}
    <div class="buttons"><button type="button" class="quiet" @click=${close}>Cancel</button>
      <button>${given === undefined ? 'Schedule' : 'Save'}</button></div>`;
};

const option = (value: string, text: string, chosen: string | undefined): TemplateResult =>
  html`<option value=${value} ?selected=${value === chosen}>${text}</option>`;

const idOf = (control: string): string => `fault-of-${encodeURIComponent(control)}`;
const invalid = ({ faults }: State, control: string) => (faults[control] === undefined ? nothing : 'true');
const describedBy = ({ faults }: State, control: string) => (faults[control] === undefined ? nothing : idOf(control));
const fault = ({ faults }: State, control: string): TemplateResult | typeof nothing =>
  faults[control] === undefined
    ? nothing
    : html`<p class="fault" role="alert" id=${idOf(control)}>${faults[control]}</p>`;

/** A labelled control, with the refusal of what it holds. */
type Labelled = { readonly label: string; readonly hint?: string; readonly value: string; readonly isRequired?: true };
const input = (
  state: State,
  name: string,
  { label, hint, value, isRequired }: Labelled,
  more: { readonly type?: string; readonly list?: string; readonly placeholder?: string } = {},
): TemplateResult => html`<div><label>${label} ${hint === undefined ? nothing : html`<span class="hint">${hint}</span>`}
    <input name=${name} type=${more.type ?? 'text'} step=${more.type === 'number' ? 'any' : nothing} list=${more.list ?? nothing} placeholder=${more.placeholder ?? nothing}
      ?required=${isRequired} maxlength=${more.type === undefined ? 255 : nothing} autocomplete="off" .value=${value}
      aria-invalid=${invalid(state, name)} aria-describedby=${describedBy(state, name)} /></label>${fault(state, name)}</div>`;

const select = (
  state: State,
  name: string,
  label: string,
  options: readonly TemplateResult[],
): TemplateResult => html`<div><label>${label}
    <select name=${name} aria-invalid=${invalid(state, name)} aria-describedby=${describedBy(state, name)}>${options}</select></label>
    ${fault(state, name)}</div>`;

const whatFields = (templates: Asked['templates'], given: Asked['given'], state: State): TemplateResult => html`
  ${input(state, 'name', { label: 'Name', hint: 'in the subject of the messages', value: state.draft.name, isRequired: true })}
  ${
    given === undefined
      ? select(
          state,
          'dashboardId',
          'Template',
          templates.map(({ dashboardId, name }) => option(dashboardId, name, undefined)),
        )
      : nothing
  }
  ${select(
    state,
    'format',
    'Format',
    // An alert stays an alert, and a report a report.
    formats
      .filter((each) => given === undefined || (each === 'alert') === (given.format === 'alert'))
      .map((each) => option(each, each, given?.format)),
  )}`;

/** What stands in place of fields whose choices are not there. */
const unread = (parts: Exclude<State['parts'], ReportParts>): TemplateResult =>
  parts === 'reading'
    ? html`<p class="hint" aria-busy="true">Reading the template…</p>`
    : html`<p class="notice warn">Its metrics and filters cannot be chosen now, and stay as they are. ${parts.problem}</p>`;

const conditions = {
  below: 'is below',
  above: 'is above',
  changeBelow: 'falls by more than',
  changeAbove: 'rises by more than',
  missing: 'has no value',
  newKey: 'has a new row',
};

const measuresOf = ({ definition }: ReportParts['metrics'][number]): readonly string[] => [
  ...definition.measures.map(({ name }) => name),
  ...(definition.kind === 'visual' ? (definition.calculations ?? []) : []).map(({ name }) => name),
];

const alertFields = (state: State): TemplateResult => {
  const { parts, draft } = state;
  if (parts === 'reading' || 'problem' in parts) return unread(parts);
  const { metrics } = parts;
  const metric = metrics.find(({ metricId }) => metricId === draft.metricId) ?? metrics[0];
  const measures = metric === undefined ? [] : measuresOf(metric);
  return html`${select(
    state,
    'metricId',
    'Metric',
    metrics.map(({ metricId, name }) => option(metricId, name, metric?.metricId)),
  )}
    ${select(
      state,
      'measure',
      'Measure',
      measures.map((name) => option(name, name, draft.measure)),
    )}
    ${select(
      state,
      'is',
      'Tell if it',
      Object.entries(conditions).map(([value, text]) => option(value, text, draft.is)),
    )}
    ${conditionFields(state)}
    ${quietFields(state)}`;
};

const conditionFields = (state: State): TemplateResult | typeof nothing => {
  const { is, value, to } = state.draft;
  if (is === 'missing' || is === 'newKey') return nothing;
  const isLevel = is === 'above' || is === 'below';
  const label = isLevel ? 'Value' : 'Percent';
  return html`${input(state, 'value', { label, value, isRequired: true }, { type: 'number' })}
    ${
      isLevel
        ? nothing
        : select(state, 'to', 'Compared with', [
            option('lastCheck', 'the last check', to),
            option('previousPeriod', 'the period before', to),
          ])
    }`;
};

const quietFields = (state: State): TemplateResult => {
  const { hasQuietHours, quietFrom, quietTo } = state.draft;
  return html`<fieldset>
  <legend>Quiet hours</legend>
  <label class="inline"><input type="checkbox" name="hasQuietHours" .checked=${hasQuietHours} /> Check nothing between two times</label>
  ${
    hasQuietHours
      ? html`<div class="row">
          ${input(state, 'quietFrom', { label: 'From', value: quietFrom, isRequired: true }, { type: 'time' })}
          ${input(state, 'quietTo', { label: 'To', value: quietTo, isRequired: true }, { type: 'time' })}</div>`
      : nothing
  }</fieldset>`;
};

const contentFields = (state: State): TemplateResult => {
  const { parts, draft } = state;
  if (parts === 'reading' || 'problem' in parts) return unread(parts);
  return html`<fieldset aria-describedby=${describedBy(state, 'metricIds')}><legend>Metrics</legend>
      <label class="inline"><input type="checkbox" name="hasOwnCards" .checked=${draft.hasOwnCards} /> Only some metrics</label>
      ${
        draft.hasOwnCards
          ? html`<div class="choices">${parts.metrics.map(
              ({ metricId, name }, at) =>
                html`<label class="inline"><input type="checkbox" name="metricIds" value=${metricId} ?checked=${draft.metricIds.includes(metricId)}
                  aria-invalid=${at === 0 ? invalid(state, 'metricIds') : nothing} /> ${name}</label>`,
            )}</div>`
          : nothing
      }
      ${fault(state, 'metricIds')}</fieldset>
    ${parts.filters.length === 0 ? nothing : filterFields(parts.filters, state)}`;
};

const filterFields = (filters: readonly TemplateFilter[], state: State): TemplateResult => html`<fieldset class="form">
    <legend>Filters</legend>
    <p class="hint">They only narrow what a user may see.</p>
    ${filters.map((filter) => filterField(filter, state))}
    <datalist id="periods">${datePresets.map((preset) => html`<option value=${preset}></option>`)}</datalist></fieldset>`;

const filterField = ({ name, dataType }: TemplateFilter, state: State): TemplateResult => {
  const value = state.draft.filters[name];
  const control = filterControl(name);
  if (dataType === 'number') {
    const [least, most] = endsOf(value);
    return html`<div class="row">
      ${input(state, leastControl(name), { label: `${name} from`, value: least })}
      ${input(state, mostControl(name), { label: `${name} to`, value: most })}</div>`;
  }
  if (dataType === 'boolean') {
    const chosen = textOf(value);
    return select(state, control, name, [
      option('', 'any', chosen),
      option('true', 'true', chosen),
      option('false', 'false', chosen),
    ]);
  }
  if (dataType === 'date') {
    const hint = 'a period, a day, or two days as 2026-01-01 - 2026-03-31';
    return input(state, control, { label: name, hint, value: textOf(value) }, { list: 'periods' });
  }
  const text = textOf(value);
  return html`<div><label>${name} <span class="hint">one value on each line</span>
    <textarea name=${control} rows=${Math.min(6, text.split('\n').length + 1)} .value=${text}
      aria-invalid=${invalid(state, control)} aria-describedby=${describedBy(state, control)}></textarea></label>${fault(state, control)}</div>`;
};

const whomFields = (given: Asked['given'], state: State): TemplateResult => {
  const { roles = [], users = [] } = given?.recipients ?? {};
  const roleHint = 'separated by commas; in each tenant, its users who have one of them then';
  const userHint = 'identifiers, separated by commas; in each tenant in which they are known';
  return html`${input(state, 'roles', { label: 'Roles', hint: roleHint, value: roles.join(', ') }, { placeholder: 'manager' })}
    ${input(state, 'users', { label: 'Users', hint: userHint, value: users.join(', ') })}
    ${
      takesContent(state.draft)
        ? nothing
        : input(state, 'channel', {
            label: 'Channel',
            hint: 'of the configuration, for each of them to whom the policy grants it; empty: by e-mail',
            value: state.draft.channel,
          })
    }`;
};

const whenFields = (state: State): TemplateResult => {
  const { every, format, cron, at, timezone } = state.draft;
  const isRequired = true;
  return html`${select(
    state,
    'every',
    'When',
    Object.entries(everyNames)
      .filter(([value]) => value !== 'hour' || format === 'alert')
      .map(([value, text]) => option(value, text, every)),
  )}
    ${every === 'week' ? weekFields(state) : nothing}
    ${every === 'month' ? monthField(state) : nothing}
    ${
      every === 'cron'
        ? input(
            state,
            'cron',
            { label: 'Cron expression', hint: 'five fields; the minute is one number', value: cron, isRequired },
            { placeholder: '0 8 * * 1-5' },
          )
        : every === 'hour'
          ? nothing
          : input(state, 'at', { label: 'At', value: at, isRequired }, { type: 'time' })
    }
    ${input(state, 'timezone', { label: 'Time zone', value: timezone, isRequired })}`;
};

const weekFields = (
  state: State,
): TemplateResult => html`<fieldset class="days" aria-describedby=${describedBy(state, 'on')}>
    <legend>On</legend>
    ${Object.entries(dayNames).map(([day, name], at) => html`<label class="inline"><input type="checkbox" name="on" value=${day} ?checked=${state.draft.on.includes(day as Weekday)} aria-invalid=${at === 0 ? invalid(state, 'on') : nothing} /> ${name}</label>`)}
    ${fault(state, 'on')}</fieldset>`;

const monthField = (state: State): TemplateResult => {
  const all = [...Array.from({ length: 31 }, (_, index) => String(index + 1)), 'last'];
  return select(
    state,
    'day',
    'Day',
    all.map((day) => option(day, day, state.draft.day)),
  );
};
