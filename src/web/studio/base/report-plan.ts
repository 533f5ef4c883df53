/** What the dialog of a report to all tenants asks for, as its form holds it and as the server takes it. No page. */
import type { Alert, AlertCondition } from '../../../domain/deliver/alert.js';
import type { FilterValue } from '../../../domain/filter/filter.js';
import type { TemplateFilter } from './template.js';

export type Recurrence = { readonly timezone: string } & (
  | { readonly cron: string }
  | { readonly every: 'day' | 'workday'; readonly at: string }
  | { readonly every: 'week'; readonly on: readonly string[]; readonly at: string }
  | { readonly every: 'month'; readonly day: number | 'last'; readonly at: string }
);

type FilterValues = Readonly<Record<string, FilterValue>>;

export type ReportPlan = {
  readonly name: string;
  readonly format: string;
  readonly recurrence: Recurrence;
  readonly recipients: { readonly roles: readonly string[]; readonly users: readonly string[] };
  readonly dashboardFilter: FilterValues;
  readonly metricIds: readonly string[] | null;
  /** Of an alert, and of nothing else. */
  readonly alert: Alert | null;
  /** Null: by e-mail. */
  readonly channel: string | null;
};
type Parts = 'dashboardFilter' | 'metricIds';
/** What is left out keeps its value. */
export type NewReport = Omit<ReportPlan, Parts | 'alert'> &
  Partial<Pick<ReportPlan, Parts>> & { readonly alert?: Alert; readonly dashboardId: string };

export const formats = ['pdf', 'png', 'xlsx', 'csv', 'link', 'alert'] as const;
/** Only files have filters and chosen metrics. They go by e-mail alone. */
export const isFile = (format: string): boolean => format !== 'link' && format !== 'alert';

/** The cron expression of what comes every hour. */
export const hourly = '0 * * * *';

/** Names of the form's controls for a filter. */
export const filterControl = (name: string): string => `filter ${name}`;
export const leastControl = (name: string): string => `least ${name}`;
export const mostControl = (name: string): string => `most ${name}`;

const partsOf = (text: unknown, separator: RegExp): readonly string[] =>
  String(text ?? '')
    .split(separator)
    .map((each) => each.trim())
    .filter(Boolean);

const recurrenceOf = (form: FormData): Recurrence => {
  const text = (name: string): string => String(form.get(name) ?? '').trim();
  const timezone = text('timezone');
  const at = text('at');
  switch (text('every')) {
    case 'hour':
      return { timezone, cron: hourly };
    case 'cron':
      return { timezone, cron: text('cron') };
    case 'week':
      return { timezone, every: 'week', on: form.getAll('on').map(String), at };
    case 'month':
      return { timezone, every: 'month', day: text('day') === 'last' ? 'last' : Number(text('day')), at };
    case 'day':
      return { timezone, every: 'day', at };
    default:
      return { timezone, every: 'workday', at };
  }
};

/** Undefined: the filter is not set. Numbers go as text, so that none is rounded; the server says which text is none. */
const valueIn = (form: FormData, { name, dataType }: TemplateFilter): FilterValue | undefined => {
  const text = (control: string): string => String(form.get(control) ?? '').trim();
  const given = text(filterControl(name));
  switch (dataType) {
    case 'number': {
      const [min, max] = [text(leastControl(name)), text(mostControl(name))];
      if (min === '' && max === '') return undefined;
      return { ...(min === '' ? {} : { min }), ...(max === '' ? {} : { max }) };
    }
    case 'boolean':
      return given === '' ? undefined : given === 'true';
    case 'date':
      return given === '' ? undefined : given;
    default: {
      const values = partsOf(given, /\n/);
      return values.length === 0 ? undefined : values;
    }
  }
};

/** A fall has a negative percentage on the wire, and a positive one for people. An empty number is for the server to refuse. */
const conditionOf = (form: FormData): AlertCondition => {
  const is = String(form.get('is') ?? '') as AlertCondition['is'];
  const value = Number(form.get('value') ?? Number.NaN);
  if (is === 'above' || is === 'below') return { is, value };
  if (is === 'missing' || is === 'newKey') return { is };
  const to = form.get('to') === 'previousPeriod' ? 'previousPeriod' : 'lastCheck';
  return { is, percent: is === 'changeBelow' ? -value : value, to };
};

const alertOf = (form: FormData): Alert => ({
  metricId: String(form.get('alertMetric') ?? ''),
  measure: String(form.get('measure') ?? ''),
  condition: conditionOf(form),
  quietHours:
    form.get('hasQuietHours') === null
      ? null
      : { from: String(form.get('quietFrom') ?? ''), to: String(form.get('quietTo') ?? '') },
});

