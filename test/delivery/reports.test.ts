/**
 * Reports from the operation to the mailbox: real gateway, service, rows, ledger and mail server. What arrives is what
 * the recipient's own token reads at that moment, and nothing leaves by a right that has ended.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import fc from 'fast-check';
import readXlsx from 'read-excel-file/node';
import { Webhook } from 'standardwebhooks';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callTool } from '../../src/assistants/mcp/call-tool.js';
import { grantedTools, guestTools } from '../../src/assistants/mcp/tools.js';
import { operations } from '../../src/service/operations.js';
import { sign, startSeconds } from '../gateway/harness.js';
import { isPostgresThere } from '../suites/postgres.js';
import {
  all,
  daily,
  hookSecret,
  openReporting,
  type Reporting,
  reportPolicy,
  restricted,
  type Started,
  type User,
} from './reporting.js';

const tinyPng = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

describe.skipIf(!(await isPostgresThere()))('reports', () => {
  let reporting: Reporting;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-logo-'));
    await writeFile(join(folder, 'acme.png'), tinyPng);
    const own = { from: 'numbers@acme.example', senderName: 'Acme', replyTo: 'help@acme.example' };
    const acme = { ...own, logo: join(folder, 'acme.png'), closing: 'Acme’s own words' };
    reporting = await openReporting(undefined, [], { tenants: { branded: acme } });
  }, 60_000);
  afterAll(async () => {
    await reporting.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    reporting.mailbox.received.length = 0;
  });

  test('are scheduled, sent, read and deleted by the tools of an assistant, where the token may schedule', async () => {
    const started = await reporting.start();
    const user = await reporting.login(started, started.clientId);
    const listed = await reporting.dataOf<Parameters<typeof grantedTools>[1]>(
      reporting.call('GET', '/api/v2/guest/embeds', user.token),
    );
    const tools = guestTools(operations)();
    const ofReports = grantedTools(tools, listed).filter(({ name }) => /schedule|deliver/.test(name));
    expect(ofReports).toHaveLength(6);
    const dashboardId = user.board.split('/').at(-1);
    const use = async <T>(name: string, input: object): Promise<T> => {
      const tool = ofReports.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const asker = { authorization: `Bearer ${user.token}`, signal: new AbortController().signal };
      const { result } = await callTool(reporting.service.dispatch, asker, tool, { dashboardId, ...input });
      const [part] = result.content;
      return JSON.parse(part?.type === 'text' ? part.text : '').data;
    };
    const plan = { name: 'Daily', format: 'csv', recurrence: daily };
    const { id: scheduleId } = await use<{ id: string }>('create_schedule', plan);
    await use('send_schedule', { scheduleId });
    await reporting.ended(scheduleId);
    expect(reporting.arrived()).toEqual([await reporting.csvOf(user)]);
    expect(await use('list_deliveries', { scheduleId })).toMatchObject([{ state: 'sent' }]);
    await use('update_schedule', { scheduleId, isPaused: true });
    expect(await use('list_schedules', {})).toMatchObject([{ id: scheduleId, isPaused: true }]);
    await use('delete_schedule', { scheduleId });
    expect(await use('list_schedules', {})).toEqual([]);
    const routes = { name: 'routes', when: 'true', grant: { templates: ['routes'] } };
    await started.policies.change(reportPolicy({ rules: [routes] }));
    const without = await reporting.login(started, started.clientId);
    const left = await reporting.dataOf<typeof listed>(reporting.call('GET', '/api/v2/guest/embeds', without.token));
    expect(grantedTools(tools, left).filter((tool) => ofReports.includes(tool))).toEqual([]);
  });

  test('arrive as the recipient’s own token reads at that moment, for any tenant and restriction', async () => {
    const started = await reporting.start();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('a', 'b'),
        fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 }),
        fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 }),
        async (org, before, after) => {
          reporting.mailbox.received.length = 0;
          await started.policies.change(restricted(before));
          const early = await reporting.login(started, org);
          const { id } = await reporting.schedule(early);
          await started.policies.change(restricted(after));
          const late = await reporting.login(started, org);
          await reporting.sendNow(late, id);
          expect(await reporting.ended(id)).toEqual(['sent', null]);
          expect(reporting.arrived()).toEqual([await reporting.csvOf(late)]);
          await reporting.dataOf(reporting.call('DELETE', `${late.board}/schedules`, late.token, { scheduleId: id }));
        },
      ),
      { numRuns: 6 },
    );
  }, 120_000);

  test('show a tenant its own rows only, though names and addresses are the same', async () => {
    const started = await reporting.start();
    const users = [await reporting.login(started, 'a'), await reporting.login(started, 'b')];
    const texts = await Promise.all(users.map((user) => reporting.csvOf(user)));
    expect(new Set(texts).size).toBe(2);
    for (const user of users) {
      const { id } = await reporting.schedule(user);
      await reporting.sendNow(user, id);
      await reporting.ended(id);
    }
    expect(reporting.arrived()).toEqual(texts);
  });

  test('are planned, and sent to the address of the session', async () => {
    const started = await reporting.start();
    const user = await reporting.login(started, 'a', { sub: 'planned' });
    const { id } = await reporting.schedule(user);
    await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
    expect(await reporting.ended(id)).toEqual(['sent', null]);
    const [one] = reporting.mailbox.received;
    expect([one?.recipients, one?.mail.subject]).toEqual([['ann@customer.example'], 'Daily: Delays']);
    expect(one?.mail.text).toContain('https://app.example/reports/');
    await reporting.until(() => expect(started.work.get('delivery')).toEqual([0, 0]));
  }, 30_000);

  test('reports that came back count as failed, and a hard bounce pauses the schedule', async () => {
    const started = await reporting.start();
    const app = express().use(started.router);
    const tell = (body: object, secret = hookSecret) => {
      const text = JSON.stringify(body);
      const [id, at] = [randomUUID(), reporting.service.deps.clock.now()];
      return request(app)
        .post('/hooks/mail-bounced')
        .set({
          ...{ 'content-type': 'application/json', 'webhook-id': id },
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': new Webhook(secret).sign(id, at, text),
        })
        .send(text);
    };
    const other = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
    const isPaused = async (user: User, id: string) =>
      (
        await reporting.dataOf<{ id: string; isPaused: boolean }[]>(
          reporting.call('GET', `${user.board}/schedules`, user.token),
        )
      )
        .filter((schedule) => schedule.id === id)
        .map((schedule) => schedule.isPaused);
    for (const [kind, paused] of [
      ['soft', false],
      ['hard', true],
    ] as const) {
      const user = await reporting.login(started, 'a', { sub: `bounce-${kind}` });
      const { id } = await reporting.schedule(user, { format: 'link' });
      await reporting.sendNow(user, id);
      expect(await reporting.ended(id)).toEqual(['sent', null]);
      const messageId = reporting.mailbox.received.at(-1)?.mail.messageId;
      expect((await tell({ messageId, kind }, other)).status).toBe(401);
      expect(await reporting.ended(id)).toEqual(['sent', null]);
      const answers = [await tell({ messageId, kind }), await tell({ messageId, kind })];
      expect(answers.map(({ status, body }) => [status, body.data])).toEqual([
        [200, { isApplied: true }],
        [200, { isApplied: false }],
      ]);
      expect(await reporting.ended(id)).toEqual(['failed', 'mail-bounced']);
      expect(await isPaused(user, id)).toEqual([paused]);
    }
    const wrong = await tell({ messageId: "x' or 1=1", kind: 'gone' });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(wrong.body.error.message).toMatch(/messageId: .*kind: /);
    const unknown = await tell({ messageId: `<${randomUUID()}@analytics.example>`, kind: 'hard' });
    expect(unknown.body.data).toEqual({ isApplied: false });
    expect((await request(app).get('/hooks/mail-bounced')).status).toBe(405);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 25; sent += 1) statuses.add((await tell({}, other)).status);
    expect([...statuses]).toEqual([401, 429]);
  }, 60_000);

  test('look as the configuration says for their tenant, and not as another tenant’s', async () => {
    const started = await reporting.start();
    for (const org of ['branded', 'b', 'branded']) {
      const user = await reporting.login(started, org, { sub: `brand-${org}` });
      const { id } = await reporting.schedule(user, { format: 'link' });
      await reporting.sendNow(user, id);
      expect(await reporting.ended(id)).toEqual(['sent', null]);
    }
    const looks = reporting.mailbox.received.map(({ mail }) => [
      mail.from?.text,
      mail.replyTo?.text,
      mail.attachments.map(({ cid, content }) => [cid, content.equals(tinyPng)]),
      /Acme’s own words/.test(`${mail.text}${mail.html}`),
    ]);
    const branded = ['"Acme" <numbers@acme.example>', 'help@acme.example', [['logo', true]], true];
    expect(looks).toEqual([branded, ['reports@analytics.example', undefined, [], false], branded]);
  }, 60_000);

  test('are in the language of their recipient, also for two who log in as one tenant', async () => {
    const started = await reporting.start();
    for (const [sub, more] of [
      ['german', { locale: 'de-AT' }],
      ['arabic', { locale: 'ar' }],
      ['plain', { locale: 'de\r\nBcc: eve@evil.example' }],
    ] as const) {
      const user = await reporting.login(started, 'a', { sub, ...more });
      const { id } = await reporting.schedule(user, { format: 'xlsx' });
      await reporting.sendNow(user, id);
      expect(await reporting.ended(id)).toEqual(['sent', null]);
    }
    const html = reporting.mailbox.received.map(({ mail }) => String(mail.html));
    expect(html.map((text) => /<html[^>]*>/.exec(text)?.[0])).toEqual([
      '<html lang="de-AT" dir="ltr">',
      '<html lang="ar" dir="rtl">',
      '<html lang="en-GB" dir="ltr">',
    ]);
    const books = reporting.mailbox.received.map(({ mail }) => mail.attachments[0]?.content ?? Buffer.alloc(0));
    const first = await Promise.all(books.map(async (book) => (await readXlsx(book))[0]?.sheet));
    expect(first).toEqual(['Über diese Datei', 'حول هذا الملف', 'About']);
  }, 60_000);

  test('hold the chosen metrics, with the filters that were set, and are not sent without them', async () => {
    const started = await reporting.start();
    const user = await reporting.login(started, 'a', { sub: 'filtered' });
    const whole = await reporting.csvOf(user);
    const [metric] = await reporting.metricsOf(user);
    const content = { dashboardFilter: { State: ['CA'] }, metricIds: [metric?.metricId] };
    const { id } = await reporting.schedule(user, content);
    const { id: next } = await reporting.schedule(user, content);
    await reporting.sendNow(user, id);
    expect(await reporting.ended(id)).toEqual(['sent', null]);
    const expected = await reporting.csvOf(user, content.dashboardFilter);
    expect(reporting.arrived()).toEqual([expected]);
    expect(expected).not.toBe(whole);
    await started.policies.change(
      reportPolicy({ restrictions: [{ name: 'hides', when: 'true', restrict: { hideDashboardFilters: ['State'] } }] }),
    );
    const later = await reporting.login(started, 'a', { sub: 'filtered' });
    await reporting.sendNow(later, next);
    const latest = async () => (await reporting.rowsOf(next))[0];
    await reporting.until(async () => expect(await latest()).toMatchObject({ state: 'due', reason: 'content-failed' }));
    expect(reporting.arrived()).toEqual([expected]);
  }, 60_000);

  test.each(['xlsx', 'link'])('hold what the format %s says', async (format) => {
    const started = await reporting.start();
    const user = await reporting.login(started, 'a', { sub: `format-${format}` });
    const { id } = await reporting.schedule(user, { format });
    await reporting.sendNow(user, id);
    expect(await reporting.ended(id)).toEqual(['sent', null]);
    const files = reporting.mailbox.received.flatMap(({ mail }) =>
      mail.attachments.map(({ content }) => content.subarray(0, 2).toString()),
    );
    expect(files).toEqual(format === 'link' ? [] : ['PK']);
  });

  describe('by a right that has ended', () => {
    const noRight = ['skipped', 'no-right'];
    const endings: readonly (readonly [string, (started: Started, user: User) => Promise<unknown>])[] = [
      [
        'the policy grants nothing',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, when: 'false' }] })),
      ],
      [
        'the policy grants another dashboard',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, grant: { templates: ['routes'] } }] })),
      ],
      [
        'the policy grants no downloads',
        ({ policies }) => policies.change(reportPolicy({ rules: [{ ...all, grant: { templates: ['delays'] } }] })),
      ],
      ['the tenant is suspended', ({ run, clientId }) => Promise.resolve(run('tenant-suspend', { clientId }))],
      [
        'the user is revoked',
        ({ run, clock }, { session }) => {
          clock.advance(1000);
          return Promise.resolve(
            run('revoke', { by: 'user', subject: session.sub, issuer: session.iss, reason: 'left' }),
          );
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
      'are not sent: %s',
      async (_, end) => {
        const started = await reporting.start();
        const user = await reporting.login(started, started.clientId, { roles: [] });
        const { id } = await reporting.schedule(user);
        await end(started, user);
        await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
        expect(await reporting.ended(id)).toEqual(noRight);
        expect(reporting.mailbox.received).toEqual([]);
      },
      30_000,
    );

    test('are not sent: the embed allows them no longer', async () => {
      const started = await reporting.start();
      const user = await reporting.login(started, started.clientId);
      const { id } = await reporting.schedule(user);
      const embedId = user.board.split('/').at(-1) ?? '';
      const embed = await reporting.service.store.embeds.findById(reporting.service.api().dataAppId, embedId);
      if (embed?.accessSettings == null) throw new Error('the copy has an embed');
      const accessSettings = { ...embed.accessSettings, isAllowEmailReports: false };
      await reporting.service.store.embeds.update({ ...embed, accessSettings });
      await reporting.service.store.schedules.setNext(id, reporting.service.deps.clock.now());
      expect(await reporting.ended(id)).toEqual(noRight);
      expect(reporting.mailbox.received).toEqual([]);
    }, 30_000);

    test('are erased with the tenant, and never sent', async () => {
      const started = await reporting.start();
      const user = await reporting.login(started, started.clientId);
      const { id } = await reporting.schedule(user);
      await started.run('tenant-delete', { clientId: started.clientId });
      expect(await reporting.rowsOf(id)).toEqual([]);
      expect(await reporting.service.store.schedules.pause(id)).toBe(false);
      expect(await reporting.service.dumpAll()).not.toContain(started.clientId);
    }, 30_000);
  });

  describe('are not scheduled', () => {
    test.each([
      ['another domain', { email: 'ann@evil.example' }],
      ['an address that is not verified', { email_verified: false }],
      ['two addresses', { email: 'ann@customer.example, eve@evil.example' }],
      ['no address', { email: undefined }],
    ])('reports are not scheduled to %s', async (_, claims) => {
      const started = await reporting.start();
      const user = await reporting.login(started, started.clientId, claims);
      const { status, body } = await reporting.call('POST', `${user.board}/schedules`, user.token, {
        ...{ name: 'Daily', format: 'csv', recurrence: daily },
      });
      expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('no e-mail address')]);
    });

    test('reports are not scheduled for a user of another data app who bears the same names', async () => {
      const started = await reporting.start();
      await reporting.login(started, 'a', { sub: 'namesake' });
      const owner = { clientId: 'a', userIdentifier: 'guestlist-demo|namesake' };
      const way = { openedId: 'delays--a', channel: null };
      const own = { dataAppId: reporting.service.api().dataAppId, ...owner };
      expect(await reporting.connected.reports.check(own, way)).toBe('ready');
      expect(
        await reporting.connected.reports.check({ ...own, dataAppId: reporting.service.api('other').dataAppId }, way),
      ).toBe('no-address');
    });

    test('where the template does not allow them', async () => {
      const templates = { delays: { name: 'Delays' } };
      const started = await reporting.start(reportPolicy({ templates }));
      const user = await reporting.login(started, started.clientId);
      const { status } = await reporting.call('GET', `${user.board}/schedules`, user.token);
      expect(status).toBe(403);
    });
  });

  test('end with one click, which needs the whole address', async () => {
    const started = await reporting.start();
    const user = await reporting.login(started, started.clientId);
    const { id } = await reporting.schedule(user);
    await reporting.sendNow(user, id);
    await reporting.ended(id);
    const header = /^List-Unsubscribe: <https:\/\/analytics\.example([^>]+)>/m.exec(
      (reporting.mailbox.received[0]?.raw ?? '').replace(/\r\n[ \t]+/g, ' ').replace(/<\s+/g, '<'),
    );
    const path = header?.[1] ?? '';
    const app = express().use(started.router);
    const isPaused = async () =>
      (await reporting.dataOf<{ isPaused: boolean }[]>(reporting.call('GET', `${user.board}/schedules`, user.token)))[0]
        ?.isPaused;
    expect((await request(app).post(`${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    expect((await request(app).post(`/reports/unsubscribe/${id}`)).status).toBe(404);
    expect((await request(app).get(path)).status).toBe(200);
    expect(await isPaused()).toBe(false);
    const { status, headers } = await request(app).post(path).type('form').send({ 'List-Unsubscribe': 'One-Click' });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(await isPaused()).toBe(true);
  });

  test('leave no address, name or number in the log', async () => {
    const started = await reporting.start();
    const user = await reporting.login(started, started.clientId);
    const { id } = await reporting.schedule(user, { name: 'Unmistakable' });
    await reporting.sendNow(user, id);
    await reporting.ended(id);
    expect(started.reportLines.length).toBeGreaterThan(0);
    expect(JSON.stringify(started.reportLines)).not.toMatch(/customer\.example|Unmistakable/);
  });
});
