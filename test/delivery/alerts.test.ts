/**
 * Alerts from the operation to the mailbox: real gateway, service, rows, ledger and mail server. What a message says is
 * what the recipient's own token reads at that moment, and nothing of an earlier right is used or told.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DeliveryReason, DeliveryState } from '../../src/model/schedule/schedule.js';
import { columnRef, metric } from '../engine/world.js';
import { sign, startSeconds } from '../gateway/harness.js';
import { all, openReporting, type Reporting, reportPolicy, restricted, type Started, type User } from './reporting.js';

const hourly = { cron: '30 * * * *', timezone: 'Europe/Berlin' };
const byState = metric('sales', {
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
});
const sale = (id: number, client: string, shop: string) => `INSERT INTO sales VALUES (${id}, '${client}', '${shop}')`;

let reporting: Reporting;
beforeAll(async () => {
  reporting = await openReporting();
  await reporting.addMetric('delays', 'States', byState);
  // Before the first login: a tenant's copy is as the template was then.
  const sort = [{ name: 'Sales', direction: 'DESC' }] as const;
  await reporting.addMetric('delays', 'Greatest', { ...byState, sort, limit: 1, others: true });
}, 60_000);
afterAll(() => reporting.close());
beforeEach(async () => {
  reporting.mailbox.received.length = 0;
  await reporting.changeRows([]);
});

const metricId = async (user: User, name = 'Sales'): Promise<string> => {
  const { metrics } = await reporting.dataOf<{ metrics: { metricId: string; name: string }[] }>(
    reporting.call('GET', user.board, user.token),
  );
  const found = metrics.find((metric) => metric.name.startsWith(name));
  if (found === undefined) throw new Error(`the dashboard has no metric ${name}: ${metrics.map((one) => one.name)}`);
  return found.metricId;
};
type Plan = { readonly condition?: object; readonly of?: string; readonly more?: object; readonly name?: string };
const alertOf = async (user: User, { condition = { is: 'above', value: 5 }, of, more, name = 'Many' }: Plan) => {
  const alert = { metricId: await metricId(user, of), measure: 'Sales', condition, ...more };
  return reporting.schedule(user, { name, format: 'alert', recurrence: hourly, alert });
};
let moments = 0;
type End = readonly [DeliveryState | undefined, DeliveryReason | null | undefined];
/** Lets the schedule come once, and returns how its delivery ended. */
const check = async (scheduleId: string): Promise<End> => {
  moments += 1;
  const now = reporting.service.deps.clock.now().getTime();
  const moment = new Date(now - 1_500_000 + moments * 1000);
  await reporting.service.store.schedules.setNext(scheduleId, moment);
  return reporting.until(async () => {
    const row = (await reporting.rowsOf(scheduleId)).find((one) => one.moment.getTime() === moment.getTime());
    expect(['sent', 'skipped', 'failed']).toContain(row?.state);
    return [row?.state, row?.reason] as const;
  });
};
const subjects = (): readonly (string | undefined)[] => reporting.mailbox.received.map(({ mail }) => mail.subject);
const lastText = (): string => reporting.mailbox.received.at(-1)?.mail.text ?? '';
const readBy = async (user: User, of?: string) => {
  const id = await metricId(user, of);
  const body = { dashboardId: user.board.split('/').at(-1) };
  const answer = await reporting.call('POST', `/api/v2/guest/metrics/${id}/query`, user.token, body);
  return (answer.body as { data: Readonly<Record<string, unknown>>[] }).data;
};
const statusOf = async (user: User, scheduleId: string) => {
  const found = await reporting.dataOf<{ id: string; status: { isBreached: boolean } | null }[]>(
    reporting.call('GET', `${user.board}/schedules`, user.token),
  );
  return found.find(({ id }) => id === scheduleId)?.status;
};
const quiet = ['skipped', 'nothing-to-tell'];

test('tell a breach once, and its end once, with value and link', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `once-` });
  const { id } = await alertOf(user, {});
  expect([await check(id), await statusOf(user, id)]).toMatchObject([quiet, { isBreached: false }]);
  await reporting.changeRows([sale(7, 'a', 's1'), sale(8, 'b', 's1')]);
  expect([await check(id), await check(id)]).toEqual([['sent', null], quiet]);
  expect([subjects(), await statusOf(user, id)]).toMatchObject([['Alert: Many: Delays'], { isBreached: true }]);
  expect(lastText()).toContain('Sales: Sales is 6.\n\nThe value is above 5.');
  expect(lastText()).toContain(`https://app.example/reports/${user.board.split('/').at(-1)}`);
  await reporting.changeRows([]);
  expect([await check(id), await check(id)]).toEqual([['sent', null], quiet]);
  expect(subjects()).toEqual(['Alert: Many: Delays', 'Recovered: Many: Delays']);
  expect(lastText()).toContain('Sales: Sales is 5.\n\nThe value is not above 5.');
}, 30_000);