/** `filters`: those of the template; undefined if they could not be read, so that neither they nor the metrics are sent. */
export const planOf = (form: FormData, filters: readonly TemplateFilter[] | undefined): NewReport => {
  const format = String(form.get('format') ?? '');
  const values = (filters ?? []).flatMap((filter) => {
    const value = isFile(format) ? valueIn(form, filter) : undefined;
    return value === undefined ? [] : [[filter.name, value] as const];
  });
  const isChosen = isFile(format) && form.get('hasOwnMetrics') !== null;
  const content = {
    dashboardFilter: Object.fromEntries(values),
    metricIds: isChosen ? form.getAll('metricIds').map(String) : null,
  };
  return {
    dashboardId: String(form.get('dashboardId') ?? ''),
    name: String(form.get('name') ?? '').trim(),
    format,
    recurrence: recurrenceOf(form),
    recipients: { roles: partsOf(form.get('roles'), /[,\n]/), users: partsOf(form.get('users'), /[,\n]/) },
    ...(filters === undefined && isFile(format) ? {} : content),
    channel: isFile(format) ? null : String(form.get('channel') ?? '').trim() || null,
    // Of a template that cannot be read, the alert stays as it is.
    ...(format === 'alert' && form.get('alertMetric') !== null ? { alert: alertOf(form) } : {}),
  };
};

/** A stored value as the text of its control; of a number, as its two ends. */
export const textOf = (value: FilterValue | undefined): string => {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.join('\n');
  if ('startDate' in value) return `${value.startDate} - ${value.endDate}`;
  return 'start' in value ? `${value.start} - ${value.end}` : '';
};
export const endsOf = (value: FilterValue | undefined): readonly [least: string, most: string] => {
  if (value === undefined || Array.isArray(value)) return ['', ''];
  if (typeof value !== 'object') return [String(value), String(value)];
  return 'min' in value || 'max' in value ? [String(value.min ?? ''), String(value.max ?? '')] : ['', ''];
};

/** Filters in few words. */
export const filtersText = (values: FilterValues): string =>
  Object.entries(values)
    .map(([name, value]) => {
      const [least, most] = endsOf(value);
      if (typeof value === 'object' && (least !== '' || most !== '')) return `${name}: ${least} to ${most}`.trim();
      return `${name}: ${textOf(value).replaceAll('\n', ', ')}`;
    })
    .join('; ');

/** The server's messages by the control that they are about; the empty name: about none. */
export type Faults = Readonly<Record<string, string>>;

const controls: Readonly<Record<string, string>> = {
  ...{ name: 'name', format: 'format', metricIds: 'metricIds', dashboardId: 'dashboardId' },
  ...{ recipients: 'roles', 'recipients.roles': 'roles', 'recipients.users': 'users', recurrence: 'every' },
  ...{ 'recurrence.at': 'at', 'recurrence.on': 'on', 'recurrence.day': 'day', 'recurrence.cron': 'cron' },
  ...{ 'recurrence.timezone': 'timezone', 'recurrence.every': 'every', channel: 'channel' },
  ...{ alert: 'alertMetric', 'alert.metricId': 'alertMetric', 'alert.measure': 'measure', 'alert.condition': 'is' },
  ...{ 'alert.condition.value': 'value', 'alert.condition.percent': 'value', 'alert.condition.to': 'to' },
  ...{ 'alert.quietHours': 'quietFrom', 'alert.quietHours.to': 'quietTo' },
};

const controlAt = (path: string, filters: readonly TemplateFilter[]): string | undefined => {
  const of = filters.find(({ name }) => path.startsWith(`dashboardFilter[${JSON.stringify(name)}]`));
  if (of !== undefined) return of.dataType === 'number' ? leastControl(of.name) : filterControl(of.name);
  for (let place = path; place !== ''; place = place.replace(/[.[]?[^.[]*$/, '')) {
    if (Object.hasOwn(controls, place)) return controls[place];
  }
  return undefined;
};

/** Sorts a refusal such as `recurrence.at: expected …; metricIds[0]: …` to the controls that it names. */
export const faultsOf = (message: string, filters: readonly TemplateFilter[]): Faults => {
  const faults: Record<string, string> = {};
  for (const fault of message.split(/; (?=[a-z]\w*[.:[])/)) {
    const [, path = '', said = ''] = /^([a-z]\w*(?:\.\w+|\["(?:[^"\\]|\\.)*"\]|\[\d+\])*): (.*)$/s.exec(fault) ?? [];
    const control = controlAt(path, filters);
    faults[control ?? ''] ??= control === undefined ? fault : said;
  }
  return faults;
};
