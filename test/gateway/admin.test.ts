import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../../src/gateway/authenticate/limits.js';
import { adminCommand, declareCommand, operatorsAlone } from '../../src/gateway/common/admin-command.js';
import { createAdmin } from '../../src/gateway/http/admin.js';
import { captureLog, gatewayToken, startGateway } from './harness.js';
import { listenTo } from './listen.js';

type Answer = { data: unknown; error: { code: string; message: string; status: number } | null };

const start = async (token: string | null = gatewayToken) => {
  const { log, lines } = captureLog();
  const commands = [
    adminCommand(
      declareCommand('double', z.strictObject({ n: z.number() }), z.object({ doubled: z.number() }), operatorsAlone),
      async ({ n }) => ({ doubled: 2 * n }),
    ),
    adminCommand(declareCommand('note', z.looseObject({}), z.object({}), operatorsAlone), async () => ({})),
    adminCommand(
      declareCommand('who', z.looseObject({}), z.object({ name: z.string().nullable() }), operatorsAlone),
      async (_, { name }) => ({ name }),
    ),
    adminCommand(declareCommand('break', z.looseObject({}), z.object({}), operatorsAlone), async () => {
      throw new Error('the secret inside');
    }),
  ];
  const admin = createAdmin({ commands, gatewayToken: token, guard: noLimits.guards.gatewayToken, log });
  const url = await listenTo((request, response) => void admin(request, response, (request.url ?? '').slice(1)));
  const call = async (command: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/${command}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      ...init,
    });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  return { call, lines };
};