test('judge the groups that a metric shows, and not the row that combines all others', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `others-` });
  const rows = await readBy(user, 'Greatest');
  const [greatest = 0, others = 0] = rows.map(({ Sales }) => Number(Sales));
  expect(rows.length).toBe(2);
  const { id } = await alertOf(user, { condition: { is: 'above', value: greatest }, of: 'Greatest' });
  expect([others > greatest, await check(id)]).toEqual([true, quiet]);
}, 30_000);

test('say what the recipient’s own token reads at that moment, for any tenant and restriction', async () => {
  const started = await reporting.start();
  const states = fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('a', 'b'), states, states, fc.nat(3), async (org, before, after, sales) => {
      reporting.mailbox.received.length = 0;
      await reporting.changeRows(Array.from({ length: sales }, (_, index) => sale(100 + index, org, 's2')));
      await started.policies.change(restricted(before));
      const early = await reporting.login(started, org);
      const { id } = await alertOf(early, { condition: { is: 'above', value: 0 } });
      await check(id);
      await started.policies.change(restricted(after));
      const late = await reporting.login(started, org);
      await reporting.sendNow(late, id);
      expect(await reporting.ended(id)).toEqual(['sent', null]);
      const [row] = await readBy(late);
      expect(lastText()).toContain(`Sales is ${row?.Sales}.`);
      const isAnew = JSON.stringify(before) !== JSON.stringify(after);
      expect(lastText().includes('began anew')).toBe(isAnew);
      await reporting.dataOf(reporting.call('DELETE', `${late.board}/schedules`, late.token, { scheduleId: id }));
    }),
    { numRuns: 6 },
  );
}, 120_000);

test('keep nothing of an earlier right: the state is dropped, and the next message says so', async () => {
  const started = await reporting.start(restricted(['CA', 'NV']));
  const user = await reporting.login(started, 'a', { sub: `anew-` });
  const { id } = await alertOf(user, { condition: { is: 'above', value: 2 } });
  expect(await check(id)).toEqual(['sent', null]);
  expect(lastText()).toContain('Sales is 3.');
  await started.policies.change(restricted(['CA']));
  const late = await reporting.login(started, 'a', { sub: `anew-` });
  expect(await statusOf(late, id)).toBeNull();
  expect(await check(id)).toEqual(['sent', null]);
  expect(subjects().at(-1)).toBe('Checked: Many: Delays');
  expect(lastText()).toContain('Sales is 2.\n\nThe value is not above 2.\n\nWhat you may see has changed');
  expect([await check(id), await statusOf(late, id)]).toMatchObject([quiet, { isBreached: false }]);
}, 30_000);

test('compare a change with the last check of the same right only', async () => {
  const started = await reporting.start(restricted(['CA', 'NV']));
  const user = await reporting.login(started, 'a', { sub: `change-` });
  const { id } = await alertOf(user, { condition: { is: 'changeBelow', percent: -10, to: 'lastCheck' } });
  expect(await check(id)).toEqual(quiet);
  await started.policies.change(restricted(['CA']));
  expect(await check(id)).toEqual(quiet);
  await reporting.changeRows(['DELETE FROM sales WHERE id = 1']);
  expect(await check(id)).toEqual(['sent', null]);
  expect(lastText()).toContain('Sales is 1.\n\nBefore: 2. The change is -50%.\n\nThe change is below -10%.');
  expect(lastText()).toContain('began anew');
}, 30_000);

test('tell each new row once, and only rows that the recipient may read', async () => {
  const started = await reporting.start(restricted(['CA', 'NV']));
  const user = await reporting.login(started, 'b', { sub: `rows-` });
  const { id } = await alertOf(user, { condition: { is: 'newKey' }, of: 'States' });
  expect(await check(id)).toEqual(quiet);
  await reporting.changeRows([sale(7, 'b', 's2'), sale(8, 'b', 's3')]);
  expect([await check(id), await check(id)]).toEqual([['sent', null], quiet]);
  expect(lastText()).toContain('States: new: NV.');
  // The link ends with random letters.
  expect(lastText().replaceAll(/https:\S+/g, '')).not.toContain('NY');
  await started.policies.change(restricted(['CA', 'NV', 'NY']));
  expect(await check(id)).toEqual(quiet);
  expect(await reporting.service.dumpAll()).not.toContain('"keys"');
}, 30_000);

test('tell missing data, and that it is there again', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'b', { sub: `missing-` });
  const { id } = await alertOf(user, { condition: { is: 'missing' }, of: 'States' });
  await reporting.changeRows(["DELETE FROM sales WHERE client = 'b'"]);
  expect(await check(id)).toEqual(['sent', null]);
  expect(lastText()).toContain('States: Sales has no value.\n\nThe data is missing.');
  await reporting.changeRows([]);
  expect(await check(id)).toEqual(['sent', null]);
  expect(subjects().at(-1)).toBe('Recovered: Many: Delays');
}, 30_000);

