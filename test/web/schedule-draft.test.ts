/** The form of a schedule: from a schedule to its fields, and back to a request. */
import { describe, expect, test } from 'vitest';
import type { GuestMetric } from '../../src/model/guest/view.js';
import { createFormat } from '../../src/web/base/format.js';
import {
  bodyOf,
  cardOf,
  changed,
  channelWay,
  draftOf,
  faultsOf,
  newDraft,
  type SentSchedule,
  wayOf,
} from '../../src/web/elements/schedule-draft.js';
import { recipientName, userName } from '../../src/web/elements/schedule-words.js';

const metric = (metricId: string, dimensions: readonly string[], grains = {}): GuestMetric =>
  ({
    ...{ metricId, name: metricId, filters: [] },
    chart: { type: 'table', dimensions, measures: ['Flights', 'Delay'], isDrillable: false, grains },
  }) as GuestMetric;
const metrics = [metric('days', ['Day'], { Day: 'day' }), metric('states', ['State']), metric('total', [])].map(cardOf);

const timezone = 'Europe/Berlin';
const at = '08:00';
const report: SentSchedule = {
  ...{ id: 's', name: 'Report', format: 'pdf', catchUp: 'once', isPaused: false, nextAt: null, mutedUntil: null },
  ...{
    alert: null,
    channel: null,
    recipients: null,
    unconfirmed: [],
    status: null,
    dashboardFilter: {},
    metricIds: null,
    recurrence: { every: 'day', at, timezone },
  },
};
const alertOf = (condition: object, quietHours: object | null = null) =>
  ({
    ...report,
    format: 'alert',
    alert: { metricId: 'states', measure: 'Delay', condition, quietHours },
  }) as SentSchedule;

describe('controls of the form', () => {
  const draft = newDraft('alert', metrics, timezone);
  const change = (name: string, value: string, checked = false) => changed(draft, { name, value, checked }, metrics);

  test('a control changes its field, and what depends on it', () => {
    expect(change('metricId', 'total')).toMatchObject({ metricId: 'total', measure: 'Flights' });
    const { is } = changed(
      { ...draft, is: 'changeAbove' },
      { name: 'metricId', value: 'states', checked: false },
      metrics,
    );
    expect(is).toBe('below');
    expect([draft.every, change('format', 'link').every, change('format', 'alert').every]).toEqual([
      'hour',
      'workday',
      'hour',
    ]);
  });

  test('a control of a list adds a value or takes it away', () => {
    expect([change('on', 'fri', true).on, change('on', 'mon').on]).toEqual([['mon', 'fri'], []]);
    expect(change('hasOwnCards', 'on', true).hasOwnCards).toBe(true);
  });

  test('a control that the draft does not have changes nothing', () => {
    expect(change('filter State', 'CA')).toBe(draft);
  });
});