describe('an admin command', () => {
  it('runs only with the gateway token, and its name is logged', async () => {
    const { call, lines } = await start();
    expect(await call('double', { body: '{"n": 4}' })).toEqual({
      status: 200,
      body: { data: { doubled: 8 }, error: null },
    });
    expect(lines).toMatchObject([{ command: 'double', code: 'OK' }]);
    for (const authorization of ['', 'Bearer ', 'Bearer wrong', `Basic ${gatewayToken}`]) {
      const { status, body } = await call('double', { headers: { authorization }, body: '{"n": 4}' });
      expect([status, body.error?.code], authorization).toEqual([401, 'AUTHENTICATION_ERROR']);
    }
  });

  it('an admin command with an input of thousands of levels is refused before it is parsed', async () => {
    const { call } = await start();
    const { status, body } = await call('note', { body: `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}` });
    expect([status, body.error?.message]).toEqual([400, 'body: nested deeper than 100 levels.']);
  });

  it('an admin command with very many values is refused by their number', async () => {
    const { call } = await start();
    const { status, body } = await call('note', { body: `{"a":[${'1,'.repeat(200_000)}1]}` });
    expect([status, body.error?.message]).toEqual([400, 'body: more than 131072 values.']);
  });

  it('tells its function who runs it: the name that the operator gave, or digits that tell tokens apart', async () => {
    const { call } = await start();
    const who = async (headers: Record<string, string>) =>
      (await call('who', { body: '{}', headers: { authorization: `Bearer ${gatewayToken}`, ...headers } })).body.data;
    expect(await who({ 'x-guestlist-operator': 'kim@desk' })).toEqual({ name: 'gateway-token kim@desk' });
    expect(await who({})).toEqual({ name: expect.stringMatching(/^gateway-token [0-9a-f]{8}$/) });
  });

  it('is logged with its caller and its subject, without secrets', async () => {
    const { call, lines } = await start();
    const input = { by: 'user', subject: 'ana', tenant: 'LAX', claims: { region: 'CA' }, password: 'hidden-one' };
    const authorization = `Bearer ${gatewayToken}`;
    await call('note', { body: JSON.stringify(input), headers: { authorization, 'x-guestlist-operator': 'kim@desk' } });
    const credential = expect.stringMatching(/^gateway-token [0-9a-f]{8}$/);
    const target = { by: 'user', subject: 'ana', tenant: 'LAX' };
    expect(lines).toMatchObject([{ command: 'note', code: 'OK', operator: { credential, name: 'kim@desk' }, target }]);
    expect(Object.keys(Object(lines[0]).target)).toEqual(['by', 'tenant', 'subject']);
    await call('break', {
      body: '{"clientId":"SFO"}',
      headers: { authorization, 'x-guestlist-operator': 'a b\u00e9' },
    });
    expect(lines[1]).toMatchObject({ command: 'break', operator: { credential }, target: { clientId: 'SFO' } });
    await call('note', { body: JSON.stringify(input), headers: { authorization: 'Bearer wrong-one' } });
    expect(lines[2]).toMatchObject({ command: 'note', code: 'AUTHENTICATION_ERROR' });
    const text = JSON.stringify(lines);
    for (const secret of [gatewayToken, 'wrong-one', 'hidden-one', 'CA']) expect(text).not.toContain(`"${secret}"`);
  });

  it('runs with either of two gateway tokens while one replaces the other, and the log tells them apart', async () => {
    const next = 'n'.repeat(40);
    const { call, lines } = await start(`${gatewayToken.padEnd(32, '-')} ${next}`);
    const statusOf = async (token: string) =>
      (await call('double', { headers: { authorization: `Bearer ${token}` }, body: '{"n": 4}' })).status;
    expect(await statusOf(gatewayToken.padEnd(32, '-'))).toBe(200);
    expect(await statusOf(next)).toBe(200);
    expect(await statusOf(`${gatewayToken.padEnd(32, '-')} ${next}`)).toBe(401);
    const [first, second] = lines.map(({ operator }) => operator);
    expect(first).not.toEqual(second);
  });

  it('is refused for every caller if no gateway token is configured', async () => {
    const { call } = await start(null);
    expect((await call('double')).status).toBe(401);
    expect((await call('double', { headers: { authorization: 'Bearer null' } })).status).toBe(401);
  });

  it('reports a wrong input, an unknown name and a wrong method', async () => {
    const { call } = await start();
    expect((await call('double', { body: '{"n": "4", "m": 1}' })).body.error).toMatchObject({
      code: 'INVALID_REQUEST_BODY',
      message: expect.stringContaining('n: '),
    });
    expect((await call('double', { body: '{' })).body.error?.code).toBe('INVALID_REQUEST_BODY');
    expect((await call('nothing')).body.error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    expect((await call('double', { method: 'GET' })).body.error).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      status: 405,
    });
    expect((await call('double', { body: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it('an admin command that fails writes the cause only to the log', async () => {
    const { call, lines } = await start();
    const { status, body } = await call('break');
    expect([status, body.error?.code, JSON.stringify(body)]).toEqual([
      500,
      'INTERNAL_SERVER_ERROR',
      expect.not.stringContaining('secret inside'),
    ]);
    expect(lines).toMatchObject([{ command: 'break', err: { message: 'the secret inside' } }]);
  });
});

it("is served under the gateway's own path", async () => {
  const { url } = await startGateway();
  const response = await fetch(`${url}/gateway/admin/nothing`, { method: 'POST' });
  expect(response.status).toBe(401);
});

it('refuses text that no database can store, in every command and at every depth', async () => {
  const { url } = await startGateway();
  for (const text of ['\0', '\ud800']) await expectRefused(url, text);
});

const expectRefused = async (url: string, text: string) => {
  const inputs: Record<string, object> = {
    revoke: { by: 'user', subject: text, issuer: null, reason: 'r' },
    unrevoke: { by: 'tenant', tenant: text, reason: 'r' },
    'tenant-delete': { clientId: `a${text}` },
    'erasure-report': { clientId: text },
    'tenants-list': { after: Buffer.from(JSON.stringify(['\0', 'x'])).toString('base64url') },
    'tenants-provision': { templates: [text] },
    'audit-export': { tenant: text },
    'request-explanation': { requestId: text },
    'policy-explain': { claims: { [text]: [{}] } },
    'rollout-apply': { template: 'delays', label: text },
  };
  for (const [command, input] of Object.entries(inputs)) {
    const response = await fetch(`${url}/gateway/admin/${command}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      body: JSON.stringify(input),
    });
    const { error } = (await response.json()) as Answer;
    expect([command, response.status, error?.code]).toEqual([command, 400, 'INVALID_REQUEST_BODY']);
  }
};
