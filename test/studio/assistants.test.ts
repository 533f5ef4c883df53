/** `/studio/mcp`: an operator's assistant has the tools of its key's roles, and no others exist for it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolsOf as toolsOfAll } from '../../src/assistants/mcp/tools.js';
import { commandRules } from '../../src/compose/commands.js';
import type { Person, StudioRole } from '../../src/model/person.js';
import { operations } from '../../src/service/operations.js';
import { operatorKeyCommands } from '../../src/studio/operator-keys.js';
import { studioCookie } from '../../src/studio/sessions.js';
import { personWith, type StudioServer, startStudioServer } from './studio-server.js';

let now = new Date('2026-03-01T08:00:00Z');
let server: StudioServer;
beforeAll(async () => {
  server = await startStudioServer({ now: () => now });
});
afterAll(() => server.close());

const roles: readonly Exclude<StudioRole, 'owner'>[] = ['author', 'publisher', 'support', 'auditor'];

const assistantOf = (name: string, own: Person['roles']): Person => ({
  ...personWith(own, false, name),
  issuer: 'key',
});

const keyFor = async (own: Person['roles'], days = 30): Promise<string> =>
  (await server.sessions.createKey(assistantOf(`with-${own.join('-')}`, own), days)).key;

const connect = async (key: string): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/studio/mcp`), { requestInit }));
  return client;
};

const toolsOf = async (client: Client) => (await client.listTools()).tools;

const post = (headers: Readonly<Record<string, string>>) =>
  fetch(`${server.url}/studio/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });

/** The name of the operation or command behind each tool: the tool's name without underscores. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

test('a key has the tools of its roles alone: those that Studio offers the same roles', async () => {
  for (const role of roles) {
    const client = await connect(await keyFor([role]));
    const tools = await toolsOf(client);
    expect(tools.length).toBeGreaterThan(3);
    for (const { name } of tools) {
      const command = Object.keys(commandRules).find((one) => plain(one) === plain(name));
      const operation = Object.values(operations).find((one) => plain(one.name) === plain(name));
      const allowed = command === undefined ? operation?.roles : commandRules[command]?.roles;
      expect(allowed, name).toContain(role);
    }
    await client.close();
  }
});

test('an auditor changes nothing, and no tool makes a credential, erases a tenant, writes a policy or reads rows', async () => {
  const client = await connect(await keyFor(['auditor']));
  const audited = await toolsOf(client);
  expect(audited.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  await client.close();
  const every = await connect(await keyFor(roles));
  const names = (await toolsOf(every)).map(({ name }) => name);
  expect(names.filter((name) => /key|token/.test(name) && !/^list_/.test(name))).toEqual([]);
  expect(names).not.toContain('tenant_delete');
  expect(names).not.toContain('policy_save');
  expect(names.filter((name) => /query|underlying|preview|csv|xlsx/.test(name))).toEqual([]);
  await every.close();
});

test('a tool that the role lacks is answered like one that nobody has, and nothing is run', async () => {
  const client = await connect(await keyFor(['author']));
  const before = server.commands.length;
  const ofNobody = await client.callTool({ name: 'no_such_tool', arguments: {} }).catch(String);
  const ofSupport = await client.callTool({ name: 'tenant_suspend', arguments: { clientId: 'acme' } }).catch(String);
  expect(ofSupport).toEqual(ofNobody);
  expect(server.commands.length).toBe(before);
  await client.close();
});

test('a command runs with the name of the key in the audit', async () => {
  const client = await connect(await keyFor(['support']));
  const answer = await client.callTool({ name: 'tenant_suspend', arguments: { clientId: 'acme' } });
  expect(answer.isError).not.toBe(true);
  expect(server.commands.at(-1)).toBe('tenant-suspend');
  expect(server.audited.at(-1)?.detail).toMatchObject({ command: 'tenant-suspend', operator: 'key with-support' });
  await client.close();
});

test('an operation is called as the organization, with the roles of the key', async () => {
  const client = await connect(await keyFor(['auditor']));
  const answer = await client.callTool({ name: 'list_datamarts', arguments: {} });
  expect(answer.isError).not.toBe(true);
  expect(server.dispatched.at(-1)?.caller).toMatchObject({ person: { issuer: 'key', roles: ['auditor'] } });
  const wrong = await client.callTool({ name: 'list_datamarts', arguments: { clientId: 'acme', more: 1 } });
  expect(wrong.isError).toBe(true);
  expect(JSON.stringify(wrong.content)).toContain('INVALID_REQUEST_BODY');
  await client.close();
});

test('a narrower input needs its own roles', async () => {
  const client = await connect(await keyFor(['author']));
  const answer = await client.callTool({ name: 'policy_explain', arguments: { request: 'r' } });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toContain('UNAUTHORIZED');
  await client.close();
});

describe('credentials', () => {
  test('no key, an unknown one, the cookie of a person, and a key as cookie are refused', async () => {
    const { cookie } = await server.sessions.logIn(personWith(['owner']));
    const key = await keyFor(['auditor']);
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: 'Bearer nonsense' })).status).toBe(401);
    expect((await post({ authorization: `Bearer ${cookie}` })).status).toBe(401);
    expect((await post({ cookie: `${studioCookie}=${cookie}` })).status).toBe(401);
    const asCookie = await fetch(`${server.url}/studio/session`, { headers: { cookie: `${studioCookie}=${key}` } });
    expect(asCookie.status).toBe(401);
    expect((await post({ authorization: `Bearer ${key}` })).status).toBe(200);
  });

  test('a key lives until its end, used or not, and until it is ended', async () => {
    const key = await keyFor(['auditor'], 3);
    const start = now;
    now = new Date(start.getTime() + 2 * 86_400_000);
    expect((await post({ authorization: `Bearer ${key}` })).status).toBe(200);
    now = new Date(start.getTime() + 3 * 86_400_000);
    expect((await post({ authorization: `Bearer ${key}` })).status).toBe(401);
    now = start;
    await server.sessions.endAllOf({ issuer: 'key', subject: 'with-auditor' });
    expect((await post({ authorization: `Bearer ${key}` })).status).toBe(401);
  });

  test('a page of another origin is refused', async () => {
    const key = await keyFor(['auditor']);
    expect((await post({ authorization: `Bearer ${key}`, origin: 'https://elsewhere.example' })).status).toBe(403);
  });

  test('the command line makes keys for every role but owner, with a name that is free', async () => {
    const [create, list, end] = operatorKeyCommands(server.sessions);
    const made = await create?.run({ name: 'night-watch', roles: ['support', 'auditor'], days: 7 });
    expect(made).toMatchObject({ name: 'night-watch', roles: ['support', 'auditor'] });
    await expect(create?.run({ name: 'night-watch', roles: ['auditor'] })).rejects.toMatchObject({
      code: 'INVALID_REQUEST_BODY',
    });
    await expect(create?.run({ name: 'mine', roles: ['owner'] })).rejects.toMatchObject({
      code: 'INVALID_REQUEST_BODY',
    });
    expect(JSON.stringify(await list?.run({}))).toContain('night-watch');
    expect(JSON.stringify(await list?.run({}))).not.toContain((made as { key: string }).key);
    expect(await end?.run({ name: 'night-watch' })).toMatchObject({ ended: 1 });
    await expect(end?.run({ name: 'night-watch' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('slow queries and the state of the system are read by the roles that read them in Studio', async () => {
  const names = async (role: (typeof roles)[number]) => {
    const client = await connect(await keyFor([role]));
    const found = (await toolsOf(client)).map(({ name }) => name).filter((name) => /system|quer|plan/.test(name));
    return { client, found: found.filter((name) => ['read_system', 'list_slow_queries', 'read_plan'].includes(name)) };
  };
  const use = async (client: Client, name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { content } = await client.callTool({ name, arguments: given });
    return JSON.stringify(content);
  };
  const [author, support, auditor] = [await names('author'), await names('support'), await names('auditor')];
  expect(author.found).toEqual(['list_slow_queries']);
  expect(support.found).toEqual(['read_system', 'list_slow_queries']);
  expect(auditor.found).toEqual(['read_system', 'list_slow_queries']);
  expect(await use(support.client, 'read_system')).toContain('1.2.3');
  // The text of a query is a definition, which support may not read.
  expect(await use(support.client, 'list_slow_queries')).not.toContain('sql');
  expect(await use(auditor.client, 'list_slow_queries')).toContain('sql');
  for (const { client } of [author, support, auditor]) await client.close();
});

test('each tool of an operation only reads, and takes an object', () => {
  const all = toolsOfAll(Object.values(operations).filter(({ roles }) => roles !== undefined));
  expect(all.length).toBeGreaterThan(10);
  for (const { reads, inputSchema } of all)
    expect({ reads, type: inputSchema.type }).toEqual({ reads: true, type: 'object' });
});
