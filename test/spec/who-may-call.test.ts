/**
 * Who may call what, and with which answer, seen from outside: every path of the product with every kind of caller and an
 * input without fields. `who-may-call/` has the tables. A change of the code that means no change of rights leaves it as it is.
 */
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandRules, gatewayCommands, studioCommands } from '../../src/compose/commands.js';
import { type Person, studioRoles } from '../../src/model/person.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { operations } from '../../src/service/operations.js';
import type { Store } from '../../src/service/store/store.js';
import { changeTokenOf, createStudioSessions, studioCookie } from '../../src/studio/sessions.js';
import { personWith } from '../studio/studio-server.js';
import { type House, noon, openHouse } from './house.js';

const secret = 'a secret of a host that only this test knows';
const gatewayToken = 'a-token-of-the-gateway-that-only-this-test-knows';
const accessSettings = {
  ...{ isAllowUnderlyingData: true, isAllowMetricCreation: true, isAllowDashboardCreation: true },
  ...{ isAllowMetricLayoutChange: true, isAllowManageMetrics: true, isAllowMetricUpdate: true },
  ...{ isAllowMetricDeletion: true, isAllowCreateDashboardView: true, isAllowEmailReports: true },
};
const permissions = [
  ...['isEnableArchiveMetrics', 'isEnableManageMetrics', 'isEnableCreateDashboardView', 'isEnableMetricUpdation'],
  ...['isEnableCustomizeLayout', 'isEnableUnderlyingData', 'isEnableDownloadMetrics', 'isEnableCreateDashboard'],
];
/** Its users may do everything that a guest may. */
const policy = JSON.stringify({
  ...{ version: 1, dataApp: 'shop', workspace: 'shop', datamart: 'shop' },
  session: { claims: { org: 'string' }, tenant: 'claims.org', roles: '[]' },
  templates: { board: { name: 'Board', accessSettings } },
  rules: [
    {
      name: 'all',
      when: 'true',
      grant: { templates: ['board'], permissions, timezone: '"UTC"' },
    },
  ],
});
const acceptsEvents = { accept: 'application/json, text/event-stream' };
type Headers = Readonly<Record<string, string>>;
type Callers = Readonly<Record<string, Headers>>;
type Asked = { readonly method: string; readonly path: string; readonly body?: unknown };

const commands: readonly string[] = gatewayCommands.map(({ name }) => name);
/** Studio has more, which read the running process. */
const commandsOfStudio = [...new Set([...commands, ...Object.keys(commandRules)])];
const outside = [
  ...[
    'POST /embed-token',
    'POST /hooks/tenant-signed-up',
    'POST /hooks/tenant-suspended',
    'POST /hooks/tenant-deleted',
  ],
  ...['POST /hooks/tenant-resumed', 'POST /hooks/mail-bounced', 'GET /healthz', 'GET /readyz', 'GET /metrics'],
  ...['GET /openapi.json', 'GET /docs', 'POST /mcp'],
];
/** The last of them end the session. */
const ofStudio = [
  ...['GET /studio/logins', 'GET /studio/session', 'POST /studio/session'],
  ...['POST /studio/uploads', 'PUT /studio/uploads'],
  ...['DELETE /studio/session', 'DELETE /studio/sessions'],
];
const asAsked = (line: string): Asked => {
  const [method = '', path = ''] = line.split(' ');
  return { method, path };
};
const ofGateway = (name: string): Asked => ({ method: 'POST', path: `/gateway/admin/${name}` });
const asCommand = (name: string): Asked => ({ method: 'POST', path: `/studio/commands/${name}` });
const inStudio = ({ method, path }: Asked): Asked => ({ method, path: `/studio${path}` });
const ofInterface: readonly Asked[] = Object.values(operations).flatMap(({ bindings }) =>
  bindings.map(({ method, path }) => ({ method, path })),
);

const isOfGuest = (path: string): boolean => path.includes('/api/v2/guest/');
/** What ends sessions. */
const isEnd = ({ method, path }: Asked): boolean => method === 'DELETE' && path.startsWith('/studio/session');

const people = studioRoles.flatMap((role) => [
  { name: role as string, role, seesData: true, ends: [] as Headers[] },
  { name: `${role} without data`, role, seesData: false, ends: [] as Headers[] },
]);
const keys: Record<string, Headers> = {};
const pages: Record<string, Headers> = {};
let house: House;
let credentials: Callers;
let sessionOfHost: Headers;

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

