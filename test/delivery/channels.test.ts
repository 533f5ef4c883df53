/**
 * Alerts to channels: a real receiver that verifies signatures. What arrives is what the owner's own token reads, and
 * only while the policy grants the channel.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Channel } from '../../src/platform/config/channels.js';
import { isPostgresThere } from '../suites/postgres.js';
import { all, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const hourly = { cron: '30 * * * *', timezone: 'Europe/Berlin' };
const granting = (channels: readonly string[], more: object = {}) =>
  reportPolicy({ rules: [{ ...all, grant: { ...all.grant, channels } }], ...more });
const restrictedTo = (states: readonly string[]) =>
  granting(['ops'], {
    restrictions: [{ name: 'states', when: 'true', restrict: { dashboardFilters: { State: JSON.stringify(states) } } }],
  });

type Body = {
  readonly isSigned: boolean;
  readonly type: string;
  readonly data: { readonly tenant: string; readonly alert: { readonly value: number } };
};

describe.skipIf(!(await isPostgresThere()))('alerts to channels', () => {
  let reporting: Reporting;
  let server: Server;
  const received: Body[] = [];
  let answer = 200;
  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (piece) => {
        text += piece;
      });
      request.on('end', () => {
        const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given } = request.headers;
        const expected = new Webhook(secret).sign(String(id), new Date(Number(time) * 1000), text);
        received.push({ ...(JSON.parse(text) as Body), isSigned: given === expected });
        response.writeHead(answer).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const ops: Channel = { name: 'ops', kind: 'webhook', url, secrets: [secret], allowsPrivate: false };
    reporting = await openReporting(undefined, [ops, { ...ops, name: 'others' }]);
  }, 60_000);
  afterAll(async () => {
    await reporting.close();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  beforeEach(() => {
    received.length = 0;
    answer = 200;
  });

  const metricOf = async (user: User) => (await reporting.metricsOf(user))[0]?.metricId ?? '';
  const planOf = async (user: User, channel: string, value = 0) => ({
    ...{ name: 'Many', format: 'alert', recurrence: hourly, channel },
    alert: { metricId: await metricOf(user), measure: 'Sales', condition: { is: 'above', value } },
  });
  const make = async (user: User, channel = 'ops') => reporting.schedule(user, await planOf(user, channel));
  const send = async (user: User, id: string) => {
    await reporting.sendNow(user, id);
    return reporting.ended(id);
  };
  const readBy = async (user: User) => {
    const body = { dashboardId: user.board.split('/').at(-1) };
    const path = `/api/v2/guest/metrics/${await metricOf(user)}/query`;
    const { body: answered } = await reporting.call('POST', path, user.token, body);
    return (answered as { data: { Sales: number }[] }).data[0]?.Sales;
  };

  test('say what the owner’s own token reads at that moment, for any tenant and restriction', async () => {
    const started = await reporting.start();
    const states = fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('a', 'b'), states, states, async (org, before, after) => {
        received.length = 0;
        await started.policies.change(restrictedTo(before));
        const { id } = await make(await reporting.login(started, org));
        await started.policies.change(restrictedTo(after));
        const late = await reporting.login(started, org);
        expect(await send(late, id)).toEqual(['sent', null]);
        expect(received.map(({ data, isSigned }) => [data.tenant, data.alert.value, isSigned])).toEqual([
          [org, await readBy(late), true],
        ]);
        await reporting.dataOf(reporting.call('DELETE', `${late.board}/schedules`, late.token, { scheduleId: id }));
      }),
      { numRuns: 6 },
    );
    expect(reporting.mailbox.received).toEqual([]);
  }, 60_000);

  test('are offered and made only as the policy grants', async () => {
    const started = await reporting.start(granting(['ops', 'unknown']));
    const user = await reporting.login(started, started.clientId, { email: undefined });
    const list = () => reporting.dataOf(reporting.call('GET', `${user.board}/schedules/channels`, user.token));
    expect(await list()).toEqual([{ name: 'ops', kind: 'webhook' }]);
    for (const channel of ['others', 'unknown', 'https://evil.example']) {
      const made = await reporting.call('POST', `${user.board}/schedules`, user.token, await planOf(user, channel));
      expect(made.status, channel).toBe(403);
    }
    expect((await make(user)).id).toBeDefined();
    await started.policies.change(granting([]));
    expect(await list()).toEqual([]);
    const asFile = { name: 'x', format: 'csv', recurrence: hourly, channel: 'ops' };
    expect((await reporting.call('POST', `${user.board}/schedules`, user.token, asFile)).status).toBe(400);
  }, 30_000);

  const endings: readonly (readonly [string, string, (started: Started) => Promise<unknown>])[] = [
    ['the policy grants the channel no longer', 'no-channel', ({ policies }) => policies.change(granting([]))],
    [
      'another template has the channel',
      'no-channel',
      ({ policies }) =>
        policies.change(
          reportPolicy({
            rules: [all, { name: 'routes', when: 'true', grant: { templates: ['routes'], channels: ['ops'] } }],
          }),
        ),
    ],
    [
      'the policy grants nothing',
      'no-right',
      ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, when: 'false' }] })),
    ],
    [
      'the tenant is suspended',
      'no-right',
      ({ run, clientId }) => Promise.resolve(run('tenant-suspend', { clientId })),
    ],
  ];
  test.each(endings)(
    'are not posted once %s',
    async (_, reason, end) => {
      const started = await reporting.start(granting(['ops']));
      const { id } = await make(await reporting.login(started, started.clientId));
      await end(started);
      await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
      expect([await reporting.ended(id), received]).toEqual([['skipped', reason], []]);
    },
    30_000,
  );

  test('fail for good where the receiver refuses them', async () => {
    const started = await reporting.start(granting(['ops']));
    const user = await reporting.login(started, started.clientId);
    const { id } = await make(user);
    answer = 302;
    expect([await send(user, id), received.length]).toEqual([['failed', 'channel-refused'], 1]);
  }, 30_000);
});
