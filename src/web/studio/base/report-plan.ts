/** What the dialog of a report to all tenants asks for, as its form holds it and as the server takes it. No page. */
import type { FilterValue } from '../../../model/filter/filter.js';
import type { ReportFormat } from '../../../model/schedule/schedule.js';
import type { OperationAnswer, OperationInput } from '../../base/operations.js';
import {
  bodyOf,
  type Draft,
  type Faults,
  faultsOf,
  fieldsByPath,
  takesContent,
} from '../../elements/schedule-draft.js';
import type { TemplateFilter } from './content.js';

export type HostReport = OperationAnswer<'listTemplateSchedules'>['data'][number];
/** The request that saves it. What is left out keeps its value. */
export type NewReport = OperationInput<'createTemplateSchedule'>;
/** What the form holds beside a draft: the texts of its own controls, by their names. */
export type Controls = Readonly<Record<string, string>>;

export const formats = ['pdf', 'png', 'xlsx', 'csv', 'link', 'alert'] as const satisfies readonly ReportFormat[];

/** Names of the form's controls for a filter. */
export const filterControl = (name: string): string => `filter ${name}`;
export const leastControl = (name: string): string => `least ${name}`;
export const mostControl = (name: string): string => `most ${name}`;

const partsOf = (text = '', separator: RegExp): readonly string[] =>
  text
    .split(separator)
    .map((each) => each.trim())
    .filter(Boolean);

/** The roles or users that a control names. */
export const listIn = (text: string | undefined): readonly string[] => partsOf(text, /[,\n]/);

/** Undefined: the filter is not set. Numbers go as text, so that none is rounded; the server says which text is none. */
const valueIn = (controls: Controls, { name, dataType }: TemplateFilter): FilterValue | undefined => {
  const text = (control: string): string => (controls[control] ?? '').trim();
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

/** `filters`: those of the template; undefined if they could not be read, so that neither they nor its metrics are sent. */
export const planOf = (draft: Draft, controls: Controls, filters: readonly TemplateFilter[] | undefined): NewReport => {
  const values = (filters ?? []).flatMap((filter) => {
    const value = valueIn(controls, filter);
    return value === undefined ? [] : [[filter.name, value] as const];
  });
  const given = { ...draft, filters: Object.fromEntries(values) };
  const { dashboardFilter, metricIds, alert, mutedUntil: _, ...plan } = bodyOf(given);
  // The service checks the texts of the form.
  const content = { dashboardFilter, metricIds } as Pick<NewReport, 'dashboardFilter' | 'metricIds'>;
  return {
    ...{ ...plan, dashboardId: controls.dashboardId ?? '' },
    recipients: { roles: listIn(controls.roles), users: listIn(controls.users) },
    ...(filters === undefined && takesContent(draft) ? {} : content),
    // Of a template that cannot be read, the alert stays as it is.
    ...(filters === undefined || alert === undefined ? {} : { alert }),
  };
};

/** A stored value as the text of its control; of a number, as its two ends. */
const textOf = (value: FilterValue | undefined): string => {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.join('\n');
  if ('startDate' in value) return `${value.startDate} - ${value.endDate}`;
  return 'start' in value ? `${value.start} - ${value.end}` : '';
};
const endsOf = (value: FilterValue | undefined): readonly [least: string, most: string] => {
  if (value === undefined || Array.isArray(value)) return ['', ''];
  if (typeof value !== 'object') return [String(value), String(value)];
  return 'min' in value || 'max' in value ? [String(value.min ?? ''), String(value.max ?? '')] : ['', ''];
};

/** The texts of the controls of filters. */
export const filterControls = (filters: readonly TemplateFilter[], values: Draft['filters']): Controls =>
  Object.fromEntries(
    filters.flatMap(({ name, dataType }) => {
      const value = values[name];
      if (dataType !== 'number') return [[filterControl(name), textOf(value)]];
      const [least, most] = endsOf(value);
      return [
        [leastControl(name), least],
        [mostControl(name), most],
      ];
    }),
  );

/** Filters in few words. */
export const filtersText = (values: Readonly<Record<string, FilterValue>>): string =>
  Object.entries(values)
    .map(([name, value]) => {
      const [least, most] = endsOf(value);
      if (typeof value === 'object' && (least !== '' || most !== '')) return `${name}: ${least} to ${most}`.trim();
      return `${name}: ${textOf(value).replaceAll('\n', ', ')}`;
    })
    .join('; ');

/** Sorts a refusal such as `recurrence.at: expected …; metricIds[0]: …` to the controls that it names. */
export const controlFaults = (message: string, filters: readonly TemplateFilter[]): Faults => {
  const { dashboardFilter: _, ...fields } = fieldsByPath;
  const ofFilters = filters.map(({ name, dataType }) => [
    `dashboardFilter[${JSON.stringify(name)}]`,
    dataType === 'number' ? leastControl(name) : filterControl(name),
  ]);
  return faultsOf(message, {
    ...{ ...fields, dashboardId: 'dashboardId', channel: 'channel', recipients: 'roles', 'recipients.users': 'users' },
    ...Object.fromEntries(ofFilters),
  });
};