describe('a schedule', () => {
  test.each([
    { every: 'workday', at, timezone },
    { every: 'week', on: ['mon', 'fri'], at, timezone },
    { every: 'month', day: 31, at, timezone },
    { every: 'month', day: 'last', at, timezone },
    { cron: '0 * * * *', timezone },
    { cron: '5 7 * * 1', timezone },
  ] as SentSchedule['recurrence'][])('keeps its recurrence in the form: %o', (recurrence) => {
    expect(bodyOf(draftOf({ ...report, recurrence }, metrics))).toMatchObject({ recurrence });
  });

  test.each([
    [{ is: 'above', value: 0.5 }],
    [{ is: 'changeBelow', percent: -20, to: 'previousPeriod' }],
    [{ is: 'changeAbove', percent: 20, to: 'lastCheck' }],
    [{ is: 'missing' }],
    [{ is: 'newKey' }],
  ])('keeps its condition in the form: %o', (condition) => {
    const { alert } = alertOf(condition, { from: '22:00', to: '06:00' });
    expect(bodyOf(draftOf(alertOf(condition, { from: '22:00', to: '06:00' }), metrics))).toMatchObject({ alert });
  });

  test('a fall is written without its sign', () => {
    expect(draftOf(alertOf({ is: 'changeBelow', percent: -20, to: 'lastCheck' }), metrics).value).toBe('20');
  });

  test('keeps its channel where the format takes one, and its end of silence', () => {
    const given = { ...report, channel: 'team', mutedUntil: '2026-01-02T03:04:00.000Z' };
    expect(bodyOf(draftOf({ ...given, format: 'link' }, metrics))).toMatchObject({
      channel: 'team',
      mutedUntil: given.mutedUntil,
    });
    expect(bodyOf(draftOf(given, metrics))).toMatchObject({ channel: null });
  });

  test('keeps its recipients, who are nobody once it goes to the reader or to a channel', () => {
    const recipients = { users: ['u'], roles: ['analyst'], addresses: ['pat@partner.example'] };
    const draft = draftOf({ ...report, format: 'link', recipients }, metrics);
    expect([wayOf(draft), bodyOf(draft)]).toEqual(['others', expect.objectContaining({ recipients, channel: null })]);
    const toTeam = changed(draft, { name: 'way', value: channelWay('team'), checked: false }, metrics);
    expect([wayOf(toTeam), bodyOf(toTeam)]).toEqual([
      channelWay('team'),
      expect.objectContaining({ recipients: null, channel: 'team' }),
    ]);
    const own = changed(draft, { name: 'way', value: '', checked: false }, metrics);
    expect([wayOf(own), bodyOf(own)]).toEqual(['', expect.objectContaining({ recipients: null, channel: null })]);
  });

  test('names a recipient by address, unless two have the same', () => {
    const user = (userIdentifier: string, address: string | null) => ({ userIdentifier, address });
    const users = [
      user('ann', 'ann@a.example'),
      user('bob', 'b@a.example'),
      user('eve', 'b@a.example'),
      user('x', null),
    ];
    const audience = { users, roles: [], domains: [] };
    expect(['ann', 'bob', 'x', 'gone'].map((id) => userName(id, audience))).toEqual([
      'ann@a.example',
      'bob',
      'x',
      'gone',
    ]);
    const nameOf = (recipient: string) => recipientName({ recipient }, audience, createFormat('en'));
    expect([nameOf('p'.repeat(43)), nameOf('pat@partner.example'), nameOf('')]).toEqual([
      'A former recipient',
      'pat@partner.example',
      '',
    ]);
  });

  test('keeps filters and cards of files, and drops them where there is no file', () => {
    const given = { ...report, dashboardFilter: { State: ['CA'] }, metricIds: ['days'] };
    const draft = draftOf(given, metrics);
    expect(bodyOf(draft)).toMatchObject({ dashboardFilter: { State: ['CA'] }, metricIds: ['days'] });
    expect(bodyOf({ ...draft, hasOwnCards: false })).toMatchObject({ metricIds: null });
    expect(bodyOf({ ...draft, format: 'link' })).toMatchObject({ dashboardFilter: {}, metricIds: null });
    expect(newDraft('pdf', metrics, timezone, { State: ['NV'] }).filters).toEqual({ State: ['NV'] });
  });

  test('a schedule of a card that is gone begins with the first card', () => {
    const gone = alertOf({ is: 'missing' });
    expect(draftOf(gone, metrics.slice(2))).toMatchObject({ metricId: 'total', measure: 'Flights' });
    expect(newDraft('alert', [], timezone)).toMatchObject({ metricId: '', measure: '' });
  });
});

test('conditions that the service would refuse for a card are left out', () => {
  expect(metrics.map(({ conditions }) => conditions)).toEqual([
    ['above', 'below', 'changeAbove', 'changeBelow', 'missing', 'newKey'],
    ['above', 'below', 'missing', 'newKey'],
    ['above', 'below', 'changeAbove', 'changeBelow', 'missing'],
  ]);
});

test.each([
  ['recurrence.at: expected a time.', { at: 'expected a time.' }],
  ['recipients.addresses[0]: expected another.', { recipients: 'expected another.' }],
  ['channel: files go by e-mail only.', { way: 'files go by e-mail only.' }],
  [
    'name: missing, expected a string; alert.condition.value: missing, expected a number.',
    { name: 'missing, expected a string', value: 'missing, expected a number.' },
  ],
  ['alert.quietHours.from: got "7"; recurrence.on[0]: got "x".', { quietFrom: 'got "7"', on: 'got "x".' }],
  ['dashboardFilter["State"]: takes a text.', { form: 'dashboardFilter["State"]: takes a text.' }],
  ['cron: a; b', { form: 'cron: a; b' }],
  ['There are 20 schedules, and may be 20: delete one first.', { form: expect.stringContaining('There are 20') }],
])('the message %j stands at the fields that it names', (message, faults) => {
  expect(faultsOf(message)).toEqual(faults);
});