const openStudio = async (store: Store): Promise<void> => {
  const sessions = createStudioSessions({
    store: store.studioSessions,
    clock: { now: () => noon },
    ids: { uuid: randomUUID },
    tokens: { create: createToken, hash: hashToken, isSame: isSameHash },
    times: { idleMinutes: 1e6, sessionHours: 1e4 },
  });
  const enter = async (person: Person): Promise<Headers> => {
    const { cookie } = await sessions.logIn(person);
    return { cookie: `${studioCookie}=${cookie}`, 'x-guestlist-change': changeTokenOf(cookie) };
  };
  for (const { name, role, seesData, ends } of people) {
    const person = personWith([role], seesData, name);
    pages[name] = await enter(person);
    keys[name] = bearer((await sessions.createKey(person, 30)).key);
    // The end of all sessions of a person ends those of the other tests.
    const leaving = personWith([role], seesData, `${name} who leaves`);
    ends.push(await enter(leaving), await enter(leaving));
  }
};

/** The ids of the guest's own dashboard; others are of nothing. */
const ids: Record<string, string> = { dashboardId: 'board--acme' };

/** A drawing takes seconds, so it is asked for with a fault. */
const bodyFor = (path: string): unknown => (/\/(?:pdf|png)$/.test(path) ? { unknown: true } : {});

