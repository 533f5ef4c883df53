/**
 * Alerts of the host to all tenants of a template, by e-mail and to channels, over real parts. Each user's own token reads
 * the tenant's own metric at that moment, and what one check found counts for that user of that tenant alone.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Channel } from '../../src/platform/config/channels.js';
import { columnRef, metric } from '../engine/world.js';
import { isPostgresThere } from '../suites/postgres.js';
import { all, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const ownStates = { name: 'own states', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } };
type Granting = { readonly barred?: readonly string[]; readonly channels?: readonly string[] };
/** Grants the dashboard to the tenants that are not barred, and the channel to the named ones. */
const policy = ({ barred = [], channels = [] }: Granting = {}) =>
  reportPolicy({
    rules: [
      { ...all, when: `!(tenant.id in ${JSON.stringify(barred)})` },
      {
        name: 'channels',
        when: `tenant.id in ${JSON.stringify(['none', ...channels])}`,
        grant: { templates: ['delays'], channels: ['ops'] },
      },
    ],
    restrictions: [ownStates],
  });

const states = ['CA', 'NV', 'NY'];
const byState = metric('sales', {
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
});
const path = '/api/v2/data-app/schedules';
const hourly = { cron: '30 * * * *', timezone: 'Europe/Berlin' };
const sale = (id: number, org: string, shop = 's1') => `INSERT INTO sales VALUES (${id}, '${org}', '${shop}')`;

type Row = {
  readonly clientId: string;
  readonly recipient: string;
  readonly state: string;
  readonly reason: string | null;
  readonly moment: string;
};
type Posted = { readonly type: string; readonly data: { readonly tenant: string; readonly alert: object } };

