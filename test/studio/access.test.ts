/** Who may do what in Studio: every operation and every command against every role. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandRules } from '../../src/compose/commands.js';
import { withoutWrites } from '../../src/model/guest/access.js';
import { guestPermissionNames } from '../../src/model/guest/grant.js';
import { type StudioRole, studioRoles } from '../../src/model/person.js';
import { needsData } from '../../src/platform/http/interface/callable.js';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { withoutSecrets } from '../../src/studio/process-commands.js';
import { personWith, type StudioServer, someSchedule, startStudioServer } from './studio-server.js';

let nowMs = Date.UTC(2026, 0, 1);
let server: StudioServer;
beforeAll(async () => {
  server = await startStudioServer({ now: () => new Date(nowMs) });
});
beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1);
});
afterAll(() => server.close());

const all: readonly Operation[] = Object.values(operations);
const pathOf = ({ bindings: [binding] }: Operation) => (binding?.path ?? '').replace(/\{\w+\}/g, 'x');
const ask = (headers: Readonly<Record<string, string>>, method: string, path: string, body = '{}') =>
  fetch(`${server.url}${path}`, { method, headers, ...(method === 'GET' ? {} : { body }) });

describe('an operation', () => {
  test.each(studioRoles)('answers a person with the role %s only where it names that role', async (role) => {
    const headers = await server.as(personWith([role]));
    for (const operation of all) {
      const method = operation.bindings[0]?.method ?? 'GET';
      const { status } = await ask(headers, method, `/studio${pathOf(operation)}`);
      const isAllowed = operation.roles !== undefined && (role === 'owner' || operation.roles.includes(role));
      expect([operation.name, status]).toEqual([operation.name, isAllowed ? 200 : 403]);
    }
  });

  test('an operation that counts in the rows of all tenants needs access to data besides the role', async () => {
    const counting = all.filter(({ reads, roles }) => roles !== undefined && needsData(reads));
    expect(counting.map(({ name, roles }) => [name, roles])).toEqual([
      ['draftDashboardContent', ['author']],
      ['tryDashboardContent', ['author']],
      ['compareDatasourceColumns', ['author']],
      ['listRollups', ['author']],
      ['buildRollup', ['author']],
      ['proposeRollups', ['author', 'publisher']],
      ['readUsage', ['author', 'publisher', 'support', 'auditor']],
      ['exportUsage', ['author', 'publisher', 'support', 'auditor']],
    ]);
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role], false, `${role}-without-data`));
      server.dispatched.length = 0;
      for (const operation of counting) {
        const method = operation.bindings[0]?.method ?? 'GET';
        const { status } = await ask(headers, method, `/studio${pathOf(operation)}`);
        expect([role, operation.name, status, server.dispatched.length]).toEqual([role, operation.name, 403, 0]);
      }
    }
  });

  test('an operation that has a database look at SQL of the request is for authors', () => {
    const { checkDatamartExpression, listUnreadableMetrics, tryDashboardContent } = operations;
    for (const { name, roles } of [checkDatamartExpression, listUnreadableMetrics, tryDashboardContent]) {
      expect([name, roles]).toEqual([name, ['author']]);
    }
  });

  test('an operation that makes or needs a credential is not offered to anybody', () => {
    const credentials = [
      'createApiKey',
      'rotateApiKey',
      'createServiceToken',
      'rotateServiceToken',
      'createGuestToken',
    ];
    const offered = all.filter(({ roles }) => roles !== undefined);
    expect(offered.filter(({ name }) => credentials.includes(name))).toEqual([]);
    expect(offered.filter((operation) => operation.credentials.includes('guestToken'))).toEqual([]);
  });

  test('is called in the name of the organization, and says who asks', async () => {
    const person = personWith(['author']);
    await ask(await server.as(person), 'GET', '/studio/api/v2/datasource');
    expect(server.dispatched.at(-1)?.caller).toMatchObject({ kind: 'serviceToken', person });
    expect(server.dispatched.at(-1)?.authorization).toBeUndefined();
  });

  test('an operation that changes something is in the audit with the person; one that reads is not', async () => {
    const headers = await server.as(personWith(['author']));
    server.audited.length = 0;
    await ask(headers, 'GET', '/studio/api/v2/datasource');
    expect(server.audited).toEqual([]);
    await ask(headers, 'POST', '/studio/api/v2/datasource');
    expect(server.audited).toMatchObject([
      {
        kind: 'admin',
        detail: { command: 'createDatasource', operator: 'https://people.example.com author', step: 'asked' },
      },
    ]);
  });

  test('an operation that changes something is in the audit, whichever it is', async () => {
    const headers = await server.as(personWith(['owner']));
    for (const operation of all.filter(({ roles }) => roles !== undefined)) {
      server.audited.length = 0;
      const [binding] = operation.bindings;
      await ask(headers, binding?.method ?? 'GET', `/studio${pathOf(operation)}`);
      const reads =
        binding?.method === 'GET' || /^(?:list|get|export|compare|draft|merge|propose|check)/.test(operation.name);
      expect([operation.name, server.audited.length]).toEqual([operation.name, reads ? 0 : 1]);
    }
  });
});

const onePath = { method: 'POST', path: '/api/v2/both', from: 'body' } as const;
const { listDatasources: open } = operations;
const narrows = {
  'needs another role': { ...open, roles: [] },
  'reads rows': { ...open, reads: 'rows' },
};
test.each(
  Object.entries(narrows).flatMap(([why, narrow]) =>
    [true, false].flatMap((isFirst) => [true, false].map((isMeant) => ({ why, narrow, isFirst, isMeant }))),
  ),
)(
  'where the body decides between operations of one path, each must be allowed: one $why (first: $isFirst, meant: $isMeant)',
  async ({ narrow, isFirst, isMeant }) => {
    const narrowOne = { ...narrow, bindings: [isMeant ? { ...onePath, when: () => true } : onePath] };
    const openOne = { ...open, bindings: [isMeant ? onePath : { ...onePath, when: () => true }] };
    const both = isFirst ? { narrow: narrowOne, open: openOne } : { open: openOne, narrow: narrowOne };
    const closed = await startStudioServer({ now: () => new Date(nowMs) }, null, both as never);
    const headers = await closed.as(personWith(['author'], false));
    const answer = await fetch(`${closed.url}/studio/api/v2/both`, { method: 'POST', headers, body: '{}' });
    expect([answer.status, closed.dispatched]).toEqual([403, []]);
    closed.close();
  },
);

describe('a command', () => {
  test.each(studioRoles)('runs for a person with the role %s only where the table says so', async (role) => {
    const headers = await server.as(personWith([role]));
    for (const [name, rule] of Object.entries(commandRules)) {
      const { status } = await ask(headers, 'POST', `/studio/commands/${name}`);
      expect([name, status !== 403]).toEqual([name, role === 'owner' || rule.roles.includes(role)]);
    }
  });

  test('a command that explains an earlier request, with the claims of its user, runs for those who may read the audit', async () => {
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role]));
      const { status } = await ask(headers, 'POST', '/studio/commands/policy-explain', '{"request":"an-earlier-one"}');
      expect([role, status]).toEqual([role, ['owner', 'support', 'auditor'].includes(role) ? 200 : 403]);
    }
  });

  test('a command that shows the values of conflicts runs for those who may read dashboards', async () => {
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role]));
      const { status } = await ask(headers, 'POST', '/studio/commands/rollout-plan', '{"showsValues":true}');
      expect([role, status]).toEqual([role, ['support', 'policyAdmin'].includes(role) ? 403 : 200]);
    }
  });

  test('a command that shows the values of conflicts needs access to data, as users write values of rows into metrics', async () => {
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role], false, `${role}-without-data`));
      const status = async (body: string) => (await ask(headers, 'POST', '/studio/commands/rollout-plan', body)).status;
      expect([role, await status('{"showsValues":true}')]).toEqual([role, 403]);
      expect([role, await status('{}')]).toEqual([role, role === 'policyAdmin' ? 403 : 200]);
    }
  });

  test('the cards that a user loses are told to people with access to data, those that a role loses to all', async () => {
    const viewer = JSON.stringify({ template: 'delays', viewer: { clientId: 'LAX', claims: { sub: 'kim' } } });
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role], false, `${role}-without-claims`));
      const status = async (body: string) => (await ask(headers, 'POST', '/studio/commands/cards-check', body)).status;
      expect([role, await status(viewer), await status('{"template":"delays"}')]).toEqual([role, 403, 200]);
    }
  });

  test('a command that is not in the table is refused even to an owner', async () => {
    const headers = await server.as(personWith(['owner']));
    for (const name of ['studio-link', 'toString', 'constructor']) {
      expect((await ask(headers, 'POST', `/studio/commands/${name}`)).status).toBe(403);
    }
    expect(server.commands).not.toContain('studio-link');
  });

  test('a command that puts a policy in force runs only for those who see data themselves', async () => {
    for (const seesData of [true, false])
      for (const role of studioRoles) {
        const headers = await server.as(personWith([role], seesData));
        const { status } = await ask(headers, 'POST', '/studio/commands/policy-save');
        expect([role, status]).toEqual([role, seesData && ['owner', 'policyAdmin'].includes(role) ? 200 : 403]);
      }
  });

  test('a command that changes something is in the audit before it runs', async () => {
    const headers = await server.as(personWith(['support']));
    server.audited.length = 0;
    await ask(headers, 'POST', '/studio/commands/tenant-suspend');
    await ask(headers, 'POST', '/studio/commands/tenants-list');
    expect(server.audited.map(({ detail }) => detail?.command)).toEqual(['tenant-suspend']);
  });
});

test('a command whose answer tells of rows or claims needs access to data besides the role', async () => {
  const telling = Object.entries(commandRules).filter(([, { reads }]) => needsData(reads));
  expect(telling.map(([name]) => name).toSorted()).toEqual([
    ...[
      'answer-history',
      'audit-export',
      'audit-search',
      'key-create',
      'key-rotate',
      'metric-preview',
      'policy-save',
      'read-plan',
      'report-preview',
      'request-explanation',
      'tenants-names',
      'viewers-list',
    ],
  ]);
  const headers = await server.as(personWith(['owner'], false, 'owner-without-data'));
  const asked = [...telling.map(([name]) => [name, '{}'] as const), ['policy-explain', '{"request":"an-earlier-one"}']];
  server.commands.length = 0;
  for (const [name = '', body] of asked) {
    expect([name, (await ask(headers, 'POST', `/studio/commands/${name}`, body)).status]).toEqual([name, 403]);
  }
  const { data } = (await (await ask(headers, 'POST', '/studio/commands/search', '{"q":"acme"}')).json()) as {
    data: { groups: readonly { kind: string }[] };
  };
  expect(data.groups.map(({ kind }) => kind)).not.toContain('audit');
  expect((await ask(headers, 'POST', '/studio/commands/search', '{"q":"acme","kind":"audit"}')).status).toBe(403);
  expect(server.commands.filter((name) => telling.some(([one]) => one === name))).toEqual([]);
});

test('all that can be called says what it tells of rows', () => {
  const kinds = ['nothing', 'definitions', 'outcomes', 'rows'];
  for (const { name, reads } of all) expect([name, kinds.includes(reads)]).toEqual([name, true]);
  for (const [name, { reads, narrower }] of Object.entries(commandRules)) {
    expect([name, kinds.includes(reads), kinds.includes(narrower?.reads ?? reads)]).toEqual([name, true, true]);
  }
});

describe('the state of the system', () => {
  test.each(studioRoles)('is shown to the role %s only if it operates', async (role) => {
    const { status } = await ask(await server.as(personWith([role])), 'POST', '/studio/commands/read-system');
    expect(status).toBe(['owner', 'support', 'auditor'].includes(role) ? 200 : 403);
  });

  test('has no password of a server and no secret', () => {
    const settings = {
      databaseUrl: 'postgres://guest:hush@db1:5432,db2:5432/meta?sslmode=require',
      redisUrl: 'rediss://:hush@cache:6379',
      gateway: { session: { issuers: [{ secret: 'hush', url: 'https://login.example.com/keys' }] } },
    };
    const shown = withoutSecrets(settings);
    expect(JSON.stringify(shown)).not.toContain('hush');
    expect(shown).toMatchObject({
      databaseUrl: 'postgres://guest:•••@db1:5432,db2:5432/meta?sslmode=require',
      gateway: { session: { issuers: [{ url: 'https://login.example.com/keys' }] } },
    });
  });
});

describe('the keys that sign and check', () => {
  test.each(studioRoles)('are listed for the role %s as API keys are', async (role) => {
    const headers = await server.as(personWith([role]));
    const [own, keys] = await Promise.all([
      ask(headers, 'POST', '/studio/commands/signing-keys'),
      ask(headers, 'GET', '/studio/api/v2/data-app/api-tokens?dataAppName=app'),
    ]);
    expect(own?.status).toBe(['owner', 'auditor'].includes(role) ? 200 : 403);
    expect(own?.status).toBe(keys?.status);
  });
});

describe('the sessions of people', () => {
  const end = JSON.stringify({ issuer: 'https://people.example.com', subject: 'nobody-else' });

  test.each(studioRoles)(
    'are listed and ended by the role %s only if it owns the installation, or reads it',
    async (role) => {
      const headers = await server.as(personWith([role]));
      expect((await ask(headers, 'POST', '/studio/commands/studio-sessions-list')).status).toBe(
        ['owner', 'auditor'].includes(role) ? 200 : 403,
      );
      server.audited.length = 0;
      expect((await ask(headers, 'POST', '/studio/commands/studio-sessions-end', end)).status).toBe(
        role === 'owner' ? 200 : 403,
      );
      expect(server.audited).toHaveLength(role === 'owner' ? 1 : 0);
    },
  );

  test('are shown without what proves them, and without keys of assistants and sessions that ended', async () => {
    const owner = await server.as(personWith(['owner'], true, 'the-owner'));
    await server.as(personWith(['author'], true, 'idle'));
    await server.sessions.createKey(personWith(['author'], false, 'assistant'), 30);
    nowMs += 59 * 60_000;
    await ask(owner, 'GET', '/studio/session');
    nowMs += 60_000;
    const { data } = (await (await ask(owner, 'POST', '/studio/commands/studio-sessions-list')).json()) as {
      data: { sessions: readonly { subject: string; isOwn: boolean }[] };
    };
    expect(data.sessions).toEqual([
      {
        ...{ id: expect.any(String), issuer: 'https://people.example.com', subject: 'the-owner', name: 'the-owner' },
        ...{ roles: ['owner'], seesData: true, isOwn: true, vouchedAt: null, createdAt: '2026-01-01T00:00:00.000Z' },
        ...{ usedAt: '2026-01-01T01:00:00.000Z', expiresAt: '2026-01-01T12:00:00.000Z' },
      },
    ]);
  });

  test('the sessions of an assistant are ended by its command, not by that for people', async () => {
    const headers = await server.as(personWith(['owner']));
    for (const [body, status] of [
      ['{"issuer":"key","subject":"assistant"}', 400],
      ['{"issuer":"https://people.example.com"}', 400],
      ['{}', 400],
    ] as const)
      expect((await ask(headers, 'POST', '/studio/commands/studio-sessions-end', body)).status).toBe(status);
  });

  test('are not ended where that cannot be recorded', async () => {
    let fails = false;
    const full = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, { auditFails: () => fails });
    const [owner, ann] = [await full.as(personWith(['owner'])), await full.as(personWith(['author'], true, 'ann'))];
    fails = true;
    const body = JSON.stringify({ issuer: 'https://people.example.com', subject: 'ann' });
    const answer = await fetch(`${full.url}/studio/commands/studio-sessions-end`, {
      method: 'POST',
      headers: owner,
      body,
    });
    expect(answer.status).toBe(500);
    expect((await fetch(`${full.url}/studio/session`, { headers: ann })).status).toBe(200);
    full.close();
  });
});

describe('the queries', () => {
  const list = '/studio/commands/list-slow-queries';
  const plan = '/studio/commands/read-plan';
  const read = async (role: StudioRole, path = list, body = '{}') =>
    ask(await server.as(personWith([role])), 'POST', path, body);

  test.each(studioRoles.filter((role) => role !== 'policyAdmin'))(
    'are shown to %s, and their text and plan only to those who may read dashboards',
    async (role) => {
      const isReader = role !== 'support';
      const { data } = (await (await read(role)).json()) as {
        data: Readonly<Record<'slowest' | 'failed', readonly object[]>>;
      };
      for (const notes of [data.slowest, data.failed]) {
        expect(notes).toMatchObject([{ clientId: 'acme', ms: 5 }]);
        expect(notes.some((note) => 'sql' in note)).toBe(isReader);
      }
      expect((await read(role, plan, '{"id":"1"}')).status).toBe(isReader ? 200 : 403);
    },
  );

  test('tell a person without data no outcome: no rows, no failure, no plan, and one list of those that failed or not', async () => {
    const headers = await server.as(personWith(['author'], false, 'blind-author'));
    const { data } = (await (await ask(headers, 'POST', list, '{"withTimes":true}')).json()) as { data: object };
    const note = { id: '1', at: '1970-01-01T00:00:00.000Z', dataAppId: 'app', clientId: 'acme', datasource: 'main' };
    expect(data).toEqual({
      since: '1970-01-01T00:00:00.000Z',
      times: [{ dataAppName: 'flights', clientId: 'acme', ms: 15 }],
      slowest: [{ ...note, requestId: 'r', ms: 5, sql: 'SELECT 1' }],
      failed: null,
    });
    expect((await ask(headers, 'POST', plan, '{"id":"1"}')).status).toBe(403);
  });

  test('over time are told to nobody without data: how answers ended tells of rows of a tenant', async () => {
    const history = '/studio/commands/answer-history';
    const { data } = (await (await read('support', history)).json()) as { data: object };
    expect(data).toMatchObject({ tenants: [{ dataAppName: 'flights', clientId: 'acme', failed: 1 }] });
    expect((await read('support', history, '{"dataAppName":"flights"}')).status).toBe(200);
    expect((await read('support', history, '{"dataAppName":"another"}')).status).toBe(404);
    for (const role of studioRoles) {
      const headers = await server.as(personWith([role], false, `blind-${role}`));
      expect((await ask(headers, 'POST', history)).status).toBe(403);
    }
    expect((await read('policyAdmin', history)).status).toBe(403);
  });

  test('the queries that are no longer remembered have no plan', async () => {
    expect((await read('author', plan, '{"id":"3"}')).status).toBe(404);
  });
});

describe('the reports and alerts of all users', () => {
  const path = '/studio/commands/schedules-list';
  const pause = '/studio/commands/schedule-pause';
  const one = JSON.stringify({ id: someSchedule.id });

  test.each(studioRoles)('are listed for %s only where the role watches tenants', async (role) => {
    const isReader = ['owner', 'support', 'auditor'].includes(role);
    expect((await ask(await server.as(personWith([role])), 'POST', path)).status).toBe(isReader ? 200 : 403);
  });

  test('are listed of one tenant, which is so whole where the list of all is cut', async () => {
    const headers = await server.as(personWith(['support']));
    const idsOf = async (tenant: string) => {
      const answer = await ask(headers, 'POST', path, JSON.stringify({ tenant }));
      return ((await answer.json()) as { data: { schedules: readonly { id: string }[] } }).data.schedules.length;
    };
    expect([await idsOf('acme'), await idsOf('other')]).toEqual([1, 0]);
    for (const input of [{ tenant: '' }, { tenant: ['a', 'b'] }, { user: 'a' }, { tenant: 'x'.repeat(256) }])
      expect((await ask(headers, 'POST', path, JSON.stringify(input))).status).toBe(400);
  });

  test.each(studioRoles)('are paused by %s only where the role changes tenants, and by name', async (role) => {
    const mayPause = ['owner', 'support'].includes(role);
    server.audited.length = 0;
    server.paused.length = 0;
    expect((await ask(await server.as(personWith([role])), 'POST', pause, one)).status).toBe(mayPause ? 200 : 403);
    expect(server.paused).toEqual(mayPause ? [[someSchedule.id, true]] : []);
    const detail = { command: 'schedule-pause', schedule: someSchedule.id };
    expect(server.audited).toMatchObject(mayPause ? [{ kind: 'admin', detail }] : []);
  });

  test.each([
    [
      true,
      'https%3A%2F%2Flogin.example|ann%40customer.example',
      { state: 'failed', reason: 'mail-refused', finishedAt: '1970-01-01T00:00:04.000Z' },
    ],
    [false, 'https%3A%2F%2Flogin.example|a…%40customer.example', { state: 'checked', reason: null, finishedAt: null }],
  ])(
    'name users, and addresses and what alerts found only to those who see data (%s)',
    async (seesData, user, last) => {
      const { data } = (await (await ask(await server.as(personWith(['support'], seesData)), 'POST', path)).json()) as {
        data: { schedules: readonly object[] };
      };
      expect(data.schedules).toMatchObject([{ clientId: 'acme', user, format: 'alert', isPaused: false, last }]);
      expect(Object.keys(data.schedules[0] ?? {}).toSorted()).toEqual(
        [
          ...['channel', 'clientId', 'dashboardId', 'format', 'id', 'isPaused', 'last', 'mutedUntil', 'name', 'nextAt'],
          'user',
        ].toSorted(),
      );
    },
  );

  test.each([
    ['{"id":"x"}', 404],
    ['{"id":"\\u0000"}', 400],
    ['{"id":"\\ud800"}', 400],
    ['{"id":"0b1f4a34-6d0c-4a39-9a55-0f5e0b1f4c11"}', 404],
    ['{}', 400],
    ['{"id":1}', 400],
  ])('refuse to pause %s', async (body, status) => {
    expect((await ask(await server.as(personWith(['support'])), 'POST', pause, body)).status).toBe(status);
  });
});

describe('keys', () => {
  const asked = [
    ['key-create', { dataApp: 'flights', name: 'backend' }, 'backend'],
    ['key-rotate', { dataApp: null, name: 'known', graceSeconds: 3600 }, 'known'],
  ] as const;
  const secret = 'the-new-key';
  const run = (headers: Readonly<Record<string, string>>, name: string, input: object, at: StudioServer = server) =>
    fetch(`${at.url}/studio/commands/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });

  test.each(studioRoles)('are made and rotated for %s only if that is the owner', async (role) => {
    const headers = await server.as(personWith([role]));
    for (const [name, input] of asked) {
      server.made.length = 0;
      expect([name, (await run(headers, name, input)).status]).toEqual([name, role === 'owner' ? 200 : 403]);
      expect(server.made.length).toBe(role === 'owner' ? 1 : 0);
    }
  });

  test('are not made or rotated for an owner without access to data, who would read rows with one', async () => {
    const headers = await server.as(personWith(['owner'], false, 'owner-without-data'));
    server.made.length = 0;
    for (const [name, input] of asked) expect([name, (await run(headers, name, input)).status]).toEqual([name, 403]);
    expect(server.made).toEqual([]);
  });

  test('are in one answer, and the audit names them before, without the key', async () => {
    const headers = await server.as(personWith(['owner']));
    for (const [command, input, key] of asked) {
      server.audited.length = 0;
      const answer = await run(headers, command, input);
      expect(await answer.json()).toEqual({ data: { key: secret }, error: null });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(server.audited).toMatchObject([{ kind: 'admin', code: 'OK', detail: { command, key, step: 'asked' } }]);
      expect(JSON.stringify(server.audited)).not.toContain(secret);
    }
    expect(server.made.at(-1)).toEqual([{ kind: 'serviceToken', tokenId: 'of-known' }, { expireAt: 3600 }]);
  });

  test('are not made if the audit cannot name them', async () => {
    let isFull = false;
    const other = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, {
      auditFails: () => isFull,
    });
    const headers = await other.as(personWith(['owner']));
    isFull = true;
    for (const [name, input] of asked) expect((await run(headers, name, input, other)).status).toBe(500);
    expect(other.made).toEqual([]);
    other.close();
  });

  test.each([
    ['key-create', {}, 400],
    ['key-create', { dataApp: null, name: '' }, 400],
    ['key-rotate', { dataApp: null, name: 'known' }, 400],
    ['key-rotate', { dataApp: null, name: 'known', graceSeconds: 99999999 }, 400],
    ['key-rotate', { dataApp: null, name: 'other', graceSeconds: 0 }, 404],
  ])('are refused by %s with %j', async (name, input, status) => {
    server.made.length = 0;
    expect((await run(await server.as(personWith(['owner'])), name, input)).status).toBe(status);
    expect(server.made).toEqual([]);
  });

  test('are refused with the reason in the audit, after the entry that they were asked for', async () => {
    const headers = await server.as(personWith(['owner']));
    server.audited.length = 0;
    await run(headers, 'key-rotate', { dataApp: null, name: 'other', graceSeconds: 0 });
    expect(server.audited.map(({ code, detail }) => [code, detail?.step])).toEqual([
      ['OK', 'asked'],
      ['NOT_FOUND', 'refused'],
    ]);
  });
});

describe('the search', () => {
  type Group = {
    readonly kind: string;
    readonly hits: readonly { readonly id: string; readonly name: string; readonly detail: string }[];
    readonly next: string | null;
    readonly isAway: boolean;
  };
  const find = async (
    query: string,
    roles: readonly StudioRole[],
    seesData = true,
    on: StudioServer = server,
  ): Promise<readonly Group[]> => {
    const headers = await on.as(personWith(roles, seesData));
    const asked = JSON.stringify(Object.fromEntries(new URLSearchParams(query)));
    const answer = await fetch(`${on.url}/studio/commands/search`, { method: 'POST', headers, body: asked });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: { groups: readonly Group[] } }).data.groups;
  };
  const built = ['tenant', 'dashboard', 'metric', 'source', 'model'];
  const ofUsers = ['token', 'schedule'];
  const allowed: Readonly<Record<StudioRole, readonly string[]>> = {
    owner: [...built, ...ofUsers, 'tenant-report', 'template', 'rollout', 'audit'],
    author: [...built, 'template', 'rollout'],
    publisher: [...built, 'tenant-report', 'template', 'rollout'],
    policyAdmin: ['template'],
    support: [...built, ...ofUsers, 'tenant-report', 'template', 'rollout'],
    auditor: [...built, ...ofUsers, 'tenant-report', 'template', 'rollout', 'audit'],
  };

  test.each(studioRoles)('finds for %s only what the role may read elsewhere', async (role) => {
    const groups = await find('q=acme', [role]);
    expect(groups.map(({ kind }) => kind)).toEqual(allowed[role]);
    const headers = await server.as(personWith([role]));
    for (const kind of allowed.owner) {
      const { status } = await ask(headers, 'POST', '/studio/commands/search', JSON.stringify({ q: 'acme', kind }));
      expect([kind, status]).toEqual([kind, allowed[role].includes(kind) ? 200 : 403]);
    }
    for (const kind of ['toString', 'x']) {
      expect((await ask(headers, 'POST', '/studio/commands/search', JSON.stringify({ q: 'a', kind }))).status).toBe(
        403,
      );
    }
  });

  test('shows tenants by name and finds them by it, and only where the person may see data', async () => {
    const commandAnswers = { 'tenants-names': { names: [{ clientId: 'acme', name: 'Los Angeles Ltd' }] } };
    const named = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, { commandAnswers });
    for (const role of ['support', 'author', 'auditor'] as const) {
      const [hit] = (await find('q=angeles', [role], true, named)).find(({ kind }) => kind === 'tenant')?.hits ?? [];
      expect(hit).toEqual({ id: 'acme', name: 'Los Angeles Ltd', detail: 'acme, active' });
      named.commands.length = 0;
      const hidden = await find('q=angeles', [role], false, named);
      expect(JSON.stringify(hidden)).not.toContain('Los Angeles');
      expect(named.commands).not.toContain('tenants-names');
      expect(named.commands.filter((name) => name === 'tenants-list')).toHaveLength(1);
    }
    named.close();
  });

  test('neither shows the name of a user nor finds by it where the person may see no data', async () => {
    const [token, schedule] = await find('q=acme', ['support']).then((all) =>
      all.filter(({ kind }) => ['token', 'schedule'].includes(kind)),
    );
    expect([token?.hits[0]?.name, schedule?.hits[0]?.detail]).toEqual([
      'ann@customer.example',
      'alert of ann@customer.example, acme',
    ]);
    const hidden = await find('q=acme', ['support'], false);
    expect(JSON.stringify(hidden)).not.toContain('ann');
  });

  test('asks each store for one page, and for the next page of one kind', async () => {
    server.searched.length = 0;
    await find('q=%20Acme%20%20sales%20', ['author']);
    expect(server.searched.every(({ limit }) => limit === 5)).toBe(true);
    expect(server.searched[0]).toEqual({ words: ['Acme', 'sales'], after: null, limit: 5 });
    server.searched.length = 0;
    expect(await find('q=acme&kind=metric&after=5', ['author'])).toMatchObject([{ kind: 'metric', next: '5' }]);
    expect(server.searched).toEqual([{ words: ['acme'], after: '5', limit: 20 }]);
  });

  test('says of the audit that it was not searched to its end, also where nothing was found yet', async () => {
    const answers = { 'audit-search': { entries: [], next: 'contents:7:9' } };
    const clocked = { now: () => new Date(nowMs) };
    const other = await startStudioServer(clocked, null, operations, { commandAnswers: answers });
    const audit = (await find('q=acme', ['auditor'], true, other)).filter(({ kind }) => kind === 'audit');
    expect(audit).toEqual([{ kind: 'audit', hits: [], next: 'contents:7:9', isAway: false }]);
    expect(await find('q=acme&kind=audit&after=contents:7:9', ['auditor'], true, other)).toEqual(audit);
    expect((await find('q=acme', ['support'], true, other)).some(({ kind }) => kind === 'audit')).toBe(false);
    other.close();
  });

  test('says what cannot be asked, and finds the rest', async () => {
    const other = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, { isDataAppMissing: true });
    const groups = await find('q=acme', ['support'], true, other);
    expect(groups.filter(({ isAway }) => isAway).map(({ kind }) => kind)).toEqual([...ofUsers, 'tenant-report']);
    expect(groups.map(({ kind }) => kind)).toEqual(allowed.support);
    other.close();
  });

  test.each([
    ...[{}, { q: '' }, { q: ' ' }, { q: '\n' }, { q: ['a', 'b'] }, { q: '\0' }, { q: 'x'.repeat(201) }],
    ...[
      { q: 'a', more: '1' },
      { q: 'a', after: '' },
    ],
  ])('refuses the search for %j with what to send', async (query) => {
    const headers = await server.as(personWith(['owner']));
    const answer = await ask(headers, 'POST', '/studio/commands/search', JSON.stringify(query));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/"message":"(?:q|after|body|more):? /);
  });
});

describe('a session', () => {
  test('is needed by every path but the pages', async () => {
    for (const [method, path] of [
      ['GET', '/studio/session'],
      ['POST', '/studio/commands/studio-sessions-list'],
      ['DELETE', '/studio/sessions'],
      ['POST', '/studio/commands/studio-sessions-end'],
      ['POST', '/studio/commands/search'],
      ['POST', '/studio/commands/read-system'],
      ['POST', '/studio/commands/key-create'],
      ['POST', '/studio/commands/uploads-list'],
      ['POST', '/studio/uploads'],
      ['PUT', '/studio/uploads'],
      ['POST', '/studio/commands/view-open'],
      ['POST', '/studio/commands/tenants-list'],
      ['GET', '/studio/api/v2/datasource'],
      ['GET', '/studio/as/api/v2/guest/dashboards/x'],
    ] as const) {
      expect([path, (await ask({}, method, path)).status]).toEqual([path, 401]);
    }
    expect(await (await ask({}, 'GET', '/studio/dashboards/x')).text()).toBe('the page');
  });

  test('changes nothing without the token of its own page, nor for a page of another origin', async () => {
    const headers = await server.as(personWith(['owner']));
    const { 'x-guestlist-change': _, ...without } = headers;
    for (const other of [
      without,
      { ...headers, 'x-guestlist-change': 'guessed' },
      { ...headers, origin: 'https://evil.example.com' },
    ]) {
      server.dispatched.length = 0;
      expect((await ask(other, 'POST', '/studio/api/v2/datasource')).status).toBe(403);
      expect((await ask(other, 'POST', '/studio/commands/tenant-suspend')).status).toBe(403);
      expect((await ask(other, 'DELETE', '/studio/session')).status).toBe(403);
      expect((await ask(other, 'POST', '/studio/commands/studio-sessions-end')).status).toBe(403);
      expect((await ask(other, 'POST', '/studio/commands/key-create', '{"dataApp":null,"name":"a"}')).status).toBe(403);
      expect((await ask(other, 'POST', '/studio/uploads?source=a&file=a.csv')).status).toBe(403);
      expect(server.dispatched).toEqual([]);
    }
    expect((await ask({ ...headers, origin: server.url }, 'POST', '/studio/api/v2/datasource')).status).toBe(200);
  });

  test('ends when it is idle for an hour, and 12 hours after its login, used or not', async () => {
    const headers = await server.as(personWith(['auditor']));
    const status = async () => (await ask(headers, 'GET', '/studio/session')).status;
    nowMs += 59 * 60_000;
    expect(await status()).toBe(200);
    nowMs += 59 * 60_000;
    expect(await status()).toBe(200);
    nowMs += 60 * 60_000;
    expect(await status()).toBe(401);
    nowMs = Date.UTC(2026, 0, 1);
    const used = await server.as(personWith(['auditor']));
    for (let hour = 0; hour < 23; hour += 1) {
      nowMs += 30 * 60_000;
      expect((await ask(used, 'GET', '/studio/session')).status).toBe(200);
    }
    nowMs += 30 * 60_000;
    expect((await ask(used, 'GET', '/studio/session')).status).toBe(401);
  });

  test('ends by log-out; everywhere by “log out everywhere”, for this person alone', async () => {
    const [first, second, third] = [
      personWith(['author'], true, 'ann'),
      personWith(['author'], true, 'ann'),
      personWith(['author'], true, 'bo'),
    ];
    const [a, b, c] = await Promise.all([first, second, third].map((person) => server.as(person)));
    const status = async (headers: typeof a) => (await ask(headers ?? {}, 'GET', '/studio/session')).status;
    await ask(a ?? {}, 'DELETE', '/studio/session');
    expect([await status(a), await status(b)]).toEqual([401, 200]);
    const again = await server.as(first);
    expect(await (await ask(again, 'DELETE', '/studio/sessions')).json()).toMatchObject({ data: { ended: 2 } });
    expect([await status(again), await status(b), await status(c)]).toEqual([401, 401, 200]);
  });

  test('begins with a code that works once and for 12 hours, in a cookie that no script and no other site can use', async () => {
    const logIn = (code: string) =>
      ask({ 'content-type': 'application/json' }, 'POST', '/studio/session', JSON.stringify({ code }));
    const code = server.links.create();
    const answer = await logIn(code);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^guestlist_studio=[^;]+; .*Path=\/studio; .*HttpOnly; SameSite=Strict$/,
    );
    expect(JSON.stringify(await answer.json())).not.toContain(
      /guestlist_studio=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? 'none',
    );
    expect((await logIn(code)).status).toBe(401);
    const late = server.links.create();
    nowMs += 12 * 3_600_000;
    expect((await logIn(late)).status).toBe(401);
    expect((await logIn('')).status).toBe(400);
    expect((await ask({ 'content-type': 'application/json' }, 'POST', '/studio/session', '{"code":7}')).status).toBe(
      400,
    );
  });
});

describe('a view as a tenant’s user', () => {
  const asked = JSON.stringify({ clientId: 'LAX', claims: { sub: 'ann' } });
  const viewOf = async (headers: Readonly<Record<string, string>>) => {
    const { data } = (await (await ask(headers, 'POST', '/studio/commands/view-open', asked)).json()) as {
      data: { token: string };
    };
    return data.token;
  };

  test.each(studioRoles)(
    'creates dashboards of the tenant only for who may create them otherwise: %s',
    async (role) => {
      await viewOf(await server.as(personWith([role])));
      expect(server.looked.at(-1)?.mayProvision).toBe(['owner', 'publisher', 'support'].includes(role));
    },
  );

  test('holds no token of the user, and reads through the guests’ interface as that user', async () => {
    const view = await viewOf(await server.as(personWith(['support'])));
    expect(view).not.toContain('the-users-token');
    const answer = await ask({ authorization: `Bearer ${view}` }, 'GET', '/studio/as/api/v2/guest/dashboards/x');
    expect(answer.status).toBe(200);
    const caller = { kind: 'guest', isView: true };
    expect(server.dispatched.at(-1)).toMatchObject({ caller, path: '/api/v2/guest/dashboards/x' });
    expect(server.dispatched.at(-1)?.caller).not.toHaveProperty('isBlind');
  });

  test('a view as a user by a person without access to data says so, so that no value that a user chose is answered', async () => {
    const view = await viewOf(await server.as(personWith(['support'], false)));
    await ask({ authorization: `Bearer ${view}` }, 'GET', '/studio/as/api/v2/guest/dashboards/x');
    expect(server.dispatched.at(-1)?.caller).toMatchObject({ kind: 'guest', isView: true, isBlind: true });
  });

  test('changes nothing: every operation that is not listed as reading is refused', async () => {
    const view = await viewOf(await server.as(personWith(['owner'])));
    const guests = all.filter(({ credentials }) => credentials.includes('guestToken'));
    for (const operation of guests) {
      const [binding] = operation.bindings;
      const { status } = await ask(
        { authorization: `Bearer ${view}` },
        binding?.method ?? 'GET',
        `/studio/as${pathOf(operation)}`,
      );
      expect([operation.name, status]).toEqual([operation.name, operation.viewedAs === undefined ? 403 : 200]);
    }
    const writes = guests.filter(({ resource, viewedAs }) => resource === 'Guest writes' && viewedAs !== undefined);
    expect(writes.map(({ name }) => name)).toEqual(['listGuestFields']);
  });

  test('offers no permission that a write needs which a view may not do', () => {
    const all = Object.fromEntries(guestPermissionNames.map((name) => [name, name !== 'isDisableMetricCreation']));
    const offered = withoutWrites(all as Parameters<typeof withoutWrites>[0]);
    const ofWrites = [
      ...(['isEnableMetricUpdation', 'isEnableArchiveMetrics', 'isEnableManageMetrics'] as const),
      ...(['isEnableCustomizeLayout', 'isEnableCreateDashboardView', 'isEnableCreateDashboard'] as const),
    ];
    for (const permission of ofWrites) expect([permission, offered[permission]]).toEqual([permission, false]);
    expect(offered.isDisableMetricCreation).toBe(true);
    expect(offered).toMatchObject({ isEnableUnderlyingData: true, isEnableDownloadMetrics: true });
    for (const name of ['createGuestSchedule', 'chatOnGuestDashboard', 'summariseGuestDashboard'])
      expect(operations).toHaveProperty(name, expect.not.objectContaining({ viewedAs: expect.anything() }));
  });

  test('shows no row to a person without access to data', async () => {
    const view = await viewOf(await server.as(personWith(['author'], false)));
    for (const operation of all.filter(({ viewedAs }) => viewedAs !== undefined)) {
      const [binding] = operation.bindings;
      const { status } = await ask(
        { authorization: `Bearer ${view}` },
        binding?.method ?? 'GET',
        `/studio/as${pathOf(operation)}`,
      );
      const isDefinition = ['getGuestDashboard', 'getGuestMetric', 'getGuestBoard', 'listGuestFields'].includes(
        operation.name,
      );
      expect([operation.name, status]).toEqual([operation.name, isDefinition ? 200 : 403]);
    }
  });

  test('lets authors alone read the fields of a user who may build nothing', async () => {
    for (const [role, status] of [
      ['support', 403],
      ['author', 200],
    ] as const) {
      const view = await viewOf(await server.as(personWith([role])));
      const path = '/studio/as/api/v2/guest/dashboards/x/fields';
      const answer = await ask({ authorization: `Bearer ${view}` }, 'GET', path);
      expect([role, answer.status]).toEqual([role, status]);
    }
  });

  test('ends with the session that opened it, and is of no use changed or elsewhere', async () => {
    const headers = await server.as(personWith(['owner']));
    const view = await viewOf(headers);
    const status = async (token: string) =>
      (await ask({ authorization: `Bearer ${token}` }, 'GET', '/studio/as/api/v2/guest/dashboards/x')).status;
    expect(await status(view)).toBe(200);
    expect(await status(`${view.slice(0, -2)}AA`)).toBe(401);
    expect(await status('the-users-token')).toBe(401);
    await ask(headers, 'DELETE', '/studio/session');
    expect(await status(view)).toBe(401);
  });
});

describe('the mail of a report before it is saved', () => {
  const path = '/studio/commands/report-preview';
  const body = JSON.stringify({
    ...{ dashboardId: 'delays', name: 'Daily', format: 'csv', recipients: { roles: ['boss'] } },
    ...{ recurrence: { every: 'day', at: '08:00', timezone: 'UTC' }, clientId: 'LAX', user: 'ann' },
  });
  beforeEach(() => {
    server.mailsRead.length = 0;
    server.audited.length = 0;
  });

  test.each(studioRoles)('is shown to a person with the role %s only if that is publisher or owner', async (role) => {
    const isAllowed = ['publisher', 'owner'].includes(role);
    const { status } = await ask(await server.as(personWith([role])), 'POST', path, body);
    expect(status).toBe(isAllowed ? 200 : 403);
    expect(server.mailsRead).toEqual(isAllowed ? ['LAX ann'] : []);
    expect((await ask(await server.as(personWith([role], false, 'blind')), 'POST', path, body)).status).toBe(
      role === 'policyAdmin' ? status : 403,
    );
  });

  test('is in the audit before it is read, with the person, the tenant and the user', async () => {
    const headers = await server.as(personWith(['publisher'], true, 'pia'));
    expect((await ask(headers, 'POST', path, body)).status).toBe(200);
    const detail = { command: 'report-preview', operator: expect.stringContaining('pia'), dashboard: 'delays' };
    expect(server.audited).toEqual([expect.objectContaining({ kind: 'admin', clientId: 'LAX', user: 'ann', detail })]);
    const other = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, { auditFails: () => true });
    const own = await other.as(personWith(['publisher']));
    expect((await fetch(`${other.url}${path}`, { method: 'POST', headers: own, body })).status).toBe(500);
    expect(other.mailsRead).toEqual([]);
    other.close();
  });
});

describe('a metric that an author writes', () => {
  const sql = { kind: 'sql', chart: { type: 'table' }, sql: 'SELECT 1 AS n', measures: [{ name: 'n' }] };
  const visual = { kind: 'visual', chart: { type: 'table' }, from: { schemaName: 'main', tableName: 'sales' } };
  const paths = [
    ...(['/studio/commands/metric-preview', '/studio/commands/metric-statement'] as const),
    '/studio/commands/metric-to-sql',
  ] as const;
  const viewOf = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const asked = JSON.stringify({ clientId: 'LAX', claims: { sub: 'ann' } });
    const answer = await ask(headers, 'POST', '/studio/commands/view-open', asked);
    return ((await answer.json()) as { data: { token: string } }).data.token;
  };
  const bodyOf = (view: string, definition: object = sql) => JSON.stringify({ view, dashboardId: 'x', definition });
  beforeEach(() => {
    server.authored.length = 0;
    server.audited.length = 0;
  });

  test.each(studioRoles)('is answered to a person with the role %s only if that is author or owner', async (role) => {
    const headers = await server.as(personWith([role]));
    const view = await viewOf(headers);
    for (const path of paths) {
      const { status } = await ask(headers, 'POST', path, bodyOf(view));
      expect([path, status]).toEqual([path, ['author', 'owner'].includes(role) ? 200 : 403]);
    }
    expect(server.authored.every(({ caller }) => caller.author.roles.includes(role))).toBe(true);
  });

  test('shows no row to an author without access to data, who reads its statement', async () => {
    const headers = await server.as(personWith(['author'], false));
    const view = await viewOf(headers);
    expect((await ask(headers, 'POST', paths[0], bodyOf(view))).status).toBe(403);
    expect(server.authored).toEqual([]);
    const answer = await ask(headers, 'POST', paths[1], bodyOf(view));
    expect(await answer.json()).toEqual({ data: { sql: 'SELECT $1', columns: [] }, error: null });
  });

  test('is not answered through a view alone, as requests that a browser sends as a guest are', async () => {
    const headers = await server.as(personWith(['owner']));
    const view = await viewOf(headers);
    const { cookie = '', 'x-guestlist-change': change = '' } = headers;
    for (const path of paths) {
      const status = async (given: Readonly<Record<string, string>>) =>
        (await ask({ 'content-type': 'application/json', ...given }, 'POST', path, bodyOf(view))).status;
      expect(await status({ authorization: `Bearer ${view}` })).toBe(401);
      expect(await status({ cookie })).toBe(403);
      expect(await status({ cookie, 'x-guestlist-change': change, origin: 'https://host.example' })).toBe(403);
      expect(await status({ cookie, 'x-guestlist-change': change })).toBe(200);
    }
    const asGuest = await ask({ authorization: `Bearer ${view}` }, 'POST', '/studio/as/api/v2/guest/metrics/preview');
    expect(asGuest.status).toBe(403);
  });

  test('is read as the user of a view of the same session, and of no other', async () => {
    const [headers, others] = await Promise.all([
      server.as(personWith(['author'], true, 'ann')),
      server.as(personWith(['author'], true, 'bob')),
    ]);
    const view = await viewOf(headers);
    for (const token of [await viewOf(others), 'the-users-token', `${view.slice(0, -2)}AA`]) {
      const answer = await ask(headers, 'POST', paths[0], bodyOf(token));
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: { code: 'TOKEN_EXPIRED' } });
    }
    expect((await ask(headers, 'POST', paths[0], bodyOf(view))).status).toBe(200);
    expect(server.authored.map(({ caller }) => [caller.author.subject, caller.grant.clientId])).toEqual([
      ['ann', 'LAX'],
    ]);
  });

  test('in SQL is in the audit before it runs, with the author, the tenant and no text', async () => {
    const headers = await server.as(personWith(['author'], true, 'ann'));
    const view = await viewOf(headers);
    server.audited.length = 0;
    await ask(headers, 'POST', paths[0], bodyOf(view, visual));
    await ask(headers, 'POST', paths[1], bodyOf(view));
    expect(server.audited).toEqual([]);
    await ask(headers, 'POST', paths[0], bodyOf(view));
    const measured = { ...visual, measures: [{ name: 'n', expression: 'SUM(sales.id)' }] };
    await ask(headers, 'POST', paths[0], bodyOf(view, measured));
    const detail = { command: 'metric-preview', operator: expect.stringContaining('ann'), dashboard: 'x' };
    const entry = {
      kind: 'admin',
      clientId: 'LAX',
      user: 'ann',
      requestDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(server.audited).toEqual([expect.objectContaining({ ...entry, detail }), expect.objectContaining(entry)]);
    expect(JSON.stringify(server.audited)).not.toContain('SELECT');
    let isFull = false;
    const other = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, {
      auditFails: () => isFull,
    });
    const own = await other.as(personWith(['author']));
    const send = (path: string, body: string) => fetch(`${other.url}${path}`, { method: 'POST', headers: own, body });
    const opened = await send(
      '/studio/commands/view-open',
      JSON.stringify({ clientId: 'LAX', claims: { sub: 'ann' } }),
    );
    const { data } = (await opened.json()) as { data: { token: string } };
    isFull = true;
    expect((await send(paths[0], bodyOf(data.token))).status).toBe(500);
    expect(other.authored).toEqual([]);
    other.close();
  });

  test('ends at the service when a newer preview supersedes it in the page', async () => {
    const ended: AbortSignal[] = [];
    const other = await startStudioServer({ now: () => new Date(nowMs) }, null, operations, {
      answersNever: (signal) => ended.push(signal),
    });
    const own = await other.as(personWith(['author']));
    const opened = await fetch(`${other.url}/studio/commands/view-open`, {
      ...{ method: 'POST', headers: own },
      body: JSON.stringify({ clientId: 'LAX', claims: { sub: 'ann' } }),
    });
    const { data } = (await opened.json()) as { data: { token: string } };
    const superseded = new AbortController();
    const asked = fetch(`${other.url}${paths[0]}`, {
      ...{ method: 'POST', headers: own, body: bodyOf(data.token, visual), signal: superseded.signal },
    });
    await vi.waitFor(() => expect(ended).toHaveLength(1));
    expect(ended[0]?.aborted).toBe(false);
    superseded.abort();
    await expect(asked).rejects.toThrow();
    await vi.waitFor(() => expect(ended[0]?.aborted).toBe(true));
    other.close();
  });

  test('a metric of an author that is not valid is refused with the place of each fault', async () => {
    const headers = await server.as(personWith(['author']));
    const view = await viewOf(headers);
    const answer = await ask(headers, 'POST', paths[1], bodyOf(view, { ...visual, limit: 'ten', colour: 'red' }));
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('INVALID_REQUEST_BODY');
    expect(error.message).toContain('definition.limit');
    expect(error.message).toContain('colour');
  });
});
