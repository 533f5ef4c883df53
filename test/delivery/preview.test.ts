/**
 * The mail of a schedule before it is made, over real parts. It is the mail that a delivery sends, and it shows what the
 * token that asks reads: nothing of another tenant, of a colleague, or of a wider login of the same user.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { columnRef, metric } from '../engine/world.js';
import { isPostgresThere } from '../suites/postgres.js';
import { all, daily, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const ownStates = { name: 'own states', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } };
const policy = (overrides: object = {}) => reportPolicy({ restrictions: [ownStates], ...overrides });

const byState = metric('sales', {
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
});

type Preview = {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
};

describe.skipIf(!(await isPostgresThere()))('the preview of a mail', () => {
  let reporting: Reporting;
  beforeAll(async () => {
    reporting = await openReporting();
    await reporting.addMetric('delays', 'States', byState);
  }, 60_000);
  afterAll(() => reporting.close());
  beforeEach(() => {
    reporting.mailbox.received.length = 0;
  });

  const login = (started: Started, org: string, name: string, more: object = {}): Promise<User> =>
    reporting.login(started, org, { sub: `${name}.${started.clientId}`, states: ['CA', 'NV', 'NY'], ...more });
  const ask = ({ token, board }: User, more: object = {}) =>
    reporting.call('POST', `${board}/schedules/preview`, token, {
      ...{ name: 'Daily', format: 'png', recurrence: daily },
      ...more,
    });
  const previewOf = (user: User, more: object = {}): Promise<Preview> => reporting.dataOf(ask(user, more));
  const refusalOf = async (user: User, more: object = {}) => {
    const { status, body } = await ask(user, more);
    return [status, (body as { error: { code: string } }).error.code];
  };
  const metricIdOf = async ({ token, board }: User, wanted: string): Promise<string | undefined> => {
    type Board = { readonly metrics: readonly { readonly metricId: string; readonly name: string }[] };
    const { metrics } = await reporting.dataOf<Board>(reporting.call('GET', board, token));
    return metrics.find(({ name }) => name === wanted)?.metricId;
  };
  /** What the stand-in for a browser draws: the rows that it reads. */
  const drawn = async (user: User): Promise<string> => Buffer.from(await reporting.csvOf(user)).toString('base64');

  test('is the mail that a delivery sends, and nothing is sent or stored for it', async () => {
    const started = await reporting.start(policy());
    const ann = await login(started, started.clientId, 'ann');
    const { token, board } = ann;
    const seen = await previewOf(ann);
    expect(await reporting.dataOf(reporting.call('GET', `${board}/schedules`, token))).toEqual([]);
    expect(reporting.mailbox.received).toEqual([]);
    const { id } = await reporting.schedule(ann, { format: 'png' });
    await reporting.sendNow(ann, id);
    expect(await reporting.ended(id)).toEqual(['sent', null]);
    const mail = reporting.mailbox.received[0]?.mail;
    const plain = (text = ''): string =>
      text
        .replace(/data:image\/png;base64,[\w+/=]*|cid:[\w-]+/g, 'PICTURE')
        .replace(/https:\/\/analytics\.example[^"\s]*/g, 'STOP')
        .replace(/\r\n/g, '\n')
        .trim();
    expect(seen.subject).toBe(mail?.subject);
    expect(plain(seen.text)).toBe(plain(mail?.text));
    expect(plain(seen.html)).toBe(plain(String(mail?.html)));
    expect(seen.html).toContain('data:image/png;base64,');
  });

  test('loads nothing, and names the files that would be attached with their sizes', async () => {
    const started = await reporting.start(policy());
    const ann = await login(started, started.clientId, 'ann');
    expect((await previewOf(ann)).html).not.toMatch(/cid:|src="(?!data:)|<script|<link|url\(/);
    const { files, html } = await previewOf(ann, { format: 'csv' });
    expect(html).not.toContain('<img');
    expect(files).toHaveLength(2);
    expect(files[0]).toEqual({ name: expect.stringMatching(/\.csv$/), bytes: (await reporting.csvOf(ann)).length });
  });

  test('shows each user its own rows: none of another tenant, and none of a colleague', async () => {
    const started = await reporting.start(policy());
    const users = [
      await login(started, 'a', 'ann', { states: ['NY'] }),
      await login(started, 'a', 'bob', { states: ['CA', 'NV'] }),
      await login(started, 'b', 'ann', { states: ['NY'] }),
    ];
    const rows = await Promise.all(users.map(drawn));
    expect(new Set(rows).size).toBe(3);
    for (const [index, user] of users.entries()) {
      const { html } = await previewOf(user);
      expect(rows.map((own) => html.includes(own))).toEqual(rows.map((_, other) => other === index));
    }
    const [ann, , other] = users as [User, User, User];
    expect(await refusalOf({ ...other, board: ann.board })).toEqual([403, 'UNAUTHORIZED']);
  });

  test('is read by the token that asks, though a later login of the same user opens more', async () => {
    const started = await reporting.start(policy());
    const before = await login(started, 'a', 'ann', { states: ['NY'] });
    const rows = await drawn(before);
    started.clock.advance(1000);
    const iat = Math.floor(started.clock.now().getTime() / 1000);
    const after = await login(started, 'a', 'ann', { iat });
    expect(await drawn(after)).not.toBe(rows);
    expect((await previewOf(before)).html).toContain(rows);
    expect((await previewOf(before)).html).not.toContain(await drawn(after));
  });

  test('names no card that the token hides, and none of another dashboard', async () => {
    const hidden = { name: 'hidden', when: '"some" in user.roles', restrict: { hideMetrics: { delays: ['States'] } } };
    const started = await reporting.start(policy({ restrictions: [ownStates, hidden] }));
    const ann = await login(started, 'a', 'ann', { roles: [] });
    const bob = await login(started, 'a', 'bob', { roles: ['some'] });
    const namesFor = async (user: User, more: object = {}) =>
      (await previewOf(user, { format: 'csv', ...more })).files.map(({ name }) => name);
    expect(await namesFor(ann)).toContain('States.csv');
    expect(await namesFor(bob)).not.toContain('States.csv');
    const metricIds = [await metricIdOf(ann, 'States')];
    expect(await namesFor(ann, { metricIds })).toEqual(['States.csv']);
    expect(await refusalOf(bob, { metricIds })).toEqual([403, 'UNAUTHORIZED']);
    expect(await refusalOf(ann, { metricIds: ['of-another-dashboard'] })).toEqual([403, 'UNAUTHORIZED']);
  });

  test('is refused to those who could not make the schedule', async () => {
    const started = await reporting.start(policy());
    const without = await login(started, started.clientId, 'nobody', { email: 'nobody@elsewhere.example' });
    expect(await refusalOf(without)).toEqual([403, 'UNAUTHORIZED']);
    const ann = await login(started, started.clientId, 'ann');
    const toOthers = { recipients: { users: [], roles: ['manager'], addresses: [] } };
    expect(await refusalOf(ann, toOthers)).toEqual([403, 'UNAUTHORIZED']);
    expect(await refusalOf(ann, { channel: 'operations' })).toEqual([400, 'INVALID_REQUEST_BODY']);
    const closed = reportPolicy({ rules: [{ ...all, grant: { templates: ['routes'] } }] });
    const other = await reporting.start(closed);
    expect(await refusalOf(await login(other, other.clientId, 'ann'))).toEqual([403, 'UNAUTHORIZED']);
  });

  test('says what an alert would say, whether or not its rows are in breach', async () => {
    const started = await reporting.start(policy());
    const ann = await login(started, started.clientId, 'ann');
    const metricId = await metricIdOf(ann, 'States');
    const alert = { metricId, measure: 'Sales', condition: { is: 'above', value: 1_000_000_000 } };
    const { text, subject } = await previewOf(ann, { name: 'Many', format: 'alert', alert });
    expect(subject).toContain('Many');
    expect(text).toContain('1,000,000,000');
  });

  test('says that it passes if a chart cannot be drawn now', async () => {
    const started = await reporting.start(policy());
    const ann = await login(started, started.clientId, 'ann');
    reporting.drawing.isBroken = true;
    expect(await refusalOf(ann)).toEqual([503, 'METRIC_QUERY_ERROR']);
    reporting.drawing.isBroken = false;
  });
});
