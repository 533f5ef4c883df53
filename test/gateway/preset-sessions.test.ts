/**
 * Sessions of each preset, signed with real keys, against a stand-in for the provider that publishes its document and its
 * keys: from the lines of a configuration to the tenant of the guest token. Wrong ones are refused in each way.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createIssuers } from '../../src/compose/session-issuers.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { loadPreset, type Preset, type PresetName, presetNames } from '../../src/platform/config/presets.js';
import type { JwtAlgorithm } from '../../src/platform/keys/jwt-keys.js';
import { captureLog, createMovableClock, startGateway, startSeconds } from './harness.js';
import { basePolicy, policyOf } from './policies.js';
import { ecPair, edPair, hmacWith, jwkOf, type Pair, pemOf, rsaPair, signWith } from './signers.js';

let folder: string;
let pairs: Readonly<Record<string, Pair>>;
let thieves: typeof pairs;
const onePairEach = () => ({ RS256: rsaPair(), ES256: ecPair(), ES384: ecPair('P-384'), EdDSA: edPair() });
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guestlist-presets-'));
  [pairs, thieves] = [onePairEach(), onePairEach()];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pairOf = (all: typeof pairs, algorithm: JwtAlgorithm): Pair => {
  const pair = all[algorithm];
  if (pair === undefined) throw new Error(`the test has no key for ${algorithm}`);
  return pair;
};

/** The provider: its OpenID document, and its keys at every other address. */
const startProvider = async (): Promise<string> => {
  const keys = Object.entries(pairs).map(([alg, pair]) => jwkOf(pair, { kid: alg, alg }));
  const server = createServer((request, response) => {
    const isDocument = request.url === '/.well-known/openid-configuration';
    const document = { issuer: url, jwks_uri: `${url}/keys`, authorization_endpoint: `${url}/authorize` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(isDocument ? document : { keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
};

/** The lines that a user writes into the configuration. The addresses are those of the stand-in. */
const entryOf = (name: PresetName, { issuer: { discover, jwksUrl = '', audience } }: Preset, url: string) => ({
  preset: name,
  issuer: url,
  ...(audience === 'required' ? { audience: 'guestlist' } : {}),
  ...(discover || !jwksUrl.replace('{iss}', '').includes('{') ? {} : { jwksUrl: `${url}/keys-of-the-customer` }),
});

const start = async (name: PresetName) => {
  const preset = loadPreset(name);
  const url = await startProvider();
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, JSON.stringify({ gateway: { session: { issuers: [entryOf(name, preset, url)] } } }));
  const env = { GUESTLIST_CONFIG: file, GUESTLIST_API_KEY: 'key' };
  const config = loadConfig(env, file, { runsGateway: true, runsService: true });
  const clock = createMovableClock();
  const { log } = captureLog();
  const issuers = createIssuers(config, { demoJwtSecret: '' }, { clock, log });
  const policy = policyOf({ session: { preset: name }, rules: basePolicy.rules });
  const gateway = await startGateway({ policy, issuers, clock });
  const [algorithm = 'RS256'] = preset.issuer.algorithms;
  const aud = preset.issuer.audience === 'required' ? 'guestlist' : undefined;
  const token = (claims: object, header: object = {}, pair = pairOf(pairs, algorithm)) =>
    signWith(pair, { alg: algorithm, kid: algorithm, ...header }, { sub: 'ann', iss: url, ...claims, aud });
  const tenants = () => gateway.upstream.mints().map(({ body }) => Object(body).clientId);
  return { ...gateway, preset, url, token, tenants, algorithm, aud };
};

const accepted = ({ samples }: Preset) => samples.filter(({ refused }) => refused === undefined);

describe.each(presetNames)('sessions of %s', (name) => {
  it('become tokens of their own tenant, or of none', async () => {
    const { preset, token, ask, granted, tenants } = await start(name);
    for (const { claims, tenant, refused } of preset.samples) {
      const before = tenants().length;
      if (refused === undefined) {
        await granted(token(claims));
        expect(tenants().at(-1)).toBe(tenant);
      } else {
        expect((await ask(token(claims))).status, refused).toBe(403);
        expect(tenants()).toHaveLength(before);
      }
    }
  });

  it('are accepted by each algorithm of the preset, and by no other', async () => {
    const { preset, token, ask } = await start(name);
    const claims = accepted(preset)[0]?.claims ?? {};
    for (const algorithm of ['RS256', 'ES256', 'ES384', 'EdDSA'] as const) {
      const { status } = await ask(token(claims, { alg: algorithm, kid: algorithm }, pairOf(pairs, algorithm)));
      expect([algorithm, status]).toEqual([algorithm, preset.issuer.algorithms.includes(algorithm) ? 200 : 401]);
    }
  });

  it('are refused if anything of them is wrong', async () => {
    const { preset, url, token, ask, upstream, algorithm, aud } = await start(name);
    const claims = accepted(preset)[0]?.claims ?? {};
    const pair = pairOf(pairs, algorithm);
    const signed = (more: object) =>
      signWith(pair, { alg: algorithm, kid: algorithm }, { sub: 'ann', iss: url, ...claims, aud, ...more });
    const wrong: Record<string, string> = {
      'the key of a stranger': token(claims, {}, pairOf(thieves, algorithm)),
      'a key id that is not published': token(claims, { kid: 'other' }),
      'the public key as a shared secret': hmacWith(
        pemOf(pair),
        { alg: 'HS256', kid: algorithm },
        { iss: url, ...claims },
      ),
      'no signature': `${token(claims).split('.').slice(0, 2).join('.')}.`,
      'another issuer': signed({ iss: `${url}/other` }),
      'an end that has passed': signed({ exp: startSeconds - 60 }),
      'a begin that is to come': signed({ nbf: startSeconds + 60 }),
      'an issue that is to come': signed({ iat: startSeconds + 60 }),
      'no end': signed({ exp: undefined }),
      'no user': signed({ sub: undefined }),
      ...(aud === undefined
        ? {}
        : { 'another audience': signed({ aud: 'elsewhere' }), 'no audience': signed({ aud: undefined }) }),
    };
    for (const [what, one] of Object.entries(wrong)) expect([what, (await ask(one)).status]).toEqual([what, 401]);
    expect(upstream.mints()).toEqual([]);
  });
});
