/**
 * Reports to others of the tenant, from the operation to the mailbox, over real parts. Each mailbox gets what that
 * recipient's own token reads at that moment. Nothing leaves by a right that has ended, of the maker or of the recipient.
 */
import express from 'express';
import fc from 'fast-check';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Audience } from '../../src/model/schedule/recipients.js';
import { sign, startSeconds } from '../gateway/harness.js';
import { isPostgresThere } from '../suites/postgres.js';
import { all, daily, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const admins = {
  name: 'admins',
  when: '"admin" in user.roles',
  grant: { templates: ['delays'], schedule: true },
};
const ownStates = { name: 'own states', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } };
const policy = (overrides: object = {}) =>
  reportPolicy({ rules: [all, admins], restrictions: [ownStates], ...overrides });

const states = ['CA', 'NV', 'NY'];
/** A name of a user that no other test has: revocations stay. */
const subOf = ({ clientId }: Started, name: string): string => `${name}.${clientId}`;
const idOf = (started: Started, name: string): string => `guestlist-demo|${subOf(started, name)}`;
const toUsers = (started: Started, ...names: readonly string[]) => ({
  recipients: { users: names.map((name) => idOf(started, name)) },
});
const toRoles = (...roles: readonly string[]) => ({ recipients: { roles } });