const noRight = ['skipped', 'no-right'];
const endings: readonly (readonly [string, (started: Started, user: User) => Promise<unknown>])[] = [
  [
    'the policy grants nothing',
    ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, when: 'false' }] })),
  ],
  [
    'the policy hides the metric',
    ({ policies }) =>
      policies.change(
        reportPolicy({
          restrictions: [{ name: 'hidden', when: 'true', restrict: { hideMetrics: { delays: ['Sales'] } } }],
        }),
      ),
  ],
  ['the tenant is suspended', ({ run, clientId }) => Promise.resolve(run('tenant-suspend', { clientId }))],
  [
    'the user is revoked',
    ({ run, clock }, { session }) => {
      clock.advance(1000);
      return Promise.resolve(run('revoke', { by: 'user', subject: session.sub, issuer: session.iss, reason: 'left' }));
    },
  ],
  [
    'the user’s next session has another role',
    async (started, { session }) => {
      await started.policies.change(reportPolicy({ rules: [{ ...all, when: '!("left" in user.roles)' }] }));
      started.clock.advance(1000);
      await started.refused(sign({ ...session, roles: ['left'], iat: startSeconds + 1 }));
    },
  ],
];
test.each(endings)(
  'are not sent by a right that has ended: %s',
  async (_, end) => {
    const started = await reporting.start();
    const user = await reporting.login(started, started.clientId, { roles: [] });
    const { id } = await alertOf(user, { condition: { is: 'below', value: 100 } });
    await end(started, user);
    expect([await check(id), reporting.mailbox.received]).toEqual([noRight, []]);
  },
  30_000,
);

test('are erased with the tenant: rule, state and history', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, started.clientId);
  const { id } = await alertOf(user, { condition: { is: 'below', value: 100 } });
  expect(await check(id)).toEqual(['sent', null]);
  await started.run('tenant-delete', { clientId: started.clientId });
  expect(await reporting.rowsOf(id)).toEqual([]);
  expect(await reporting.service.dumpAll()).not.toContain(started.clientId);
}, 30_000);

test('show their chart as the recipient’s own token draws it, and leave without it where it may not be drawn', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `chart-` });
  const { id } = await alertOf(user, { condition: { is: 'below', value: 100 } });
  const { id: second } = await alertOf(user, { condition: { is: 'below', value: 99 } });
  expect(await check(id)).toEqual(['sent', null]);
  const mine = await reporting.csvOf(user);
  expect(reporting.arrived()).toEqual([mine]);
  expect(reporting.mailbox.received[0]?.mail.html).toContain('alt="Picture of Sales"');
  started.policies.change(reportPolicy({ rules: [{ ...all, grant: { templates: ['delays'] } }] }));
  expect(await check(second)).toEqual(['sent', null]);
  expect(reporting.arrived()).toEqual([mine]);
}, 30_000);

test('leave without their chart when it takes too long to draw, as while other tenants have theirs drawn', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `slow-` });
  const { id } = await alertOf(user, { condition: { is: 'below', value: 100 } });
  reporting.drawing.isStuck = true;
  try {
    expect(await check(id)).toEqual(['sent', null]);
  } finally {
    reporting.drawing.isStuck = false;
  }
  expect(reporting.arrived()).toEqual([]);
}, 60_000);

test('carry names and rows as text: no header, no markup', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `names-` });
  const name = 'Many\u2028Bcc: eve@evil.example <img src=x onerror=alert(1)>';
  const { id } = await alertOf(user, { condition: { is: 'newKey' }, of: 'States', name });
  expect(await check(id)).toEqual(quiet);
  const state = "'X' || chr(13) || chr(10) || 'Bcc: eve@evil.example' || chr(13) || chr(10) || '<img src=y>'";
  await reporting.changeRows([`INSERT INTO shops VALUES ('s9', ${state})`, sale(7, 'a', 's9')]);
  expect(await check(id)).toEqual(['sent', null]);
  const [{ mail, recipients }] = reporting.mailbox.received as [(typeof reporting.mailbox.received)[0]];
  expect([recipients, mail.bcc]).toEqual([['ann@customer.example'], undefined]);
  expect(String(mail.html)).not.toMatch(/<img src=[xy]/);
  expect(mail.text).toContain('new: X Bcc: eve@evil.example <img src=y>.');
}, 30_000);

test('leave no address, name or value in the log', async () => {
  const started = await reporting.start();
  const user = await reporting.login(started, 'a', { sub: `log-` });
  const { id } = await alertOf(user, { condition: { is: 'above', value: 4.125 }, name: 'Unmistakable' });
  expect(await check(id)).toEqual(['sent', null]);
  expect(started.reportLines.length).toBeGreaterThan(0);
  expect(JSON.stringify(started.reportLines)).not.toMatch(/customer\.example|Unmistakable|4\.125/);
}, 30_000);