const send = async ({ method, path, body = bodyFor(path) }: Asked, headers: Headers) => {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (isOfGuest(path) ? (ids[name] ?? 'x') : 'x'));
  const answer = await fetch(`${house.url()}${address}`, {
    ...{ method, headers: { 'content-type': 'application/json', ...headers } },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
};

beforeAll(async () => {
  house = await openHouse(
    '{ gateway: { policies: policy.yaml }, studio: { servesAssistants: true, savesPolicy: true } }',
    {
      policy,
      env: { GUESTLIST_HOST_JWT_SECRET: secret, GUESTLIST_GATEWAY_TOKEN: gatewayToken },
      prepare: openStudio,
    },
  );
  const seconds = Math.floor(noon.getTime() / 1000);
  const claims = { iss: 'host', sub: 'ann', org: 'acme' };
  sessionOfHost = bearer(jwt.sign({ ...claims, iat: seconds, exp: seconds + 3600 }, secret));
  const { text } = await send({ method: 'POST', path: '/embed-token' }, sessionOfHost);
  const guest = bearer(JSON.parse(text).token);
  const board = await send({ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}' }, guest);
  ids.metricId = JSON.parse(board.text).data.metrics[0].metricId;
  credentials = {
    nobody: {},
    'a session of the host': sessionOfHost,
    'a guest token': guest,
    'an API key': bearer(house.apiKey),
    'the service token': bearer(house.serviceToken),
    'the gateway token': bearer(gatewayToken),
  };
});
afterAll(() => house.close());

const answerTo = async (asked: Asked, headers: Headers): Promise<string> => {
  const { status, text } = await send(asked, headers);
  const code = /"code": ?"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? `${status}` : `${status} ${code}`;
};

/** The names as they are read: a role stands for its people with access to data and without. */
const listOf = (names: readonly string[], all: readonly string[]): string => {
  if (names.length === all.length) return 'all';
  const has = (name: string): boolean => names.includes(name);
  const words = names.flatMap((name) => {
    const role = name.replace(/ without data$/, '');
    if (!all.includes(`${role} without data`)) return [name];
    if (!has(role) || !has(`${role} without data`)) return [name === role ? `${role} with data` : name];
    return name === role ? [role] : [];
  });
  return words.join(', ');
};

/** The answers to one request, each with those who get it. */
const rowOf = async (asked: Asked, title: string, callers: Callers, answer = answerTo): Promise<string> => {
  const byAnswer = new Map<string, string[]>();
  const all = Object.entries(callers);
  const answers = await Promise.all(all.map(([, headers]) => answer(asked, headers)));
  for (const [at, [name]] of all.entries()) {
    const got = answers[at] ?? '';
    byAnswer.set(got, [...(byAnswer.get(got) ?? []), name]);
  }
  const lines = [...byAnswer].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [title, ...lines.map(([got, names]) => `  ${got}: ${listOf(names, Object.keys(callers))}`)].join('\n');
};

const rowsOf = async (all: readonly Asked[], callers: Callers): Promise<string> => {
  const rows: string[] = [];
  for (const asked of all) rows.push(await rowOf(asked, `${asked.method} ${asked.path}`, callers));
  return `${[...new Set(rows)].toSorted().join('\n')}\n`;
};

test('the gateway has the commands that are declared, and no others', async () => {
  const { text } = await send(ofGateway('none'), bearer(gatewayToken));
  const named = /There are: ([^"]+)\./.exec(text)?.[1]?.split(', ') ?? [];
  expect(named.toSorted()).toEqual(commands.toSorted());
});

test('every path answers each credential as the table says', async () => {
  const all = [...ofInterface, ...outside.map(asAsked), ...commands.map(ofGateway)];
  await expect(await rowsOf(all, credentials)).toMatchFileSnapshot('who-may-call/credentials.txt');
});

test('every path of Studio answers each role as the table says, with access to data and without', async () => {
  const all = [...ofInterface.map(inStudio), ...ofStudio.map(asAsked), ...commandsOfStudio.map(asCommand)];
  const lasting = all.filter((asked) => !isEnd(asked));
  const rows = await rowsOf(lasting, pages);
  const endings: string[] = [];
  for (const [at, asked] of all.filter(isEnd).entries()) {
    const own = Object.fromEntries(people.map(({ name, ends }) => [name, ends[at] ?? {}]));
    endings.push(await rowOf(asked, `${asked.method} ${asked.path}`, own));
  }
  await expect(`${rows}${endings.join('\n')}\n`).toMatchFileSnapshot('who-may-call/studio.txt');
});

test('a view as a user answers each role as the table says', async () => {
  const views: Record<string, Headers> = {};
  const opened = asAsked('POST /studio/commands/view-open');
  const claims = { sub: 'ann', org: 'acme' };
  for (const { name } of people) {
    const { status, text } = await send({ ...opened, body: { clientId: 'acme', claims } }, pages[name] ?? {});
    expect([name, status]).toEqual([name, 200]);
    views[name] = bearer(JSON.parse(text).data.token);
  }
  const all = ofInterface
    .filter(({ path }) => isOfGuest(path))
    .map(({ method, path }) => ({ method, path: `/studio/as${path}` }));
  await expect(await rowsOf(all, views)).toMatchFileSnapshot('who-may-call/views.txt');
});

test('every tool of assistants answers each role as the table says', async () => {
  const rpc = (method: string, params: object): Asked => ({
    ...{ method: 'POST', path: '/studio/mcp' },
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
  const offered = new Map<string, string[]>();
  for (const [name, headers] of Object.entries(keys)) {
    const { text } = await send(rpc('tools/list', {}), { ...headers, ...acceptsEvents });
    for (const tool of JSON.parse(text).result.tools) {
      offered.set(tool.name, [...(offered.get(tool.name) ?? []), name]);
    }
  }
  const answer = async (asked: Asked, headers: Headers): Promise<string> => {
    const { status, text } = await send(asked, { ...headers, ...acceptsEvents });
    const { result, error } = JSON.parse(text);
    if (error !== undefined) return `${status} ${error.code}`;
    return `${status} ${result.isError === true ? (/\b[A-Z]+(?:_[A-Z]+)+\b/.exec(text)?.[0] ?? 'refused') : 'answered'}`;
  };
  const rows: string[] = [];
  for (const [tool, names] of [...offered].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    rows.push(
      await rowOf(
        rpc('tools/call', { name: tool, arguments: {} }),
        `${tool}: ${listOf(names, Object.keys(keys))}`,
        keys,
        answer,
      ),
    );
  }
  await expect(`${rows.join('\n')}\n`).toMatchFileSnapshot('who-may-call/tools.txt');
});

/** Runs a command as somebody who may do everything, and compares what came with what the command declares. */
const answerOf = async (name: string, body: object = {}) => {
  const declared = [...gatewayCommands, ...studioCommands].find((one) => one.name === name);
  const isOfGateway = commands.includes(name);
  const headers = isOfGateway ? bearer(gatewayToken) : (pages.owner ?? {});
  const { status, text } = await send({ ...(isOfGateway ? ofGateway : asCommand)(name), body }, headers);
  expect([name, status], text).toEqual([name, 200]);
  const { data } = JSON.parse(text);
  // A field that is not declared is left out of what is parsed.
  expect(declared?.output.parse(data), name).toEqual(data);
  return data;
};

const rolledOut = async (id: string, ends: string): Promise<void> => {
  for (;;) {
    const { state, isAtWork } = await answerOf('rollout-status', { id });
    if (!isAtWork) return expect(state).toBe(ends);
  }
};

// Schedules and mails need a mail server: test/studio has these.
const untried = ['schedule-pause', 'schedule-resume', 'report-preview'];

test('every command answers what it declares, and nothing else', async () => {
  const tried = new Set(untried);
  const run = (name: string, body?: object) => {
    tried.add(name);
    return answerOf(name, body);
  };
  const claims = { sub: 'ann', org: 'acme' };
  const { text } = await send({ method: 'POST', path: '/embed-token' }, sessionOfHost);
  expect(JSON.parse(text).token).toBeTypeOf('string');
  await run('tenants-provision', { clientIds: ['globex', 'nobody'], isNew: true, templates: ['board'] });
  await run('tenants-list', { usage: true });
  await run('tenants-names', { clientIds: ['acme'] });
  await run('viewers-list', { template: 'board' });
  for (const name of ['tenant-suspend', 'tenant-resume']) await run(name, { clientId: 'globex' });

  const { digest } = await run('policy-read');
  for (const tested of [policy, '{}']) await run('policy-check', { text: tested });
  const viewers = [{ role: 'head', restriction: { filter: 'Region', hidden: [] } }];
  await run('policy-access', { template: 'board', name: 'Board', workspace: 'shop', datamart: 'shop', viewers });
  await run('policy-save', { text: policy, digest });
  for (const name of ['policy-reload', 'policy-words', 'embed-facts', 'policy-names']) await run(name);
  await run('policy-names', { asked: { workspace: 'none', templates: ['board'], embeds: ['e'], datamart: 'shop' } });

  const { version } = await run('template-record', { template: 'board' });
  await run('template-version', { template: 'board', version });
  await run('template-check', { template: 'board' });
  await run('cards-check', { template: 'board', viewer: { clientId: 'acme', claims: { sub: 'kim', org: 'acme' } } });
  await run('rollout-plan', { template: 'board', showsValues: true });
  const { id } = await run('rollout-apply', { template: 'board', canary: ['acme'], isPausing: true });
  await rolledOut(id, 'paused');
  await run('rollout-resume', { id });
  await rolledOut(id, 'finished');
  await run('rollout-rollback', { id });
  await rolledOut(id, 'rolled-back');
  for (const [name, body] of [
    ['template-history', { template: 'board' }],
    ['rollout-status', { id }],
  ] as const)
    await run(name, body);
  await run('rollout-list');

  const { token: view } = await run('view-open', { clientId: 'acme', claims });
  const measures = [{ name: 'Sales', aggregate: 'COUNT' }];
  const definition = { kind: 'visual', chart: { type: 'table' }, from: { schemaName: 'main', tableName: 'sales' } };
  const authored = { view, dashboardId: 'board--acme', definition: { ...definition, dimensions: [], measures } };
  for (const name of ['metric-statement', 'metric-to-sql', 'metric-preview']) await run(name, authored);
  const { slowest } = await run('list-slow-queries');
  await run('answer-history');
  await run('read-plan', { id: slowest[0].id });
  for (const name of ['read-system', 'signing-keys', 'schedules-list', 'uploads-list']) await run(name);
  await run('studio-sessions-list');
  await run('studio-sessions-end', { issuer: 'none', subject: 'nobody' });
  await run('search', { q: 'a' });
  for (const dataApp of ['shop', null]) {
    await run('key-create', { dataApp, name: 'another' });
    await run('key-rotate', { dataApp, name: 'another', graceSeconds: 0 });
  }

  await run('studio-link');
  await run('operator-key-create', { name: 'helper', roles: ['auditor'] });
  await run('operator-key-list');
  await run('operator-key-end', { name: 'helper' });

  const { id: held } = await run('hold-add', { clientId: 'acme', reason: 'a test' });
  await run('hold-list');
  await run('hold-remove', { id: held, reason: 'a test' });

  await run('tenant-delete', { clientId: 'globex' });
  await run('erasure-report', { clientId: 'globex' });
  for (const name of ['revoke', 'unrevoke']) await run(name, { by: 'tenant', tenant: 'acme', reason: 'a test' });
  for (const name of ['audit-verify', 'audit-archive-keys']) await run(name);
  await run('audit-search', { words: ['mint'] });
  const { lines } = await run('audit-export', { kind: 'mint', names: true });
  const { requestId } = JSON.parse(lines[0]);
  await run('request-explanation', { requestId });
  for (const asked of [{ claims }, { request: requestId }]) await run('policy-explain', asked);

  expect([...tried].toSorted()).toEqual([...gatewayCommands, ...studioCommands].map(({ name }) => name).toSorted());
});