describe.skipIf(!(await isPostgresThere()))('alerts of the host', () => {
  let reporting: Reporting;
  let server: Server;
  const posted: Posted[] = [];
  let run = 0;
  let moments = 0;
  const rows = Array.from({ length: 20 }, (_, index) => [0, 1, 2].map((at) => `t${index}-${at}`))
    .flat()
    .map(
      (org, index) =>
        `INSERT INTO sales SELECT 1000 + range, '${org}', ['s1', 's2', 's3'][1 + range % 3] FROM range(${1 + (index % 7)})`,
    );

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (piece) => {
        text += piece;
      });
      request.on('end', () => {
        posted.push(JSON.parse(text) as Posted);
        response.writeHead(200).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const ops: Channel = { name: 'ops', kind: 'webhook', url, secrets: [secret], allowsPrivate: false };
    reporting = await openReporting(undefined, [ops]);
    await reporting.addMetric('delays', 'States', byState);
  }, 120_000);
  afterAll(async () => {
    await reporting.close();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  beforeEach(async () => {
    run += 1;
    posted.length = 0;
    reporting.mailbox.received.length = 0;
    reporting.mailbox.behave('take');
    await reporting.changeRows(rows);
  });

  const ask = <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', more: string, body?: object): Promise<T> =>
    reporting.dataOf<T>(reporting.call(method, `${path}${more}`, reporting.service.upstream.apiKey, body));
  const login = (started: Started, org: string, name: string, more: object = {}): Promise<User> => {
    const iat = Math.floor(started.clock.now().getTime() / 1000);
    const claims = { sub: name, email: `${name}.${org}@customer.example`, roles: [], states, iat };
    return reporting.login(started, org, { ...claims, ...more });
  };
  const metricId = 'delays-count';
  const alertOf = (value: number, more: object = {}) => ({
    ...{ metricId, measure: 'Sales', condition: { is: 'above', value } },
    ...more,
  });
  const make = (value: number, more: object = {}): Promise<{ readonly id: string }> =>
    ask('POST', '', {
      ...{ dashboardId: 'delays', name: 'Many', format: 'alert', recurrence: hourly, alert: alertOf(value) },
      ...more,
    });
  const outcomesOf = async (scheduleId: string, moment?: Date): Promise<Readonly<Record<string, string>>> => {
    const found = (await ask<readonly Row[]>('GET', '/deliveries', { scheduleId })).filter(
      (row) => moment === undefined || row.moment === moment.toISOString(),
    );
    expect(found.length).toBeGreaterThan(0);
    return Object.fromEntries(
      found.map(({ clientId, recipient, state, reason }) => [
        `${clientId} ${recipient.replace(/^.*\|/, '')}`.trim(),
        reason ?? state,
      ]),
    );
  };
  const ended = (scheduleId: string, moment?: Date) =>
    reporting.until(async () => {
      await outcomesOf(scheduleId, moment);
      expect(await reporting.service.store.deliveries.hasOpen(scheduleId)).toBe(false);
      return outcomesOf(scheduleId, moment);
    });
  /** Lets the alert come once, and returns what became of it, by tenant and user. */
  const check = async (scheduleId: string): Promise<Readonly<Record<string, string>>> => {
    moments += 1;
    const moment = new Date(reporting.service.deps.clock.now().getTime() - 1_500_000 + moments * 1000);
    await reporting.service.store.schedules.setNext(scheduleId, moment);
    return ended(scheduleId, moment);
  };
  /** What each mailbox was told, without the sentences about the limit. */
  const told = (): Readonly<Record<string, readonly string[]>> => {
    const found: Record<string, string[]> = {};
    for (const { mail, recipients } of reporting.mailbox.received) {
      const value = /Sales is (\d+)\./.exec(mail.text ?? '')?.[1] ?? '';
      for (const to of recipients) found[to] = [...(found[to] ?? []), `${mail.subject?.split(':')[0]} ${value}`];
    }
    return found;
  };
  const ownValue = async (user: User): Promise<number> => {
    const [metric] = await reporting.metricsOf(user);
    const body = { dashboardId: user.board.split('/').at(-1) };
    const answer = await reporting.call('POST', `/api/v2/guest/metrics/${metric?.metricId}/query`, user.token, body);
    return (answer.body as { data: readonly { readonly Sales: number }[] }).data[0]?.Sales ?? Number.NaN;
  };
  const remove = (scheduleId: string) => ask('DELETE', '', { scheduleId });

  test('tell exactly those whose own rows are in breach, once, for any tenants, restrictions and changes', async () => {
    const started = await reporting.start(policy());
    const someStates = fc.subarray(states, { minLength: 1 });
    const user = fc.record({ before: someStates, after: someStates });
    const fate = fc.constantFrom('stays', 'stays', 'stays', 'barred', 'suspended', 'erased', 'joins');
    const tenant = fc.record({ users: fc.array(user, { minLength: 1, maxLength: 2 }), fate });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(tenant, { minLength: 2, maxLength: 3 }), fc.nat(4), async (given, limit) => {
        round += 1;
        reporting.mailbox.received.length = 0;
        await started.policies.change(policy());
        const tenants = given.map((each, index) => ({ ...each, org: `t${round}-${index}` }));
        const names = ['u0', 'u1'].map((name) => `${name}-${round}`);
        for (const { org, users, fate: ends } of tenants) {
          for (const [index, { before }] of users.entries()) {
            if (ends !== 'joins') await login(started, org, names[index] ?? '', { states: before });
          }
        }
        const { id } = await make(limit, { recipients: { users: names.map((name) => `guestlist-demo|${name}`) } });
        started.clock.advance(1000);
        const expected: Record<string, readonly string[]> = {};
        for (const { org, users, fate: ends } of tenants) {
          for (const [index, { after }] of users.entries()) {
            const name = names[index] ?? '';
            const late = await login(started, org, name, { states: after });
            if (!['stays', 'joins'].includes(ends)) continue;
            const value = await ownValue(late);
            if (value > limit) expected[`${name}.${org}@customer.example`] = [`Alert ${value}`];
          }
        }
        const orgs = (wanted: string) => tenants.filter(({ fate: ends }) => ends === wanted).map(({ org }) => org);
        for (const clientId of orgs('suspended')) await started.run('tenant-suspend', { clientId });
        for (const clientId of orgs('erased')) await started.run('tenant-delete', { clientId });
        await started.policies.change(policy({ barred: orgs('barred') }));
        const outcomes = await check(id);
        expect(told()).toEqual(expected);
        for (const org of orgs('suspended')) expect(outcomes[org]).toBe('tenant-suspended');
        for (const org of orgs('erased')) expect(JSON.stringify(outcomes)).not.toContain(org);
        await check(id);
        expect(told()).toEqual(expected);
        await remove(id);
      }),
      { numRuns: 6 },
    );
  }, 240_000);

  const ann = (): string => `ann${run}`;
  const toAnn = () => ({ recipients: { users: [`guestlist-demo|${ann()}`] } });
  /** Two tenants of one test, each with a user of the same name. */
  const openTwo = async (given: Granting = {}, more: object = {}) => {
    const started = await reporting.start(policy(given));
    const [one, two] = [`north${run}`, `south${run}`];
    for (const org of [one, two]) await login(started, org, ann(), more);
    return { started, one, two, at: (org: string) => `${ann()}.${org}@customer.example` };
  };

  test('tell a breach and its end to the tenant whose value it is, and nothing to another one', async () => {
    const { one, two, at } = await openTwo();
    const { id } = await make(1, toAnn());
    const quiet = { [`${one} ${ann()}`]: 'nothing-to-tell', [`${two} ${ann()}`]: 'nothing-to-tell' };
    expect(await check(id)).toMatchObject(quiet);
    await reporting.changeRows([sale(900, one), sale(901, one)]);
    expect(await check(id)).toMatchObject({ ...quiet, [`${one} ${ann()}`]: 'sent' });
    await reporting.changeRows([sale(900, one), sale(901, one), sale(902, two), sale(903, two), sale(904, two)]);
    expect(await check(id)).toMatchObject({ ...quiet, [`${two} ${ann()}`]: 'sent' });
    await reporting.changeRows([sale(902, two), sale(903, two), sale(904, two)]);
    expect(await check(id)).toMatchObject({ ...quiet, [`${one} ${ann()}`]: 'sent' });
    expect(told()).toEqual({ [at(one)]: ['Alert 2', 'Recovered 0'], [at(two)]: ['Alert 3'] });
    // What is asked for at once says what is, told before or not.
    await ask('POST', '/send', { scheduleId: id });
    await ended(id);
    expect(told()).toMatchObject({
      [at(one)]: ['Alert 2', 'Recovered 0', 'Checked 0'],
      [at(two)]: ['Alert 3', 'Checked 3'],
    });
    await remove(id);
  }, 120_000);

  test('tell each tenant its own new rows of the named metric, and of states that the user may see', async () => {
    const { started, one, two, at } = await openTwo();
    await login(started, two, ann(), { states: ['CA'] });
    const alert = { metricId: 'delays-States', measure: 'Sales', condition: { is: 'newKey' } };
    const { id } = await make(0, { ...toAnn(), alert });
    await check(id);
    const sales = [one, two].flatMap((org, index) =>
      ['s2', 's3'].map((shop, other) => sale(900 + 2 * index + other, org, shop)),
    );
    await reporting.changeRows([...sales, sale(990, two)]);
    await check(id);
    await check(id);
    const texts = reporting.mailbox.received.map(({ mail, recipients }) => [
      recipients[0],
      /new: (.*)\./.exec(mail.text?.replaceAll('\n', ' ') ?? '')?.[0].split('.')[0],
    ]);
    expect(texts.toSorted()).toEqual([
      [at(one), expect.stringMatching(/NV.*NY|NY.*NV/)],
      [at(two), 'new: CA'],
    ]);
    await remove(id);
  }, 120_000);

  test('fail in the tenant that changed its metric, and nowhere else', async () => {
    const { one, two, at } = await openTwo();
    const { id } = await make(1, toAnn());
    await reporting.changeRows([sale(900, one), sale(901, one), sale(902, two), sale(903, two)]);
    const { store } = reporting.service;
    const board = await store.dashboards.findByExternalId(reporting.service.api().dataAppId, `delays--${one}`);
    const [own] = await store.dashboards.listMetrics(board?.id ?? '');
    if (own?.metric.definition.kind !== 'visual') throw new Error('the copy has its metric');
    const definition = { ...own.metric.definition, measures: [{ name: 'Turnover', aggregate: 'COUNT' as const }] };
    await store.metrics.update({ ...own.metric, definition });
    expect(await check(id)).toMatchObject({ [`${one} ${ann()}`]: 'metric-changed', [`${two} ${ann()}`]: 'sent' });
    expect(told()).toEqual({ [at(two)]: ['Alert 2'] });
    await remove(id);
  }, 120_000);

  describe('by a right that ended after the recipients were found', () => {
    const endings: readonly (readonly [string, string, (started: Started, clientId: string) => unknown])[] = [
      ['no-right', 'the tenant is suspended', ({ run: command }, clientId) => command('tenant-suspend', { clientId })],
      ['gone', 'the tenant is erased', ({ run: command }, clientId) => command('tenant-delete', { clientId })],
      ['no-right', 'the policy bars the tenant', ({ policies }, org) => policies.change(policy({ barred: [org] }))],
      [
        'no-right',
        'the user lost the role',
        async (started, clientId) => {
          started.clock.advance(1000);
          await login(started, clientId, ann(), { roles: ['left'] });
        },
      ],
    ];
    test.each(endings)(
      '%s: %s, and the other tenant gets its own',
      async (outcome, _, end) => {
        const { started, one, two, at } = await openTwo({}, { roles: [`sales${run}`] });
        await reporting.changeRows([sale(900, one), sale(901, one), sale(902, two), sale(903, two), sale(904, two)]);
        const { id } = await make(1, { recipients: { roles: [`sales${run}`] } });
        reporting.mailbox.behave('refuse-for-now');
        await ask('POST', '/send', { scheduleId: id });
        await reporting.until(async () => {
          const outcomes = await outcomesOf(id);
          expect([outcomes[`${one} ${ann()}`], outcomes[`${two} ${ann()}`]]).toEqual([
            'mail-postponed',
            'mail-postponed',
          ]);
        });
        await end(started, one);
        reporting.mailbox.behave('take');
        await sql`update guestlist.deliveries set attempt_at = ${reporting.service.deps.clock.now()}
          where schedule_id = ${id} and state = 'due'`.execute(reporting.service.database.connect());
        const outcomes = await ended(id);
        expect([outcomes[`${one} ${ann()}`] ?? 'gone', outcomes[`${two} ${ann()}`]]).toEqual([outcome, 'sent']);
        expect(told()).toEqual({ [at(two)]: ['Alert 3'] });
        await remove(id);
      },
      60_000,
    );
  });

  test('leave nothing of an erased tenant: neither its name nor what its checks found', async () => {
    const { started, one, two } = await openTwo();
    const { id } = await make(0, toAnn());
    await check(id);
    const found = async (): Promise<string> => {
      const db = reporting.service.database.connect();
      const { rows: kept } = await sql`select recipient from guestlist.alert_states where schedule_id = ${id}`.execute(
        db,
      );
      return JSON.stringify(kept);
    };
    expect(await found()).toContain(one);
    await started.run('tenant-delete', { clientId: one });
    const left = await found();
    expect([left.includes(one), left.includes(two)]).toEqual([false, true]);
    expect(await reporting.service.dumpAll()).not.toContain(one);
    await remove(id);
  }, 120_000);

  describe('to a channel', () => {
    const toChannel = (value = 0) => make(value, { ...toAnn(), channel: 'ops' });
    const tenants = (): readonly string[] => posted.map(({ data }) => data.tenant);

    test('go for the tenants to which the policy grants it at that moment, each with its own metric and value', async () => {
      const { started, one, two } = await openTwo({ channels: [`north${run}`] });
      await reporting.changeRows([sale(900, one), sale(901, one), sale(902, two)]);
      const { id } = await toChannel();
      expect(await check(id)).toMatchObject({ [`${one} ${ann()}`]: 'sent', [`${two} ${ann()}`]: 'no-channel' });
      const [own] = await reporting.metricsOf(await login(started, one, ann()));
      expect(posted).toMatchObject([
        { type: 'alert.breached', data: { tenant: one, alert: { value: 2, metricId: own?.metricId } } },
      ]);
      await started.policies.change(policy({ channels: [two] }));
      expect(await check(id)).toMatchObject({ [`${one} ${ann()}`]: 'no-channel', [`${two} ${ann()}`]: 'sent' });
      expect(tenants()).toEqual([one, two]);
      expect(reporting.mailbox.received).toEqual([]);
      await remove(id);
    }, 120_000);

    test('do not go for a suspended tenant, nor for one that the policy bars', async () => {
      const { started, one, two } = await openTwo({ channels: [`north${run}`, `south${run}`] });
      await reporting.changeRows([sale(900, one), sale(901, two)]);
      const { id } = await toChannel();
      await started.run('tenant-suspend', { clientId: one });
      await started.policies.change(policy({ barred: [two] }));
      expect(await check(id)).toMatchObject({ [one]: 'tenant-suspended', [`${two} ${ann()}`]: 'no-right' });
      expect([tenants(), reporting.mailbox.received]).toEqual([[], []]);
      await remove(id);
    }, 120_000);

    test('go as links, too, and a file is refused', async () => {
      const { one } = await openTwo({ channels: [`north${run}`] });
      const link = { ...toAnn(), channel: 'ops', format: 'link', alert: undefined };
      const { id } = await make(0, link);
      expect(await check(id)).toMatchObject({ [`${one} ${ann()}`]: 'sent' });
      expect(posted).toMatchObject([{ type: 'report.due', data: { tenant: one, alert: null } }]);
      await expect(make(0, { ...link, format: 'csv' })).rejects.toThrow('channel: files go by e-mail only');
      await expect(make(0, { ...link, channel: 'theirs' })).rejects.toThrow('channel: expected one of ops');
      await remove(id);
    }, 120_000);
  });
});
