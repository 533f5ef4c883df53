/** A dialog that asks for a report to all tenants: what, to whom and when. */
import { html, nothing, render, type TemplateResult } from 'lit';
import type { Alert, AlertCondition, QuietHours } from '../../../domain/deliver/alert.js';
import { datePresets } from '../../filters/filter-values.js';
import type { Template } from '../base/content.js';
import {
  endsOf,
  type Faults,
  faultsOf,
  filterControl,
  formats,
  hourly,
  isFile,
  leastControl,
  mostControl,
  type NewReport,
  planOf,
  type Recurrence,
  type ReportPlan,
  textOf,
} from '../base/report-plan.js';
import type { TemplateFilter, TemplateMetric } from '../base/template.js';

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const dayNames = {
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
      ? recurrence.on.map((day) => dayNames[day as keyof typeof dayNames]).join(', ')
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
  readonly given?: ReportPlan;
  /** Rejects if the template cannot be read: its metrics and filters then stay as they are. */
  readonly partsOf: (dashboardId: string) => Promise<ReportParts>;
  /** Rejects if the server refuses the report: the dialog then stays and says why. */
  readonly save: (report: NewReport) => Promise<void>;
};

type State = {
  every: string;
  format: string;
  hasOwnMetrics: boolean;
  /** Of an alert. */
  metricId: string;
  is: string;
  hasQuietHours: boolean;
  /** `reading`: not known yet. */
  parts: ReportParts | 'reading' | { readonly problem: string };
  faults: Faults;
  isBusy: boolean;
};

const textOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const filtersIn = ({ parts }: State): readonly TemplateFilter[] | undefined =>
  typeof parts === 'object' && 'filters' in parts ? parts.filters : undefined;

const everyOf = (recurrence: Recurrence): string => {
  if ('every' in recurrence) return recurrence.every;
  return recurrence.cron === hourly ? 'hour' : 'cron';
};

const startOf = ({ templates, given }: Asked): State => ({
  every: given === undefined ? 'workday' : everyOf(given.recurrence),
  format: given?.format ?? formats[0],
  hasOwnMetrics: (given?.metricIds ?? null) !== null,
  metricId: given?.alert?.metricId ?? '',
  is: given?.alert?.condition.is ?? 'below',
  hasQuietHours: (given?.alert?.quietHours ?? null) !== null,
  parts: templates.length === 0 ? { metrics: [], filters: [] } : 'reading',
  faults: {},
  isBusy: false,
});

