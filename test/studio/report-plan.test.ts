/** What Studio's dialog of a report to all tenants sends, and where it shows what the server refuses. */
import { expect, test } from 'vitest';
import type { FilterValue } from '../../src/model/filter/filter.js';
import { changed, newDraft } from '../../src/web/elements/schedule-draft.js';
import type { TemplateFilter } from '../../src/web/studio/base/content.js';
import {
  controlFaults,
  filterControl,
  filterControls,
  filtersText,
  leastControl,
  mostControl,
  planOf as planWith,
} from '../../src/web/studio/base/report-plan.js';

const filter = (name: string, dataType: TemplateFilter['dataType']) => ({ name, dataType, applyOnTables: [] });
const filters = [
  filter('State', 'string'),
  filter('Miles', 'number'),
  filter('Late', 'boolean'),
  filter('Day "x"]', 'date'),
];
type Chosen = Readonly<Record<string, string | readonly string[]>>;
/** The plan after each of these was typed or checked. */
const planOf = (chosen: Chosen, of?: typeof filters) => {
  const controls = Object.entries(chosen).flatMap(([name, given]) =>
    [given].flat().map((value) => ({ name, value, checked: true })),
  );
  const draft = controls.reduce((before, control) => changed(before, control, []), newDraft('pdf', [], 'UTC'));
  return planWith(draft, Object.fromEntries(controls.map(({ name, value }) => [name, value])), of);
};
const formOf = (more: Chosen): Chosen => {
  const usual = {
    name: ' Daily ',
    format: 'csv',
    every: 'day',
    at: '08:00',
    timezone: 'UTC',
    roles: 'a, b',
    users: '',
  };
  return { ...usual, ...more };
};
const set = {
  [filterControl('State')]: 'CA\n New York, NY \n\n',
  [leastControl('Miles')]: '9007199254740993',
  [mostControl('Miles')]: '',
  [filterControl('Late')]: 'false',
  [filterControl('Day "x"]')]: 'Last 30 Days',
};

test('filters and metrics are sent as they are chosen, and numbers are not rounded', () => {
  const plan = planOf(formOf({ ...set, hasOwnCards: 'on', metricIds: ['m1', 'm2'] }), filters);
  expect(plan).toMatchObject({ name: 'Daily', format: 'csv', recipients: { roles: ['a', 'b'], users: [] } });
  expect(plan.metricIds).toEqual(['m1', 'm2']);
  expect(plan.dashboardFilter).toEqual({
    State: ['CA', 'New York, NY'],
    Miles: { min: '9007199254740993' },
    Late: false,
    'Day "x"]': 'Last 30 Days',
  });
  expect(planOf(formOf({ metricIds: ['m1'] }), filters)).toMatchObject({ metricIds: null, dashboardFilter: {} });
});

test('a link has neither, and what could not be read keeps its value', () => {
  const link = planOf(formOf({ ...set, format: 'link', hasOwnCards: 'on', metricIds: 'm1' }), filters);
  expect(link).toMatchObject({ metricIds: null, dashboardFilter: {} });
  const unread = planOf(formOf({}), undefined);
  expect(['dashboardFilter', 'metricIds'].filter((name) => name in unread)).toEqual([]);
  expect(planOf(formOf({ format: 'link' }), undefined)).toMatchObject({ metricIds: null, dashboardFilter: {} });
});

