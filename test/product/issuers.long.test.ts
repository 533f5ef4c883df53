/** The built gateway with issuers from its own configuration file, in front of a separate service. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScriptedService } from '../gateway/scripted-service.js';
import { ecPair, hmacWith, jwkOf, pemOf, rsaPair, signWith, startJwks } from '../gateway/signers.js';
import { type EmbedToken, type Failure, manager, request } from './guest.js';
import { startProduct } from './product.js';

const policies = new URL('../../config/policies/flights.yaml', import.meta.url).pathname;
const publicOrigin = 'https://numbers.example.com';

const claims = (iss: string) => {
  const now = Math.floor(Date.now() / 1000);
  return { ...manager('LAX'), iss, iat: now, exp: now + 600 };
};

test('sessions of three issuers, by file, by URL and by variable; the cookie from its own origin alone', async () => {
  const [rsa, ec] = [rsaPair(), ecPair()];
  const published = await startJwks([jwkOf(ec, { kid: 'e1' })]);
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-issuers-'));
  await writeFile(join(folder, 'login.pem'), pemOf(rsa));
  const issuers = [
    { issuer: 'by-file', algorithms: ['RS256'], publicKeyFile: './login.pem' },
    { issuer: 'by-url', algorithms: ['ES256'], jwksUrl: published.url },
    { issuer: 'by-variable', algorithms: ['HS256'], secretVariable: 'LOGIN_SECRET' },
  ];
  const file = join(folder, 'guestlist.yaml');
  await writeFile(
    file,
    JSON.stringify({ gateway: { policies, publicOrigin, session: { cookie: 'host_session', issuers } } }),
  );
  const secret = 'a secret of the host, long enough';
  const service = await startScriptedService();
  const gateway = await startProduct({
    args: ['--only', 'gateway'],
    env: {
      GUESTLIST_CONFIG: file,
      LOGIN_SECRET: secret,
      GUESTLIST_SERVICE_URL: service.url,
      GUESTLIST_API_KEY: 'the-api-key',
    },
  });
  const ask = (headers: Record<string, string>) =>
    request<EmbedToken & Failure>(`${gateway.url}/embed-token`, { method: 'POST', headers });
  const bearer = (token: string) => ask({ authorization: `Bearer ${token}` });
  try {
    const byFile = signWith(rsa, { alg: 'RS256' }, claims('by-file'));
    const byUrl = signWith(ec, { alg: 'ES256', kid: 'e1' }, claims('by-url'));
    for (const token of [byFile, byUrl, hmacWith(secret, { alg: 'HS256' }, claims('by-variable'))]) {
      const { status, body } = await bearer(token);
      expect([status, body.embeds?.map(({ id }) => id)]).toEqual([200, ['delays--LAX', 'routes--LAX']]);
    }
    for (const token of [
      hmacWith(pemOf(rsa), { alg: 'HS256' }, claims('by-file')),
      signWith(rsa, { alg: 'RS256' }, claims('by-url')),
      signWith(ec, { alg: 'ES256', kid: 'e2' }, claims('by-url')),
    ]) {
      expect(await bearer(token)).toMatchObject({ status: 401, body: { error: { code: 'SESSION_INVALID' } } });
    }
    const cookie = `host_session=${byUrl}`;
    expect((await ask({ cookie, origin: publicOrigin })).status).toBe(200);
    expect((await ask({ cookie, origin: gateway.url })).status).toBe(401);
    expect((await ask({ cookie })).status).toBe(401);
    expect(gateway.output()).not.toMatch(/Warning/);
    for (const kept of [byFile, byUrl, secret]) expect(gateway.output()).not.toContain(kept);
  } finally {
    await gateway.stop();
    await Promise.all([gateway.remove(), rm(folder, { recursive: true })]);
  }
});
