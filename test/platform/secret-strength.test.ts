/** In production, a secret must not be short, a placeholder, or easy to guess. In the demo and in tests, it may be. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError, loadConfig } from '../../src/platform/config/config.js';
import { createSealingKey } from '../../src/platform/keys/sealing.js';
import { weaknessOf, weaknessOfBytes } from '../../src/platform/keys/secret-strength.js';

const shipped = fileURLToPath(new URL('../../config/guestlist.yaml', import.meta.url));
const root = dirname(dirname(shipped));

const strong = () => ({
  NODE_ENV: 'production',
  GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64'),
  GUESTLIST_API_KEY: randomUUID(),
  GUESTLIST_SERVICE_TOKEN: randomUUID(),
  GUESTLIST_GATEWAY_TOKEN: randomBytes(24).toString('hex'),
  GUESTLIST_METRICS_TOKEN: randomBytes(24).toString('base64url'),
  GUESTLIST_HOOK_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
  GUESTLIST_ENCRYPTION_KEY: createSealingKey(),
});

const faultsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadConfig(env, shipped, { runsGateway: true, runsService: true });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ path, mend }) => `${path} ${mend}`);
    throw error;
  }
};

const weak = {
  GUESTLIST_HOST_JWT_SECRET: 'the secret that your sessions are signed with',
  GUESTLIST_API_KEY: 'key',
  GUESTLIST_SERVICE_TOKEN: '00000000-0000-4000-8000-000000000001',
  GUESTLIST_GATEWAY_TOKEN: 'changeme-changeme-changeme-changeme',
  GUESTLIST_METRICS_TOKEN: 'abcabcabcabcabcabcabcabcabcabcabcabc',
  GUESTLIST_HOOK_SECRETS: `whsec_${Buffer.alloc(32).toString('base64')}`,
  GUESTLIST_ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64'),
};

it('in production every weak secret is a fault, all in one error, and none is repeated', () => {
  const faults = faultsOf({ ...strong(), ...weak });
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(Object.keys(weak));
  for (const secret of Object.values(weak)) expect(faults.join('\n')).not.toContain(`"${secret}"`);
  for (const fault of faults) expect(fault).toMatch(/make one by/);
});

it('the secret of a listed issuer is judged alike', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'guestlist.yaml');
  const policies = `${root}/config/policies/flights.yaml`;
  const issuer = '{ issuer: backend, algorithms: [HS256], secretVariable: BACKEND_SECRET }';
  writeFileSync(file, `gateway: { policies: ${policies}, session: { issuers: [${issuer}] } }`);
  const env = { ...strong(), GUESTLIST_CONFIG: file, BACKEND_SECRET: 'a'.repeat(40) };
  expect(faultsOf(env)).toEqual([
    expect.stringMatching(/secretVariable names BACKEND_SECRET, which is too easy to guess/),
  ]);
  expect(faultsOf({ ...env, NODE_ENV: 'test' })).toEqual([]);
});

it('strong ones are taken, as openssl and uuidgen make them', () => {
  for (let n = 0; n < 50; n += 1) expect(faultsOf(strong())).toEqual([]);
});

it('outside of production only what cannot work is a fault', () => {
  const { GUESTLIST_API_KEY: _, ...others } = weak;
  expect(faultsOf(others)).toEqual([]);
});

it.each([
  ['0123456789abcdef0123456789abcdef', /easy to guess/],
  ['a'.repeat(64), /easy to guess/],
  ['abcdefghijklmnopqrstuvwxyz0123456789', /easy to guess/],
  ['7e57ab1e-0000-4000-8000-000000000000', /easy to guess/],
  ['12345678901234567890123456789012345', /easy to guess/],
  ['PleaseChangeMeBeforeProduction-2f81bc', /placeholder/],
  ['my-super-secret-jwt-key-for-production', /placeholder/],
  ['a-string-secret-at-least-256-bits-long', /example/],
  ['550e8400-e29b-41d4-a716-446655440000', /example/],
  ['short', /has 5 characters/],
])('the secret %s is weak', (secret, expected) => {
  expect(weaknessOf(secret)).toMatch(expected);
});

it('the example of Standard Webhooks is no secret', () => {
  expect(weaknessOfBytes('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toMatch(/example/);
});

it('no secret that is random is called weak', () => {
  for (let n = 0; n < 500; n += 1) {
    const bytes = randomBytes(32);
    expect(weaknessOf(bytes.toString('hex').slice(0, 32))).toBeUndefined();
    expect(weaknessOf(bytes.toString('base64url'))).toBeUndefined();
    expect(weaknessOf(randomUUID())).toBeUndefined();
    expect(weaknessOfBytes(bytes.subarray(0, 24).toString('base64'))).toBeUndefined();
  }
});

describe('our own documentation', () => {
  it('shows no secret that production would take', () => {
    const docs = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.(md|sh)$/.test(file),
    );
    const pages = ['README.md', 'config/guestlist.yaml', ...docs.map((file) => `docs/${file}`)];
    const shown = pages.flatMap((page) =>
      [...readFileSync(`${root}/${page}`, 'utf8').matchAll(/(?:SECRETS?|TOKEN|API_KEY)="([^"$]+)"/g)].map(
        ([, secret = '']) => secret,
      ),
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((secret) => weaknessOf(secret) === undefined)).toEqual([]);
  });
});