describe.skipIf(!(await isPostgresThere()))('reports to others', () => {
  let reporting: Reporting;
  beforeAll(async () => {
    reporting = await openReporting();
  }, 60_000);
  afterAll(() => reporting.close());
  beforeEach(() => {
    reporting.mailbox.received.length = 0;
  });

  const login = (started: Started, org: string, name: string, more: object = {}): Promise<User> => {
    const claims = { sub: subOf(started, name), email: `${name}@customer.example`, roles: [], states };
    return reporting.login(started, org, { ...claims, ...more });
  };
  const admin = (started: Started, org: string, more: object = {}) =>
    login(started, org, 'admin', { roles: ['admin'], ...more });
  const send = async (user: User, id: string): Promise<readonly string[]> => {
    await reporting.sendNow(user, id);
    return reporting.settled(id);
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
  const make = async (user: User, more: object) =>
    reporting.call('POST', `${user.board}/schedules`, user.token, {
      ...{ name: 'Daily', format: 'csv', recurrence: daily },
      ...more,
    });

  test('arrive as each recipient’s own token reads at that moment, for any tenants, users and restrictions', async () => {
    const started = await reporting.start(policy());
    const someStates = fc.subarray(states, { minLength: 1 });
    const user = fc.record({ before: someStates, after: someStates, wasIn: fc.boolean(), isIn: fc.boolean() });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(user, { minLength: 1, maxLength: 3 }),
        fc.array(user, { maxLength: 2 }),
        fc.boolean(),
        async (ours, theirs, isByRole) => {
          run += 1;
          reporting.mailbox.received.length = 0;
          const [org, other] = run % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
          const named = ours.map((one, index) => ({ ...one, name: `u${run}-${index}` }));
          const rolesOf = (isIn: boolean) => (isIn ? [`r${run}`] : []);
          for (const { name, before, wasIn } of named) {
            await login(started, String(org), name, { states: before, roles: rolesOf(wasIn) });
          }
          // Another tenant has users of the same names and roles.
          for (const [index, { after }] of theirs.entries()) {
            await login(started, String(other), `u${run}-${index}`, { states: after, roles: [`r${run}`] });
          }
          const boss = await admin(started, String(org));
          const recipients = isByRole ? toRoles(`r${run}`) : toUsers(started, ...named.map(({ name }) => name));
          const { id } = await reporting.schedule(boss, recipients);
          started.clock.advance(1000);
          const iat = Math.floor(started.clock.now().getTime() / 1000);
          const expected: Record<string, readonly string[]> = {};
          for (const { name, after, isIn } of named) {
            const late = await login(started, String(org), name, { states: after, roles: rolesOf(isIn), iat });
            if (isIn || !isByRole) expected[`${name}@customer.example`] = [await reporting.csvOf(late)];
          }
          await send(boss, id);
          expect(inboxes()).toEqual(expected);
        },
      ),
      { numRuns: 8 },
    );
  }, 120_000);

  test('never show the rows of their maker, whose rights are wider', async () => {
    const started = await reporting.start(policy());
    const boss = await admin(started, started.clientId);
    const reader = await login(started, started.clientId, 'reader', { states: ['NY'] });
    const { id } = await reporting.schedule(boss, toUsers(started, 'reader'));
    expect(await send(boss, id)).toEqual(['reader sent']);
    expect(inboxes()).toEqual({ 'reader@customer.example': [await reporting.csvOf(reader)] });
    expect(reporting.mailbox.received[0]?.mail.text).toContain('it was scheduled for you');
  });

  test('hold pictures and papers that are drawn by the right of their recipient', async () => {
    const started = await reporting.start(policy());
    const boss = await admin(started, 'a');
    const readers = {
      ann: await login(started, 'a', 'ann', { states: ['NY'] }),
      bob: await login(started, 'a', 'bob', { states: ['CA', 'NV'] }),
    };
    const [toAnn, toBob] = [await reporting.csvOf(readers.ann), await reporting.csvOf(readers.bob)];
    expect(toAnn).not.toBe(toBob);
    for (const format of ['pdf', 'png']) {
      reporting.mailbox.received.length = 0;
      const { id } = await reporting.schedule(boss, { ...toUsers(started, 'ann', 'bob'), format });
      expect(await send(boss, id)).toEqual(['ann sent', 'bob sent']);
      expect(inboxes()).toEqual({
        'ann@customer.example': [toAnn],
        'bob@customer.example': [toBob],
      });
    }
  }, 60_000);

  test('are planned: each recipient of the moment gets one', async () => {
    const started = await reporting.start(policy());
    const boss = await admin(started, started.clientId, { roles: ['admin', 'sales'] });
    await login(started, started.clientId, 'ann', { roles: ['sales'] });
    await login(started, started.clientId, 'bob', { roles: ['sales'], email: 'bob@evil.example' });
    const { id } = await reporting.schedule(boss, { recipients: { roles: ['sales'], users: [idOf(started, 'ann')] } });
    await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
    expect(await reporting.settled(id)).toEqual(['admin sent', 'ann sent', 'bob no-address']);
    expect(Object.keys(inboxes()).toSorted()).toEqual(['admin@customer.example', 'ann@customer.example']);
    const messageIds = reporting.mailbox.received.map(({ mail }) => mail.messageId);
    expect(new Set(messageIds).size).toBe(2);
  }, 30_000);

  test('go to nobody where nobody has the role', async () => {
    const started = await reporting.start(policy());
    const boss = await admin(started, started.clientId);
    const { id } = await reporting.schedule(boss, toRoles('nobody'));
    expect(await send(boss, id)).toEqual([' no-recipients']);
  });

  describe('by a right that has ended', () => {
    const revoke = (name: string) => (started: Started) => {
      started.clock.advance(1000);
      const who = { by: 'user', subject: subOf(started, name), issuer: 'guestlist-demo', reason: 'left' };
      return Promise.resolve(started.run('revoke', who));
    };
    const again = (name: string, claims: object) => (started: Started) => {
      started.clock.advance(1000);
      const org = { iss: 'guestlist-demo', sub: subOf(started, name), org_id: started.clientId, states };
      return started.ask(sign({ ...org, email: `${name}@customer.example`, ...claims, iat: startSeconds + 1 }));
    };
    const change = (rules: readonly object[]) => (started: Started) => started.policies.change(policy({ rules }));
    const endings: readonly (readonly [string, string, (started: Started) => Promise<unknown>])[] = [
      ['the policy lets nobody send to others', ' no-right-to-share', change([all])],
      [
        'the policy lets the maker send another dashboard',
        ' no-right-to-share',
        change([all, { ...admins, grant: { templates: ['routes'], schedule: true } }]),
      ],
      ['the maker lost the role', ' no-right-to-share', again('admin', { roles: [] })],
      ['the maker is revoked', ' no-right-to-share', revoke('admin')],
      [
        'the tenant is suspended',
        ' no-right-to-share',
        ({ run, clientId }) => Promise.resolve(run('tenant-suspend', { clientId })),
      ],
      ['the recipient lost the role', ' no-recipients', again('ann', { roles: [] })],
      ['the recipient is revoked', ' no-recipients', revoke('ann')],
      [
        'the recipient may open nothing',
        'ann no-right',
        change([{ ...all, when: '!("sales" in user.roles)' }, admins]),
      ],
      [
        'the recipient may have no files',
        'ann no-right',
        change([
          { ...all, when: '!("sales" in user.roles)' },
          { ...all, name: 'reads', grant: { templates: ['delays'] } },
          admins,
        ]),
      ],
      [
        'the recipient’s address is not allowed',
        'ann no-address',
        again('ann', { roles: ['sales'], email: 'ann@evil.example' }),
      ],
    ];

    test.each(endings)(
      'are not sent: %s',
      async (_, outcome, end) => {
        const started = await reporting.start(policy());
        await login(started, started.clientId, 'ann', { roles: ['sales'] });
        const boss = await admin(started, started.clientId);
        const { id } = await reporting.schedule(boss, toRoles('sales'));
        await end(started);
        await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
        expect(await reporting.settled(id)).toEqual([outcome]);
        expect(reporting.mailbox.received).toEqual([]);
      },
      30_000,
    );

    test.each([
      ['the maker lost the right', 'ann no-right-to-share', change([all])],
      ['the recipient was revoked', 'ann no-right', revoke('ann')],
      ['the recipient lost the role', 'ann no-right', again('ann', { roles: [] })],
    ] as const)('are not sent although their recipients were found before %s', async (_, outcome, end) => {
      const started = await reporting.start(policy());
      await login(started, started.clientId, 'ann', { roles: ['sales'] });
      const boss = await admin(started, started.clientId);
      const made = await reporting.schedule(boss, toRoles('sales'));
      await end(started);
      const { store, deps } = reporting.service;
      const now = deps.clock.now();
      // As if the recipients had been found just before: the message of one is due.
      const [schedule] = await store.schedules
        .lockPlannable(new Date('9999-01-01'), 100)
        .then((some) => some.filter(({ id }) => id === made.id));
      if (schedule === undefined) throw new Error('the schedule is there');
      const toAnn = {
        ...schedule,
        recipients: null,
        owner: { ...schedule.owner, userIdentifier: idOf(started, 'ann') },
      };
      const due = { id: `due-${made.id}`, moment: now, isRequested: true, state: 'due', reason: null } as const;
      await store.deliveries.insert(toAnn, [due], now);
      expect(await reporting.settled(made.id)).toEqual([outcome]);
      expect(reporting.mailbox.received).toEqual([]);
    });

    test('are erased with the tenant, and never sent', async () => {
      const started = await reporting.start(policy());
      const boss = await admin(started, started.clientId);
      const { id } = await reporting.schedule(boss, toUsers(started, 'admin'));
      await started.run('tenant-delete', { clientId: started.clientId });
      expect(await reporting.rowsOf(id)).toEqual([]);
      expect(await reporting.service.dumpAll()).not.toContain(started.clientId);
    }, 30_000);
  });

  describe('are made', () => {
    test('only by those whom the policy lets, for users of their own tenant', async () => {
      const started = await reporting.start(policy());
      const ann = await login(started, started.clientId, 'ann');
      const stranger = `b${started.clientId}`;
      await login(started, stranger, 'stranger', { roles: ['admin'] });
      expect(await make(ann, toUsers(started, 'ann'))).toMatchObject({ status: 403 });
      const boss = await admin(started, started.clientId);
      const unknown = await make(boss, toUsers(started, 'ann', 'stranger'));
      expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([
        400,
        expect.stringContaining('recipients.users[1]'),
      ]);
      expect(await make(boss, { recipients: {} })).toMatchObject({ status: 400 });
      const { id } = await reporting.schedule(boss, toUsers(started, 'ann'));
      expect(await reporting.dataOf(reporting.call('GET', `${boss.board}/schedules`, boss.token))).toMatchObject([
        { id, recipients: { users: [idOf(started, 'ann')], roles: [] } },
      ]);
    });

    test('reports to others are made from the users and roles of the tenant, which nobody else is told', async () => {
      const started = await reporting.start(policy());
      const choicesOf = ({ board, token }: User) =>
        reporting.dataOf<Audience | null>(reporting.call('GET', `${board}/schedules/recipients`, token));
      const ann = await login(started, started.clientId, 'ann', { roles: ['sales'], email: 'ann@evil.example' });
      await login(started, `b${started.clientId}`, 'stranger', { roles: ['strange'] });
      const boss = await admin(started, started.clientId);
      expect(await choicesOf(ann)).toBeNull();
      const found = await choicesOf(boss);
      expect(found?.roles).toEqual(['admin', 'sales']);
      expect(found?.users.toSorted((a, b) => (a.userIdentifier < b.userIdentifier ? -1 : 1))).toEqual([
        { userIdentifier: idOf(started, 'admin'), address: 'admin@customer.example' },
        { userIdentifier: idOf(started, 'ann'), address: null },
      ]);
    });
  });

  test('end for one recipient by the link of its message, and go on for the others', async () => {
    const started = await reporting.start(policy());
    await login(started, started.clientId, 'ann');
    await login(started, started.clientId, 'bob');
    const boss = await admin(started, started.clientId);
    const { id } = await reporting.schedule(boss, toUsers(started, 'ann', 'bob'));
    const { store, deps } = reporting.service;
    await store.schedules.setNext(id, new Date(deps.clock.now().getTime() - 60_000));
    await reporting.settled(id);
    const toAnn = reporting.mailbox.received.find(({ recipients }) => recipients.includes('ann@customer.example'));
    const path = /https:\/\/analytics\.example(\/reports\/unsubscribe\/\S+)/.exec(toAnn?.mail.text ?? '')?.[1] ?? '';
    const app = express().use(started.router);
    const [, recipient] = path.split('.');
    const forBob = path.replace(String(recipient), Buffer.from(idOf(started, 'bob')).toString('base64url'));
    expect((await request(app).post(forBob)).status).toBe(404);
    expect((await request(app).post(path)).status).toBe(200);
    reporting.mailbox.received.length = 0;
    expect(await send(boss, id)).toEqual(['bob sent']);
    expect(Object.keys(inboxes())).toEqual(['bob@customer.example']);
  });

  describe('to addresses without an account', () => {
    const partner = 'pat@partner.example';
    const withDomainsOf = (...addressDomains: readonly string[]) => ({
      ...admins,
      grant: { ...admins.grant, addressDomains },
    });
    const withDomains = withDomainsOf('partner.example');
    const toPartner = { recipients: { addresses: [partner] } };
    const open = async (rules: readonly object[] = [all, withDomains]) => {
      const started = await reporting.start(policy({ rules }));
      const boss = await admin(started, started.clientId, { states: ['CA', 'NV'] });
      return { started, boss, app: express().use(started.router) };
    };
    const confirmPath = (): string =>
      /https:\/\/analytics\.example(\S+)/.exec(reporting.mailbox.received.at(-1)?.mail.text ?? '')?.[1] ?? '';
    /** Plans a moment, and returns the outcomes of all planned ones, the latest first. */
    const plan = async (id: string, minutesAgo: number): Promise<readonly string[]> => {
      const { store, deps } = reporting.service;
      const moment = new Date(deps.clock.now().getTime() + 1000 - minutesAgo * 60_000);
      await store.schedules.setNext(id, moment);
      await reporting.until(async () => {
        const rows = await reporting.rowsOf(id);
        expect(rows.map((row) => row.moment)).toContainEqual(moment);
        expect(rows.every(({ state }) => !['due', 'sending'].includes(state))).toBe(true);
      });
      return (await reporting.rowsOf(id))
        .filter(({ state, isRequested }) => state !== 'shared' && !isRequested)
        .map(({ state, reason }) => reason ?? state);
    };

    test('go out once confirmed, as the maker reads them at that moment, and no sooner', async () => {
      const { started, boss, app } = await open();
      const made = await make(boss, toPartner);
      expect(made).toMatchObject({ status: 200, body: { data: { unconfirmed: [partner] } } });
      const { id } = (made.body as { data: { id: string } }).data;
      expect(await reporting.settled(id)).toEqual([expect.stringMatching(/ not-confirmed$/)]);
      const [question] = reporting.mailbox.received;
      expect([question?.recipients, question?.mail.attachments]).toEqual([[partner], []]);
      expect(question?.raw).not.toMatch(new RegExp(`Delays|Daily|${started.clientId}`));
      expect(await plan(id, 3)).toEqual(['not-confirmed']);
      expect(reporting.mailbox.received).toHaveLength(1);
      const path = confirmPath();
      expect((await request(app).post(`${path.slice(0, -2)}AA`)).status).toBe(404);
      expect((await request(app).get(path)).status).toBe(200);
      expect((await request(app).post(path)).status).toBe(200);
      expect((await request(app).post(path)).status).toBe(404);
      reporting.mailbox.received.length = 0;
      expect(await plan(id, 2)).toEqual(['sent', 'not-confirmed']);
      expect(inboxes()).toEqual({ [partner]: [await reporting.csvOf(boss)] });
      const { call, dataOf } = reporting;
      expect(
        await dataOf(call('GET', `${boss.board}/schedules/deliveries`, boss.token, { scheduleId: id })),
      ).toMatchObject([{ recipient: partner, reason: 'not-confirmed', isRequested: true }, { recipient: partner }, {}]);
      await started.policies.change(policy({ rules: [all, admins] }));
      reporting.mailbox.received.length = 0;
      expect(await plan(id, 1)).toEqual(['no-address', 'sent', 'not-confirmed']);
      expect(reporting.mailbox.received).toEqual([]);
      expect(await reporting.service.dumpAll()).not.toContain(partner);
    }, 60_000);

    test('are confirmed for one tenant only, and asked at most once a day', async () => {
      const { started, boss, app } = await open();
      await reporting.settled((await reporting.schedule(boss, toPartner)).id);
      expect((await request(app).post(confirmPath())).status).toBe(200);
      const other = await admin(started, `b${started.clientId}`);
      reporting.mailbox.received.length = 0;
      const { id } = await reporting.schedule(other, toPartner);
      await reporting.settled(id);
      expect(await plan(id, 1)).toEqual(['not-confirmed']);
      await reporting.settled((await reporting.schedule(other, toPartner)).id);
      expect(reporting.mailbox.received.map(({ mail }) => mail.attachments.length)).toEqual([0]);
    }, 60_000);

    test('ask a mailbox once a day, however its address is written, and are confirmed for the mailbox', async () => {
      const { boss, app } = await open();
      const forms = ['Pat+1@partner.example', 'pat@partner.example', 'PAT+2@partner.example'];
      const ids: string[] = [];
      for (const address of forms) {
        const { id } = await reporting.schedule(boss, { recipients: { addresses: [address] } });
        ids.push(id);
        expect(await reporting.settled(id)).toEqual([expect.stringMatching(/ not-confirmed$/)]);
      }
      const both = await make(boss, { recipients: { addresses: forms } });
      expect(both.body).toMatchObject({ data: { unconfirmed: ['Pat+1@partner.example'] } });
      const { id } = (both.body as { data: { id: string } }).data;
      await reporting.settled(id);
      expect(reporting.mailbox.received.map(({ recipients }) => recipients)).toEqual([['Pat+1@partner.example']]);
      expect((await request(app).post(confirmPath())).status).toBe(200);
      reporting.mailbox.received.length = 0;
      expect(await plan(id, 2)).toEqual(['sent']);
      expect(await plan(String(ids[2]), 1)).toEqual(['sent']);
      const to = reporting.mailbox.received.map(({ recipients }) => recipients);
      expect(to).toEqual([['Pat+1@partner.example'], ['PAT+2@partner.example']]);
    }, 60_000);

    test('reports of a mailbox that ended its report are not sent in another spelling', async () => {
      const { boss, app } = await open();
      const { id } = await reporting.schedule(boss, { recipients: { addresses: ['pat+1@partner.example'] } });
      await reporting.settled(id);
      expect((await request(app).post(confirmPath())).status).toBe(200);
      expect(await plan(id, 3)).toEqual(['sent']);
      const { text } = reporting.mailbox.received.at(-1)?.mail ?? {};
      const stop = /https:\/\/analytics\.example(\/reports\/unsubscribe\/\S+)/.exec(text ?? '')?.[1] ?? '';
      expect((await request(app).post(stop)).status).toBe(200);
      const changed = { scheduleId: id, recipients: { addresses: ['PAT@partner.example'] } };
      const { status } = await reporting.call('PUT', `${boss.board}/schedules`, boss.token, changed);
      expect(status).toBe(200);
      reporting.mailbox.received.length = 0;
      await plan(id, 1);
      expect(reporting.mailbox.received).toEqual([]);
    }, 60_000);

    test.each([
      ['the policy names no domains', [all, admins], partner],
      ['the domain is another one', [all, withDomains], 'pat@evil.example'],
      ['the domain is a subdomain', [all, withDomains], 'pat@sub.partner.example'],
      ['mail may not go there', [all, withDomainsOf('elsewhere.example')], 'pat@elsewhere.example'],
      ['they are two', [all, withDomains], 'eve@evil.example,pat@partner.example'],
    ])('are refused where %s', async (_, rules, address) => {
      const { boss } = await open(rules);
      const { status, body } = await make(boss, { recipients: { addresses: [address] } });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('recipients.addresses[0]')]);
    });

    test('are not asked by a right that has ended, and are erased with their tenant', async () => {
      const { started, boss } = await open();
      reporting.mailbox.behave('refuse-for-good');
      const { id } = await reporting.schedule(boss, toPartner);
      expect(await reporting.settled(id)).toEqual([expect.stringMatching(/ mail-refused$/)]);
      reporting.mailbox.behave('take');
      await started.policies.change(policy({ rules: [all] }));
      const { store, deps } = reporting.service;
      const [asked] = await reporting.rowsOf(id);
      const [schedule] = (await store.schedules.lockPlannable(new Date('9999-01-01'), 1000)).filter(
        (one) => one.id === id,
      );
      if (asked === undefined || schedule === undefined) throw new Error('the question was due');
      const moment = new Date(deps.clock.now().getTime() + 1);
      const due = { id: `due-${id}`, moment, isRequested: true, state: 'due', reason: null } as const;
      await store.deliveries.insert(schedule, [{ ...due, recipient: asked.recipient }], deps.clock.now());
      expect(await reporting.settled(id)).toEqual([expect.stringMatching(/ no-right-to-share$/)]);
      expect(reporting.mailbox.received).toEqual([]);
      await started.run('tenant-delete', { clientId: started.clientId });
      expect(await reporting.service.dumpAll()).not.toContain(started.clientId);
    }, 30_000);
  });

  describe('are alerts', () => {
    const hourly = { cron: '30 * * * *', timezone: 'Europe/Berlin' };
    const sales = async (user: User): Promise<{ readonly metricId: string; readonly value: number }> => {
      const [metric] = await reporting.metricsOf(user);
      const metricId = String(metric?.metricId);
      const body = { dashboardId: user.board.split('/').at(-1) };
      const answer = await reporting.call('POST', `/api/v2/guest/metrics/${metricId}/query`, user.token, body);
      const [row] = (answer.body as { data: readonly { Sales: number }[] }).data;
      return { metricId, value: Number(row?.Sales) };
    };
    const alertOf = async (maker: User, limit: number, recipients: object) => {
      const { metricId } = await sales(maker);
      const alert = { metricId, measure: 'Sales', condition: { is: 'above', value: limit } };
      return reporting.schedule(maker, { name: 'Many', format: 'alert', recurrence: hourly, alert, ...recipients });
    };
    let moments = 0;
    /** Lets the alert come once, and returns the outcome of each recipient. */
    const check = async (id: string): Promise<readonly string[]> => {
      moments += 1;
      const { store, deps } = reporting.service;
      const moment = new Date(deps.clock.now().getTime() - 1_500_000 + moments * 1000);
      reporting.mailbox.received.length = 0;
      await store.schedules.setNext(id, moment);
      const some = await reporting.until(async () => {
        const rows = (await store.deliveries.list(id, 100)).filter((row) => row.moment.getTime() === moment.getTime());
        expect(rows.length).toBeGreaterThan(0);
        expect(rows.every(({ state }) => !['due', 'sending'].includes(state))).toBe(true);
        return rows;
      });
      return some
        .filter(({ state }) => state !== 'shared')
        .map(({ recipient, state, reason }) => `${recipient.replace(/^.*\||\..*$/g, '')} ${reason ?? state}`)
        .toSorted();
    };
    const told = (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        reporting.mailbox.received.map(({ mail, recipients: [to] }) => [
          String(to).split('@')[0],
          /Sales is (\d+)\./.exec(mail.text ?? '')?.[1] ?? String(mail.text),
        ]),
      );
    const historyOf = (maker: User, scheduleId: string) =>
      reporting.dataOf<readonly { recipient: string; state: string; reason: string | null; attempts: number }[]>(
        reporting.call('GET', `${maker.board}/schedules/deliveries`, maker.token, { scheduleId }),
      );

    test('each is judged by what the recipient’s own token reads at that moment, and is told of once', async () => {
      const started = await reporting.start(policy());
      const someStates = fc.subarray(states, { minLength: 1 });
      const user = fc.record({ before: someStates, after: someStates });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(user, { minLength: 2, maxLength: 3 }),
          fc.nat(4),
          someStates,
          async (all, limit, own) => {
            run += 1;
            const org = run % 2 === 0 ? 'a' : 'b';
            const named = all.map((one, index) => ({ ...one, name: `w${run}-${index}` }));
            const before = new Map<string, number>();
            for (const { name, before: some } of named) {
              const { value } = await sales(await login(started, org, name, { states: some }));
              before.set(name, value);
            }
            const boss = await admin(started, org, { states: own });
            const { id } = await alertOf(boss, limit, toUsers(started, ...named.map(({ name }) => name)));
            const first = await check(id);
            const breached = [...before].filter(([, value]) => value > limit);
            expect(told()).toEqual(Object.fromEntries(breached.map(([name, value]) => [name, String(value)])));
            expect(first).toEqual(named.map(({ name }) => outcomeOf(name, Number(before.get(name)) > limit)));
            started.clock.advance(1000);
            const iat = Math.floor(started.clock.now().getTime() / 1000);
            const expected: Record<string, string> = {};
            for (const { name, before: some, after } of named) {
              const { value } = await sales(await login(started, org, name, { states: after, iat }));
              const isAnother = some.join() !== after.join();
              if (isAnother && (value > limit || Number(before.get(name)) > limit)) expected[name] = String(value);
            }
            await check(id);
            expect(told()).toEqual(expected);
            // The maker learns who is checked, and never whether there was something to tell.
            const history = await historyOf(boss, id);
            expect(history).toHaveLength(2 * named.length);
            const shown = history.map(({ state, reason, attempts }) => [state, reason, attempts].join());
            expect([...new Set(shown)]).toEqual(['checked,,0']);
          },
        ),
        { numRuns: 6 },
      );
    }, 120_000);
    const outcomeOf = (name: string, isTold: boolean) => `${name} ${isTold ? 'sent' : 'nothing-to-tell'}`;

    test('tell each recipient the end of its own breach', async () => {
      const started = await reporting.start(policy());
      await login(started, 'a', 'ann', { states: ['CA'] });
      await login(started, 'a', 'bob', { states: ['CA', 'NV', 'NY'] });
      const boss = await admin(started, 'a');
      const { id } = await alertOf(boss, 2, toUsers(started, 'ann', 'bob'));
      expect(await check(id)).toEqual(['ann nothing-to-tell', 'bob sent']);
      expect(await check(id)).toEqual(['ann nothing-to-tell', 'bob nothing-to-tell']);
      await reporting.changeRows(["DELETE FROM sales WHERE client = 'a' AND id > 2"]);
      expect(await check(id)).toEqual(['ann nothing-to-tell', 'bob sent']);
      expect(reporting.mailbox.received.map(({ mail }) => mail.subject)).toEqual(['Recovered: Many: Delays']);
      await reporting.changeRows([]);
      expect(await reporting.service.dumpAll()).not.toContain('isBreached');
    }, 60_000);

    test('tell nothing to a recipient who may not see the measure', async () => {
      const hidden = {
        name: 'hidden',
        when: '"sales" in user.roles',
        restrict: { hideMetrics: { delays: ['Sales'] } },
      };
      const started = await reporting.start(policy({ restrictions: [ownStates, hidden] }));
      await login(started, 'a', 'ann');
      await login(started, 'a', 'bob');
      const boss = await admin(started, 'a');
      const { id } = await alertOf(boss, 0, toUsers(started, 'ann', 'bob'));
      started.clock.advance(1000);
      await login(started, 'a', 'ann', { roles: ['sales'], iat: Math.floor(started.clock.now().getTime() / 1000) });
      expect(await check(id)).toEqual(['ann no-right', 'bob sent']);
      expect(Object.keys(told())).toEqual(['bob']);
      const shown = (await historyOf(boss, id)).map(({ recipient, state, reason }) => [recipient, state, reason]);
      expect(shown.toSorted()).toEqual([
        [idOf(started, 'ann'), 'skipped', 'no-right'],
        [idOf(started, 'bob'), 'checked', null],
      ]);
    }, 60_000);

    test('tell their maker of the own breach, and those who manage schedules of none', async () => {
      const started = await reporting.start(policy());
      await login(started, started.clientId, 'ann');
      const boss = await admin(started, started.clientId);
      const { id } = await alertOf(boss, -1, toUsers(started, 'ann', 'admin'));
      const statusOf = async () => {
        const { call, dataOf } = reporting;
        const [own] = await dataOf<readonly { status: object | null }[]>(
          call('GET', `${boss.board}/schedules`, boss.token),
        );
        return own?.status;
      };
      expect([await check(id), await statusOf()]).toMatchObject([['admin sent', 'ann sent'], { isBreached: true }]);
      expect((await historyOf(boss, id)).map(({ state }) => state).toSorted()).toEqual(['checked', 'sent']);
      const { call, dataOf } = reporting;
      expect(await dataOf(call('GET', `${boss.board}/schedules/tenant`, boss.token))).toMatchObject([
        { id, last: { state: 'checked', reason: null } },
      ]);
      const changed = { scheduleId: id, recipients: { users: [idOf(started, 'ann')] } };
      await dataOf(call('PUT', `${boss.board}/schedules`, boss.token, changed));
      expect(await check(id)).toEqual(['ann nothing-to-tell']);
      await dataOf(call('PUT', `${boss.board}/schedules`, boss.token, { scheduleId: id, recipients: null }));
      expect([await statusOf(), await check(id)]).toEqual([null, ['admin sent']]);
      await started.run('tenant-delete', { clientId: started.clientId });
      expect(await reporting.service.dumpAll()).not.toContain(started.clientId);
    }, 60_000);
  });

  describe('are managed', () => {
    type Listed = { readonly id: string; readonly user: string; readonly name: string };
    const path = (user: User) => `${user.board}/schedules/tenant`;

    test('reports of all users of the tenant are managed by those whom the policy lets', async () => {
      const started = await reporting.start(policy());
      const ann = await login(started, started.clientId, 'ann');
      const theirs = await admin(started, `b${started.clientId}`);
      const foreign = await reporting.schedule(theirs, { name: 'Theirs' });
      const own = await reporting.schedule(ann, { name: 'Own', dashboardFilter: { State: ['CA'] } });
      const boss = await admin(started, started.clientId);
      const { call, dataOf } = reporting;
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const body = { GET: {}, PUT: { scheduleId: own.id, isPaused: true }, DELETE: { scheduleId: own.id } }[method];
        expect(await call(method, path(ann), ann.token, body)).toMatchObject({ status: 403 });
      }
      const listed = await dataOf<readonly Listed[]>(call('GET', path(boss), boss.token));
      expect(listed.map(({ id, user, name }) => [id, user, name])).toEqual([[own.id, idOf(started, 'ann'), 'Own']]);
      expect(JSON.stringify(listed)).not.toContain('CA');
      const pause = (scheduleId: string, isPaused = true) =>
        call('PUT', path(boss), boss.token, { scheduleId, isPaused });
      expect(await pause(foreign.id)).toMatchObject({ status: 400 });
      expect(await pause(own.id)).toMatchObject({ status: 200 });
      expect(await dataOf(call('GET', `${ann.board}/schedules`, ann.token))).toMatchObject([{ isPaused: true }]);
      expect(await pause(own.id, false)).toMatchObject({ status: 200 });
      expect(await dataOf(call('GET', `${ann.board}/schedules`, ann.token))).toMatchObject([{ isPaused: false }]);
      const remove = (scheduleId: string) => call('DELETE', path(boss), boss.token, { scheduleId });
      expect(await remove(foreign.id)).toMatchObject({ status: 400 });
      expect(await remove(own.id)).toMatchObject({ status: 200 });
      expect(await dataOf(call('GET', `${ann.board}/schedules`, ann.token))).toEqual([]);
      expect(await dataOf(call('GET', `${theirs.board}/schedules`, theirs.token))).toMatchObject([{ id: foreign.id }]);
    });
  });

  test('write no address and no name to the log', async () => {
    const started = await reporting.start(policy());
    await login(started, started.clientId, 'ann');
    const boss = await admin(started, started.clientId);
    const { id } = await reporting.schedule(boss, { ...toUsers(started, 'ann'), name: 'Unmistakable' });
    await send(boss, id);
    expect(started.reportLines.length).toBeGreaterThan(0);
    expect(JSON.stringify(started.reportLines)).not.toMatch(/customer\.example|Unmistakable/);
  });

  test('carry no header from a name', async () => {
    const started = await reporting.start(policy());
    await login(started, started.clientId, 'ann');
    const boss = await admin(started, started.clientId);
    // A line break is refused; this is what a reader of lines could take for one.
    const name = 'Daily\u2028Bcc: eve@customer.example';
    const { id } = await reporting.schedule(boss, { ...toUsers(started, 'ann'), name });
    await send(boss, id);
    const [one] = reporting.mailbox.received;
    expect([one?.recipients, one?.mail.bcc]).toEqual([['ann@customer.example'], undefined]);
    expect(one?.mail.subject).toBe('Daily Bcc: eve@customer.example: Delays');
  });
});
