/** The Express example of an opaque session: the host in front, the gateway behind it. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Express } from 'express';
import { expect, test, vi } from 'vitest';
import { createAskedSessions } from '../../src/gateway/authenticate/asked-session.js';
import { captureLog } from './harness.js';
import { listenTo } from './listen.js';

const folder = new URL('../../examples/opaque-session/', import.meta.url);
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

test('the example in Express names its user to the gateway, and to nobody else', async () => {
  vi.stubEnv('ANALYTICS_SESSION_SECRET', secret);
  vi.stubEnv('SESSION_SECRET', 'a secret of the example');
  const { app }: { app: Express } = await import(new URL('express.mjs', folder).href);
  const user = { id: 'ann', company: 'LAX', roles: ['analyst'], loggedInAt: 1_700_000_000 };
  app.post('/login', (request, response) => {
    Object.assign(Reflect.get(request, 'session'), { user });
    response.sendStatus(204);
  });
  const url = await listenTo(app);
  const login = await fetch(`${url}/login`, { method: 'POST' });
  const [cookie = ''] = (login.headers.getSetCookie()[0] ?? '').split(';');
  const { log, lines } = captureLog();
  // The example checks the time of the question by the clock of its machine.
  const clock = { now: () => new Date() };
  const ask = {
    ...{ url: `${url}/analytics-session`, cookies: ['app_session'], headers: [], secret },
    ...{ cacheSeconds: 0, staleSeconds: 0, timeoutMs: 30_000 },
  };
  const asked = [{ issuer: 'our-app', ask }];
  const { find } = createAskedSessions({ asked, allowedOrigins: ['https://app.example.com'], clock, log });
  const sessionWith = async (value: string) => {
    const headers = { cookie: value, origin: 'https://app.example.com' };
    return await find({ headers, headersDistinct: {} } as never);
  };
  expect(await sessionWith(cookie)).toMatchObject({
    userIdentifier: 'our-app|ann',
    issuedAtMs: 1_700_000_000_000,
    claims: { iss: 'our-app', sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
  });
  await expect(sessionWith('app_session=s%3Aunknown')).rejects.toMatchObject({ code: 'SESSION_INVALID' });
  expect((await fetch(ask.url, { headers: { cookie } })).status).toBe(403);
  expect(lines).toEqual([]);
});

test('each example has at most twenty lines', () => {
  const files = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(files).toHaveLength(5);
  for (const file of files)
    expect(readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n').length, file).toBeLessThanOrEqual(20);
});