/** What a choice changes in the dialog. What is changed is no longer refused. */
const choose = (state: State, { name, value, checked }: Pick<HTMLInputElement, 'name' | 'value' | 'checked'>): void => {
  state.faults = Object.fromEntries(Object.entries(state.faults).filter(([control]) => control !== name));
  if (name === 'every' || name === 'format' || name === 'is') state[name] = value;
  if (name === 'alertMetric') state.metricId = value;
  if (name === 'hasOwnMetrics' || name === 'hasQuietHours') state[name] = checked;
  // Hours are for alerts.
  if (name === 'format' && state.every === 'hour' && value !== 'alert') state.every = 'workday';
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
      await save(planOf(new FormData(event.target as HTMLFormElement), filtersIn(state)));
      dialog.close();
    } catch (error) {
      state.faults = faultsOf(textOfError(error), filtersIn(state) ?? []);
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
  const { format, faults } = state;
  return html`<h2 id="report-title">${given === undefined ? 'Report to all tenants' : 'Change the report'}</h2>
    ${whatFields(templates, given, state)}
    ${format === 'alert' ? alertFields(given, state) : isFile(format) ? contentFields(given, state) : nothing}
    ${whomFields(given, state)}
    ${whenFields(given?.recurrence, state)}
    ${faults[''] === undefined ? nothing : html`<p class="failure" role="alert">${faults['']}</p>`}
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

const whatFields = (templates: Asked['templates'], given: ReportPlan | undefined, state: State): TemplateResult => html`
  ${input(state, 'name', { label: 'Name', hint: 'in the subject of the messages', value: given?.name ?? '', isRequired: true })}
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

const alertFields = (given: ReportPlan | undefined, state: State): TemplateResult => {
  const { parts, is } = state;
  if (parts === 'reading' || 'problem' in parts) return unread(parts);
  const { metrics } = parts;
  const metric = metrics.find(({ metricId }) => metricId === state.metricId) ?? metrics[0];
  const before = given?.alert ?? null;
  const measures = metric === undefined ? [] : measuresOf(metric);
  return html`${select(
    state,
    'alertMetric',
    'Metric',
    metrics.map(({ metricId, name }) => option(metricId, name, metric?.metricId)),
  )}
    ${select(
      state,
      'measure',
      'Measure',
      measures.map((name) => option(name, name, before?.measure)),
    )}
    ${select(
      state,
      'is',
      'Tell if it',
      Object.entries(conditions).map(([value, text]) => option(value, text, is)),
    )}
    ${conditionFields(before?.condition, state)}
    ${quietFields(before?.quietHours ?? null, state)}`;
};

const conditionFields = (before: AlertCondition | undefined, state: State): TemplateResult | typeof nothing => {
  const { is } = state;
  if (is === 'missing' || is === 'newKey') return nothing;
  const isRequired = true;
  if (is === 'above' || is === 'below') {
    const value = before !== undefined && 'value' in before ? String(before.value) : '';
    return input(state, 'value', { label: 'Value', value, isRequired }, { type: 'number' });
  }
  const change = before !== undefined && 'percent' in before ? before : undefined;
  const percent = change === undefined ? '' : String(Math.abs(change.percent));
  return html`${input(state, 'value', { label: 'Percent', value: percent, isRequired }, { type: 'number' })}
    ${select(state, 'to', 'Compared with', [
      option('lastCheck', 'the last check', change?.to),
      option('previousPeriod', 'the period before', change?.to),
    ])}`;
};

const quietFields = (before: QuietHours | null, state: State): TemplateResult => html`<fieldset>
  <legend>Quiet hours</legend>
  <label class="inline"><input type="checkbox" name="hasQuietHours" .checked=${state.hasQuietHours} /> Check nothing between two times</label>
  ${
    state.hasQuietHours
      ? html`<div class="row">
          ${input(state, 'quietFrom', { label: 'From', value: before?.from ?? '22:00', isRequired: true }, { type: 'time' })}
          ${input(state, 'quietTo', { label: 'To', value: before?.to ?? '07:00', isRequired: true }, { type: 'time' })}</div>`
      : nothing
  }</fieldset>`;

const contentFields = (given: ReportPlan | undefined, state: State): TemplateResult => {
  const { parts } = state;
  if (parts === 'reading' || 'problem' in parts) return unread(parts);
  const chosen = new Set(given?.metricIds ?? []);
  return html`<fieldset aria-describedby=${describedBy(state, 'metricIds')}><legend>Metrics</legend>
      <label class="inline"><input type="checkbox" name="hasOwnMetrics" .checked=${state.hasOwnMetrics} /> Only some metrics</label>
      ${
        state.hasOwnMetrics
          ? html`<div class="choices">${parts.metrics.map(
              ({ metricId, name }, at) =>
                html`<label class="inline"><input type="checkbox" name="metricIds" value=${metricId} ?checked=${chosen.has(metricId)}
                  aria-invalid=${at === 0 ? invalid(state, 'metricIds') : nothing} /> ${name}</label>`,
            )}</div>`
          : nothing
      }
      ${fault(state, 'metricIds')}</fieldset>
    ${parts.filters.length === 0 ? nothing : filterFields(parts.filters, given, state)}`;
};

const filterFields = (
  filters: readonly TemplateFilter[],
  given: ReportPlan | undefined,
  state: State,
): TemplateResult => html`<fieldset class="form"><legend>Filters</legend>
    <p class="hint">They only narrow what a user may see.</p>
    ${filters.map((filter) => filterField(filter, given, state))}
    <datalist id="periods">${datePresets.map((preset) => html`<option value=${preset}></option>`)}</datalist></fieldset>`;

const filterField = (
  { name, dataType }: TemplateFilter,
  given: ReportPlan | undefined,
  state: State,
): TemplateResult => {
  const value = given?.dashboardFilter[name];
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

const whomFields = (given: ReportPlan | undefined, state: State): TemplateResult => {
  const { roles = [], users = [] } = given?.recipients ?? {};
  const roleHint = 'separated by commas; in each tenant, its users who have one of them then';
  const userHint = 'identifiers, separated by commas; in each tenant in which they are known';
  return html`${input(state, 'roles', { label: 'Roles', hint: roleHint, value: roles.join(', ') }, { placeholder: 'manager' })}
    ${input(state, 'users', { label: 'Users', hint: userHint, value: users.join(', ') })}
    ${
      isFile(state.format)
        ? nothing
        : input(state, 'channel', {
            label: 'Channel',
            hint: 'of the configuration, for each of them to whom the policy grants it; empty: by e-mail',
            value: given?.channel ?? '',
          })
    }`;
};

const whenFields = (given: Recurrence | undefined, state: State): TemplateResult => {
  const timezone = given?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const at = given !== undefined && 'at' in given ? given.at : '08:00';
  const cron = given !== undefined && 'cron' in given ? given.cron : '';
  const { every } = state;
  const isRequired = true;
  return html`${select(
    state,
    'every',
    'When',
    Object.entries(everyNames)
      .filter(([value]) => value !== 'hour' || state.format === 'alert')
      .map(([value, text]) => option(value, text, every)),
  )}
    ${every === 'week' ? weekFields(given, state) : nothing}
    ${every === 'month' ? monthField(given, state) : nothing}
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

const weekFields = (given: Recurrence | undefined, state: State): TemplateResult => {
  const chosen = given !== undefined && 'on' in given ? given.on : ['mon'];
  return html`<fieldset class="days" aria-describedby=${describedBy(state, 'on')}><legend>On</legend>
    ${days.map((day, at) => html`<label class="inline"><input type="checkbox" name="on" value=${day} ?checked=${chosen.includes(day)} aria-invalid=${at === 0 ? invalid(state, 'on') : nothing} /> ${dayNames[day]}</label>`)}
    ${fault(state, 'on')}</fieldset>`;
};

const monthField = (given: Recurrence | undefined, state: State): TemplateResult => {
  const chosen = String(given !== undefined && 'day' in given ? given.day : 1);
  const all = [...Array.from({ length: 31 }, (_, index) => String(index + 1)), 'last'];
  return select(
    state,
    'day',
    'Day',
    all.map((day) => option(day, day, chosen)),
  );
};
