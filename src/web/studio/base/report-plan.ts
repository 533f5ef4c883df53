/** What the dialog of a report to all tenants asks for, as its form holds it and as the server takes it. No page. */
import type { Recipients } from '../../../domain/deliver/recipients.js';
import type { ReportFormat } from '../../../domain/deliver/schedule.js';
import type { FilterValue } from '../../../domain/filter/filter.js';
import {
  bodyOf,
  type Draft,
  faultsOf,
  fieldsByPath,
  type SentSchedule,
  takesContent,
} from '../../elements/schedule-draft.js';
import type { TemplateFilter } from './template.js';

/** A report of the host as the server sends it. */
export type HostReport = Omit<SentSchedule, 'mutedUntil' | 'recipients' | 'status' | 'unconfirmed'> & {
  readonly recipients: Omit<Recipients, 'addresses'>;
};
/** The body of the request that saves it. What is left out keeps its value. */
export type NewReport = Readonly<Record<string, unknown>>;

export const formats = ['pdf', 'png', 'xlsx', 'csv', 'link', 'alert'] as const satisfies readonly ReportFormat[];

/** Names of the form's controls for a filter. */
export const filterControl = (name: string): string => `filter ${name}`;
export const leastControl = (name: string): string => `least ${name}`;
export const mostControl = (name: string): string => `most ${name}`;

const partsOf = (text: unknown, separator: RegExp): readonly string[] =>
  String(text ?? '')
    .split(separator)
    .map((each) => each.trim())
    .filter(Boolean);

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

/** The draft as the form's controls hold it. A field without a control keeps its value. */
const draftIn = (form: FormData, before: Draft, filters: readonly TemplateFilter[]): Draft => {
  const values = filters.flatMap((filter) => {
    const value = valueIn(form, filter);
    return value === undefined ? [] : [[filter.name, value] as const];
  });
  const texts = [...form].flatMap(([name, value]) => (name in before ? [[name, String(value).trim()] as const] : []));
  return {
    ...{ ...before, ...Object.fromEntries(texts), filters: Object.fromEntries(values) },
    on: form.getAll('on').map(String) as Draft['on'],
    metricIds: form.getAll('metricIds').map(String),
    hasOwnCards: form.has('hasOwnCards'),
    hasQuietHours: form.has('hasQuietHours'),
  };
};

/** `filters`: those of the template; undefined if they could not be read, so that neither they nor its metrics are sent. */
export const planOf = (form: FormData, before: Draft, filters: readonly TemplateFilter[] | undefined): NewReport => {
  const draft = draftIn(form, before, filters ?? []);
  const { dashboardFilter, metricIds, alert, mutedUntil: _, ...plan } = bodyOf(draft);
  return {
    ...{ ...plan, dashboardId: String(form.get('dashboardId') ?? '') },
    recipients: { roles: partsOf(form.get('roles'), /[,\n]/), users: partsOf(form.get('users'), /[,\n]/) },
    ...(filters === undefined && takesContent(draft) ? {} : { dashboardFilter, metricIds }),
    // Of a template that cannot be read, the alert stays as it is.
    ...(alert !== undefined && form.has('metricId') ? { alert } : {}),
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
export const filtersText = (values: HostReport['dashboardFilter']): string =>
  Object.entries(values)
    .map(([name, value]) => {
      const [least, most] = endsOf(value);
      if (typeof value === 'object' && (least !== '' || most !== '')) return `${name}: ${least} to ${most}`.trim();
      return `${name}: ${textOf(value).replaceAll('\n', ', ')}`;
    })
    .join('; ');

/** Sorts a refusal such as `recurrence.at: expected …; metricIds[0]: …` to the controls that it names. */
export const controlFaults = (message: string, filters: readonly TemplateFilter[]): ReturnType<typeof faultsOf> => {
  const { dashboardFilter: _, ...fields } = fieldsByPath;
  const ofFilters = filters.map(({ name, dataType }) => [
    `dashboardFilter[${JSON.stringify(name)}]`,
    dataType === 'number' ? leastControl(name) : filterControl(name),
  ]);
  return faultsOf(message, {
    ...{ ...fields, dashboardId: 'dashboardId', channel: 'channel', recipients: 'roles', 'recipients.users': 'users' },
    ...{ 'alert.quietHours': 'quietFrom', 'alert.quietHours.to': 'quietTo', ...Object.fromEntries(ofFilters) },
  });
};