test('an alert is sent as it is chosen, with its channel, and a file has neither', () => {
  const alert = {
    ...{ format: 'alert', every: 'hour', channel: ' ops ', metricId: 'm1', measure: 'Miles', is: 'changeBelow' },
    ...{ value: '20', to: 'previousPeriod', hasQuietHours: 'on', quietFrom: '22:00', quietTo: '07:00' },
  };
  const plan = planOf(formOf(alert), filters);
  expect(plan).toMatchObject({ channel: 'ops', metricIds: null, dashboardFilter: {} });
  expect(plan.recurrence).toEqual({ timezone: 'UTC', cron: '0 * * * *' });
  const condition = { is: 'changeBelow', percent: -20, to: 'previousPeriod' };
  const quietHours = { from: '22:00', to: '07:00' };
  expect(plan.alert).toEqual({ metricId: 'm1', measure: 'Miles', condition, quietHours });
  const level = planOf(formOf({ ...alert, is: 'below', value: '3.5' }), filters);
  expect(level).toMatchObject({ alert: { condition: { is: 'below', value: 3.5 } } });
  const none = planOf(formOf({ ...alert, is: 'missing' }), filters);
  expect(none).toMatchObject({ alert: { condition: { is: 'missing' } } });
  const file = planOf(formOf({ ...alert, format: 'csv' }), filters);
  expect([file.channel, 'alert' in file]).toEqual([null, false]);
  // A template that could not be read has no fields of an alert.
  const { metricId: _, ...unread } = alert;
  expect('alert' in planOf(formOf(unread), undefined)).toBe(false);
});

/** The text of a control of texts, and the two of a control of numbers. */
const controlsOf = (values: Readonly<Record<string, FilterValue>>) => {
  const texts = filterControls([filter('X', 'string')], values);
  const numbers = filterControls([filter('X', 'number')], values);
  return [texts[filterControl('X')], [numbers[leastControl('X')], numbers[mostControl('X')]]] as const;
};

test('a stored value fills its control, and in words tells what it is', () => {
  const values: readonly (readonly [FilterValue, string, readonly [string, string], string])[] = [
    [['CA', 'NV'], 'CA\nNV', ['', ''], 'X: CA, NV'],
    ['CA', 'CA', ['CA', 'CA'], 'X: CA'],
    [true, 'true', ['true', 'true'], 'X: true'],
    [5, '5', ['5', '5'], 'X: 5'],
    [{ min: 1, max: '20' }, '', ['1', '20'], 'X: 1 to 20'],
    [
      { startDate: '2026-01-01', endDate: '2026-01-31' },
      '2026-01-01 - 2026-01-31',
      ['', ''],
      'X: 2026-01-01 - 2026-01-31',
    ],
    [{ start: '2026-01-01', end: '2026-01-31' }, '2026-01-01 - 2026-01-31', ['', ''], 'X: 2026-01-01 - 2026-01-31'],
  ];
  for (const [value, text, ends, words] of values) {
    expect([...controlsOf({ X: value }), filtersText({ X: value })]).toEqual([text, ends, words]);
  }
  expect([...controlsOf({}), filtersText({})]).toEqual(['', ['', ''], '']);
});

test('the controls of filters begin with what is stored', () => {
  expect(filterControls(filters, { State: ['CA', 'NV'], Miles: { min: 1 } })).toEqual({
    [filterControl('State')]: 'CA\nNV',
    [leastControl('Miles')]: '1',
    [mostControl('Miles')]: '',
    [filterControl('Late')]: '',
    [filterControl('Day "x"]')]: '',
  });
});

test('a refusal is shown at the controls that it names', () => {
  const message =
    'recurrence.at: expected a time; metricIds[1]: the template has no such metric; dashboardFilter["Day \\"x\\"]"]: takes a day; dashboardFilter["Miles"]: takes a number, min not above max; a whole number goes as text.';
  expect(controlFaults(message, filters)).toEqual({
    at: 'expected a time',
    metricIds: 'the template has no such metric',
    [filterControl('Day "x"]')]: 'takes a day',
    [leastControl('Miles')]: 'takes a number, min not above max; a whole number goes as text.',
  });
  expect(controlFaults('recipients: expected at least one user or role.', filters)).toEqual({
    roles: 'expected at least one user or role.',
  });
  const other = 'There are 20 schedules of this template, and may be 20: delete one first.';
  expect(controlFaults(other, filters)).toEqual({ form: other });
  expect(controlFaults('dashboardFilter["Gone"]: there is no such filter.', filters)).toEqual({
    form: 'dashboardFilter["Gone"]: there is no such filter.',
  });
});
