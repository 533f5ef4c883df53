/**
 * Reports of the host to all tenants of a template, from the operation to the mailbox, over real parts. Each mailbox gets
 * what that user's own token reads in that tenant at that moment, and what ends one tenant's ends no other's.
 */
import express from 'express';
import fc from 'fast-check';
import { sql } from 'kysely';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isPostgresThere } from '../suites/postgres.js';
import { all, daily, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const ownStates = { name: 'own states', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } };
/** Grants the dashboard to the tenants that are not barred. */
const policy = (barred: readonly string[] = [], overrides: object = {}) =>
  reportPolicy({
    rules: [{ ...all, when: `!(tenant.id in ${JSON.stringify(barred)})` }],
    restrictions: [ownStates],
    ...overrides,
  });

const states = ['CA', 'NV', 'NY'];
const path = '/api/v2/data-app/schedules';
const weekly = { ...daily, every: 'week', on: ['mon'] };

type Sent = { readonly clientId: string; readonly recipient: string; readonly state: string; readonly reason: string };

describe.skipIf(!(await isPostgresThere()))('reports of the host', () => {
  let reporting: Reporting;
  let run = 0;
  beforeAll(async () => {
    reporting = await openReporting();
    const orgs = Array.from({ length: 20 }, (_, index) => [
      `t${index}-0`,
      `t${index}-1`,
      `t${index}-2`,
      `north${index}`,
    ]).flat();
    // Each tenant sold something else, so that rows of another one show.
    await reporting.changeRows(
      orgs.map(
        (org, index) =>
          `INSERT INTO sales SELECT 1000 + range, '${org}', ['s1', 's2', 's3'][1 + range % 3] FROM range(${3 + index})`,
      ),
    );
  }, 120_000);
  afterAll(() => reporting.close());
  beforeEach(() => {
    run += 1;
    reporting.mailbox.received.length = 0;
    reporting.mailbox.behave('take');
  });

  const ask = <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', more: string, body?: object): Promise<T> =>
    reporting.dataOf<T>(reporting.call(method, `${path}${more}`, reporting.service.upstream.apiKey, body));
  const login = (started: Started, org: string, name: string, more: object = {}): Promise<User> => {
    const iat = Math.floor(started.clock.now().getTime() / 1000);
    const claims = { sub: name, email: `${name}.${org}@customer.example`, roles: [], states, iat };
    return reporting.login(started, org, { ...claims, ...more });
  };
  const make = (more: object = {}): Promise<{ readonly id: string }> =>
    ask('POST', '', { dashboardId: 'delays', name: 'Daily', format: 'csv', recurrence: daily, ...more });
  const history = (scheduleId: string): Promise<readonly Sent[]> => ask('GET', '/deliveries', { scheduleId });
  /** Waits until each message has an outcome, and returns the outcomes by tenant and user. */
  const ended = (scheduleId: string): Promise<Readonly<Record<string, string>>> =>
    reporting.until(async () => {
      const found = await history(scheduleId);
      expect(found.length).toBeGreaterThan(0);
      expect(await reporting.service.store.deliveries.hasOpen(scheduleId)).toBe(false);
      const named = (await history(scheduleId)).map(({ clientId, recipient, state, reason }) => [
        `${clientId} ${recipient.replace(/^.*\|/, '')}`.trim(),
        reason ?? state,
      ]);
      return Object.fromEntries(named);
    });
  const send = async (scheduleId: string): Promise<Readonly<Record<string, string>>> => {
    await ask('POST', '/send', { scheduleId });
    return ended(scheduleId);
  };
  const inboxes = (): Readonly<Record<string, readonly string[]>> => {
    const found: Record<string, string[]> = {};
    for (const { mail, recipients } of reporting.mailbox.received) {
      for (const to of recipients) {
        found[to] = [...(found[to] ?? []), ...mail.attachments.map(({ content }) => content.toString('utf8'))];
      }
    }
    return found;
  };
  /** Tenants of a test's own, since suspensions stay: `a` and `b` are those that have rows. */
  const orgsOf = (...names: readonly string[]): readonly string[] => names.map((name) => `${name}${run}`);

  test('arrive as each user’s own token reads in its tenant at that moment, for any tenants, policies and changes', async () => {
    const started = await reporting.start(policy());
    const someStates = fc.subarray(states, { minLength: 1 });
    const user = fc.record({ before: someStates, after: someStates, wasIn: fc.boolean(), isIn: fc.boolean() });
    const fate = fc.constantFrom('stays', 'stays', 'stays', 'barred', 'suspended', 'erased', 'joins');
    const tenant = fc.record({ users: fc.array(user, { minLength: 1, maxLength: 2 }), fate });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(tenant, { minLength: 2, maxLength: 3 }), fc.boolean(), async (given, isByRole) => {
        round += 1;
        reporting.mailbox.received.length = 0;
        await started.policies.change(policy());
        const tenants = given.map((each, index) => ({ ...each, org: `t${round}-${index}` }));
        const rolesOf = (isIn: boolean) => (isIn ? [`r${round}`] : []);
        // Users of two tenants bear the same names.
        const names = ['u0', 'u1'].map((name) => `${name}-${round}`);
        for (const { org, users, fate: ends } of tenants) {
          for (const [index, { before, wasIn }] of users.entries()) {
            if (ends !== 'joins')
              await login(started, org, names[index] ?? '', { states: before, roles: rolesOf(wasIn) });
          }
        }
        const users = names.map((name) => `guestlist-demo|${name}`);
        const { id } = await make({ recipients: isByRole ? { roles: [`r${round}`] } : { users } });
        started.clock.advance(1000);
        const expected: Record<string, readonly string[]> = {};
        for (const { org, users: some, fate: ends } of tenants) {
          for (const [index, { after, isIn }] of some.entries()) {
            const name = names[index] ?? '';
            const late = await login(started, org, name, { states: after, roles: rolesOf(isIn) });
            if (!['stays', 'joins'].includes(ends) || (isByRole && !isIn)) continue;
            expected[`${name}.${org}@customer.example`] = [await reporting.csvOf(late)];
          }
        }
        const orgs = (wanted: string) => tenants.filter(({ fate: ends }) => ends === wanted).map(({ org }) => org);
        for (const clientId of orgs('suspended')) await started.run('tenant-suspend', { clientId });
        for (const clientId of orgs('erased')) await started.run('tenant-delete', { clientId });
        await started.policies.change(policy(orgs('barred')));
        const outcomes = await send(id);
        expect(inboxes()).toEqual(expected);
        for (const org of orgs('suspended')) expect(outcomes[org]).toBe('tenant-suspended');
        for (const org of orgs('erased')) expect(JSON.stringify(outcomes)).not.toContain(org);
        await ask('DELETE', '', { scheduleId: id });
      }),
      { numRuns: 6 },
    );
  }, 240_000);

  /** Tenants of other tests have copies too, and no such user. */
  const ann = (): string => `ann${run}`;
  /** Two tenants of one test, each with a user of the same name. */
  const openTwo = async (more: object = {}, overrides: object = {}) => {
    const started = await reporting.start(policy([], overrides));
    const [one, two] = orgsOf('north', 'south') as readonly [string, string];
    const users = { [one]: await login(started, one, ann(), more), [two]: await login(started, two, ann(), more) };
    return { started, one, two, users };
  };
  const toAnn = () => ({ recipients: { users: [`guestlist-demo|${ann()}`] } });

  describe('by a right that ended after the recipients were found', () => {
    const endings: readonly (readonly [string, string, (started: Started, clientId: string) => unknown])[] = [
      ['no-right', 'the tenant is suspended', ({ run: command }, clientId) => command('tenant-suspend', { clientId })],
      ['gone', 'the tenant is erased', ({ run: command }, clientId) => command('tenant-delete', { clientId })],
      ['no-right', 'the policy bars the tenant', ({ policies }, clientId) => policies.change(policy([clientId]))],
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
        const { started, one, two, users } = await openTwo({ roles: [`sales${run}`] });
        const { id } = await make({ recipients: { roles: [`sales${run}`] } });
        reporting.mailbox.behave('refuse-for-now');
        await ask('POST', '/send', { scheduleId: id });
        const db = reporting.service.database.connect();
        await reporting.until(async () => {
          const found = (await history(id)).filter(({ clientId }) => [one, two].includes(clientId));
          expect(found.map(({ reason }) => reason)).toEqual(['mail-postponed', 'mail-postponed']);
        });
        await end(started, one);
        reporting.mailbox.behave('take');
        await sql`update guestlist.deliveries set attempt_at = ${reporting.service.deps.clock.now()}
        where schedule_id = ${id} and state = 'due'`.execute(db);
        const outcomes = await ended(id);
        expect([outcomes[`${one} ${ann()}`] ?? 'gone', outcomes[`${two} ${ann()}`]]).toEqual([outcome, 'sent']);
        expect(inboxes()).toEqual({
          [`${ann()}.${two}@customer.example`]: [await reporting.csvOf(users[two] as User)],
        });
        await ask('DELETE', '', { scheduleId: id });
      },
      60_000,
    );
  });

  test('are planned for the tenants of the moment, and fail in one tenant without the others', async () => {
    const { started, one, two } = await openTwo();
    const { id } = await make(toAnn());
    const [late] = orgsOf('latecomer');
    await login(started, String(late), ann(), { email: 'ann@evil.example' });
    const [away] = orgsOf('away');
    await login(started, String(away), ann());
    await started.run('tenant-suspend', { clientId: away });
    await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
    const outcomes = await ended(id);
    expect(outcomes).toMatchObject({
      [`${one} ${ann()}`]: 'sent',
      [`${two} ${ann()}`]: 'sent',
      [`${late} ${ann()}`]: 'no-address',
      [String(away)]: 'tenant-suspended',
    });
    const own = await ask<readonly Sent[]>('GET', '/deliveries', { scheduleId: id, clientId: one });
    expect(own.map(({ clientId, state }) => [clientId, state])).toEqual([[one, 'sent']]);
    const [listed] = await ask<readonly { last: { counts: object } }[]>('GET', '', { scheduleId: id });
    expect(listed?.last.counts).toMatchObject({ sent: 2, skipped: expect.any(Number) });
    await ask('DELETE', '', { scheduleId: id });
    expect(await reporting.rowsOf(id)).toEqual([]);
  }, 120_000);

  test('end for one user of one tenant by the link of its message, and not for the same name elsewhere', async () => {
    const { started, one, two } = await openTwo();
    const { id } = await make(toAnn());
    await send(id);
    const toOne = reporting.mailbox.received.find(({ recipients }) => recipients[0]?.includes(one));
    const link = /https:\/\/analytics\.example(\/reports\/unsubscribe\/\S+)/.exec(toOne?.mail.text ?? '')?.[1] ?? '';
    expect((await request(express().use(started.router)).post(link)).status).toBe(200);
    reporting.mailbox.received.length = 0;
    await reporting.service.store.schedules.setNext(
      id,
      new Date(reporting.service.deps.clock.now().getTime() - 60_000),
    );
    await reporting.until(() => expect(Object.keys(inboxes())).toContain(`${ann()}.${two}@customer.example`));
    await ended(id);
    expect(Object.keys(inboxes())).not.toContain(`${ann()}.${one}@customer.example`);
    // An erasure leaves no name of the tenant, nor of who ended what.
    await started.run('tenant-delete', { clientId: one });
    expect(await reporting.service.dumpAll()).not.toContain(one);
    await ask('DELETE', '', { scheduleId: id });
  }, 120_000);

  test('hold the chosen metrics of the template with the filters that the host set', async () => {
    const { one, users } = await openTwo();
    const { id } = await make({ ...toAnn(), metricIds: ['delays-count'], dashboardFilter: { state: ['CA'] } });
    await send(id);
    const whole = await reporting.csvOf(users[one] as User);
    const filtered = await reporting.csvOf(users[one] as User, { State: ['CA'] });
    expect(inboxes()[`${ann()}.${one}@customer.example`]).toEqual([filtered]);
    expect(filtered).not.toBe(whole);
    await ask('DELETE', '', { scheduleId: id });
  }, 120_000);

  test('go to nobody while paused, and to nobody whose embed does not allow reports', async () => {
    const { one, two } = await openTwo({}, { templates: { delays: { name: 'Delays' } } });
    const { id } = await make(toAnn());
    await ask('PUT', '', { scheduleId: id, isPaused: true, recurrence: weekly });
    await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
    expect(await send(id)).toMatchObject({ [`${one} ${ann()}`]: 'no-right', [`${two} ${ann()}`]: 'no-right' });
    expect(reporting.mailbox.received).toEqual([]);
    expect(await ask('GET', '', { scheduleId: id })).toMatchObject([{ isPaused: true, nextAt: null }]);
    await ask('DELETE', '', { scheduleId: id });
  }, 120_000);

  test('are of one data app: another one’s key makes none, and is told no user', async () => {
    const { one } = await openTwo();
    const { service } = reporting;
    const { id } = await make(toAnn());
    const [schedule] = await service.store.schedules.listOfHost(service.api().dataAppId, id);
    if (schedule === undefined) throw new Error('the schedule is there');
    const { dataAppId } = service.api('other');
    expect(await service.store.schedules.listOfHost(dataAppId)).toEqual([]);
    expect(await reporting.connected.reports.isFor(dataAppId, null)).toBe(false);
    // As if it had been made before the policy named another data app.
    const theirs = { ...schedule, id: `theirs-${run}`, owner: { ...schedule.owner, dataAppId } };
    await service.store.schedules.insert(theirs);
    const due = {
      id: `due-${run}`,
      moment: service.deps.clock.now(),
      isRequested: true,
      state: 'due',
      reason: null,
    } as const;
    await service.store.deliveries.insert(theirs, [due], service.deps.clock.now());
    await reporting.until(async () =>
      expect(await service.store.deliveries.list(theirs.id, 9)).toMatchObject([{ reason: 'no-right' }]),
    );
    expect(Object.keys(inboxes())).not.toContain(`${ann()}.${one}@customer.example`);
    await ask('DELETE', '', { scheduleId: id });
  }, 120_000);
});
