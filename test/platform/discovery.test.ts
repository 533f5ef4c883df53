/** Keys that the issuer's own OpenID document leads to, against a certified provider on this machine. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { keysAddressFault } from '../../src/platform/addresses/keys-address.js';
import { createJwks } from '../../src/platform/calls/jwks.js';
import { verifyJwt } from '../../src/platform/keys/jwt.js';
import { captureLog, createMovableClock } from '../gateway/harness.js';
import { edPair, jwkOf, type Pair, rsaPair, signWith, startJwks } from '../gateway/signers.js';

let rsa: Pair;
let ed: Pair;
beforeAll(() => {
  [rsa, ed] = [rsaPair(), edPair()];
});

const privateJwk = ({ privateKey }: Pair, names: object) => ({ ...privateKey.export({ format: 'jwk' }), ...names });

/** An issuer at a port of this machine. `instead` answers in place of the provider. */
const start = async () => {
  const state: { instead?: RequestListener | undefined; asked: string[] } = { asked: [] };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = [
    privateJwk(rsa, { kid: 'r1', use: 'sig', alg: 'RS256' }),
    privateJwk(ed, { kid: 'd1', use: 'sig', alg: 'EdDSA' }),
  ];
  const provider = new Provider(issuer, { jwks: { keys } }).callback();
  server.on('request', (request, response) => {
    state.asked.push(request.url ?? '');
    if (state.instead === undefined) void provider(request, response);
    else state.instead(request, response);
  });
  const clock = createMovableClock();
  const { log, lines } = captureLog();
  const jwks = createJwks({ url: issuer, isIssuer: true, clock, log });
  const issuers = [{ issuer, algorithms: ['RS256', 'EdDSA'] as const, clockToleranceSeconds: 0, keys: jwks }];
  const outcome = (token: string): Promise<string> =>
    verifyJwt(token, issuers, Math.floor(clock.now().getTime() / 1000)).then(
      () => 'verified',
      (error) => error.reason ?? String(error),
    );
  const by = (pair: Pair, alg: string, kid: string) => signWith(pair, { alg, kid }, { sub: 'ann', iss: issuer });
  /** The document that the issuer answers with in place of the provider's. */
  const document =
    (more: object): RequestListener =>
    (_, response) =>
      void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth`, ...more }));
  return { state, issuer, clock, lines, outcome, by, document };
};

describe('an issuer that is discovered', () => {
  it('verifies sessions of its keys, of RSA and of Ed25519, and reads its document once', async () => {
    const { state, outcome, by } = await start();
    expect(await outcome(by(rsa, 'RS256', 'r1'))).toBe('verified');
    expect(await outcome(by(ed, 'EdDSA', 'd1'))).toBe('verified');
    expect(state.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
    expect(await outcome(by(rsaPair(), 'RS256', 'r1'))).toBe('not-verified');
    expect(await outcome(by(edPair(), 'EdDSA', 'd1'))).toBe('not-verified');
  });

  it('knows a rotated key at its first token, also where the document leads elsewhere since', async () => {
    const { state, issuer, outcome, by, document } = await start();
    expect(await outcome(by(rsa, 'RS256', 'r1'))).toBe('verified');
    const newer = rsaPair();
    state.instead = (request, response) =>
      request.url === '/moved'
        ? void response.end(JSON.stringify({ keys: [jwkOf(newer, { kid: 'r2' })] }))
        : document({ jwks_uri: `${issuer}/moved` })(request, response);
    expect(await outcome(by(newer, 'RS256', 'r2'))).toBe('verified');
    expect(await outcome(by(rsa, 'RS256', 'r1'))).toBe('unknown-key');
  });

  const faulty: Record<string, [more: object, cause: RegExp]> = {
    'that names another issuer': [
      { issuer: 'https://login.example', jwks_uri: 'https://login.example/jwks' },
      /issuer/,
    ],
    'without jwks_uri': [{}, /names no jwks_uri/],
    'whose jwks_uri is no URL': [{ jwks_uri: 'keys' }, /is no URL/],
    'whose keys come over plain http': [{ jwks_uri: 'http://login.example/jwks' }, /must begin with https/],
    'whose keys are at another host of the own network': [{ jwks_uri: 'https://localhost/jwks' }, /may not be reached/],
  };
  it.each(Object.keys(faulty))('by a document %s has no keys; the log says why', async (name) => {
    const { state, outcome, by, document, lines, clock } = await start();
    const [more, cause] = faulty[name] ?? [{}, /never/];
    state.instead = document(more);
    expect(await outcome(by(rsa, 'RS256', 'r1'))).toBe('keys-unavailable');
    expect(JSON.stringify(lines.filter(({ event }) => event === 'jwks.failed'))).toMatch(cause);
    state.instead = undefined;
    clock.advance(60_000);
    expect(await outcome(by(rsa, 'RS256', 'r1'))).toBe('verified');
  });

  it('a public issuer cannot lead to a server of this machine', () => {
    const own = 'http://127.0.0.1:9000/keys';
    expect(keysAddressFault(own, false)).toMatch(/must begin with https/);
    expect([keysAddressFault(own, true), keysAddressFault('https://keys.example', false)]).toEqual([null, null]);
  });

  it('never takes keys from another place than its document names', async () => {
    const { outcome, by } = await start();
    const thief = rsaPair();
    const stolen = await startJwks([jwkOf(thief, { kid: 'r1' })]);
    const token = signWith(thief, { alg: 'RS256', kid: 'r1', jku: stolen.url }, { sub: 'ann', iss: stolen.url });
    expect(await outcome(token)).toBe('unknown-issuer');
    expect(await outcome(by(thief, 'RS256', 'r1'))).toBe('not-verified');
    expect(stolen.state.hits).toBe(0);
  });
});
