/** `gateway.hooks.providers` in a configuration file: what is taken, and what is refused with which mend. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/platform/config/config.js';

const shipped = fileURLToPath(new URL('../../config/guestlist.yaml', import.meta.url));
const svix = `whsec_${randomBytes(24).toString('base64')}`;
const strong = randomBytes(48).toString('base64');

const load = (providers: string, env: Readonly<Record<string, string>> = {}) => {
  const file = join(mkdtempSync(join(tmpdir(), 'guestlist-providers-')), 'guestlist.yaml');
  writeFileSync(file, `demo: false\ngateway:\n  hooks:\n    providers:\n${providers.replaceAll(/^/gm, '      ')}\n`);
  const given = { GUESTLIST_CONFIG: file, GUESTLIST_HOST_JWT_SECRET: strong, SVIX: svix, STRONG: strong, ...env };
  const config = loadConfig(given, shipped, { runsGateway: true, runsService: true });
  return { file, providers: config.hookProviders, unknown: config.findUnknownVariables() };
};

const faultsOf = (providers: string, env?: Readonly<Record<string, string>>): readonly string[] => {
  try {
    load(providers, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ path, mend }) => `${path} ${mend}`);
    throw error;
  }
};

describe('a provider of the configuration', () => {
  it('has its secrets, and the place of each of its fields', () => {
    const { file, providers } = load(
      'clerk: { kind: clerk, secretVariable: SVIX }\nown:\n  kind: auth0\n  secretVariables: [STRONG]\n  claims:\n    org_id: event.id',
    );
    expect(providers.map(({ name, secrets }) => [name, secrets])).toEqual([
      ['clerk', [svix]],
      ['own', [strong]],
    ]);
    expect(providers.map(({ at }) => [at(), at('claims', 'org_id'), at('when')])).toEqual([
      [`${file}:5:7`, `${file}:5:7`, `${file}:5:7`],
      [`${file}:6:7`, `${file}:10:11`, `${file}:6:7`],
    ]);
  });

  it('may have two secrets at once, and its variables are no unknown settings', () => {
    const variables = { GUESTLIST_CLERK_OLD: svix, GUESTLIST_CLERK_NEW: `whsec_${randomBytes(24).toString('base64')}` };
    const { providers, unknown } = load(
      'clerk: { kind: clerk, secretVariables: [GUESTLIST_CLERK_OLD, GUESTLIST_CLERK_NEW] }',
      variables,
    );
    expect([providers[0]?.secrets, unknown]).toEqual([Object.values(variables), []]);
  });

  const base = 'read: { id: event.id, kind: event.kind, moment: event.at }';
  const faulty: readonly (readonly [string, string, RegExp])[] = [
    ['of an unknown kind', 'clerk: { kind: clark, secretVariable: SVIX }', /clerk\.kind/],
    ['with a misspelt field', 'clerk: { kind: clerk, secretVariabel: SVIX }', /secretVariabel/],
    ['with a name that is no path', '"a/b": { kind: clerk, secretVariable: SVIX }', /small letters/],
    ['without a secret', 'clerk: { kind: clerk }', /clerk needs secretVariable/],
    [
      'with both fields of secrets',
      'clerk: { kind: clerk, secretVariable: SVIX, secretVariables: [SVIX] }',
      /needs secretVariable/,
    ],
    ['with three secrets', 'clerk: { kind: clerk, secretVariables: [SVIX, SVIX, SVIX] }', /secretVariables/],
    ['whose variable is not set', 'clerk: { kind: clerk, secretVariable: NOT_SET }', /NOT_SET, which is not set/],
    ['of Svix with another secret', 'clerk: { kind: clerk, secretVariable: STRONG }', /no secret of Standard Webhooks/],
    ['with a short secret', 'workos: { kind: workos, secretVariable: SHORT }', /less than 16 characters/],
    [
      'that does not sign and erases',
      'auth0: { kind: auth0, secretVariable: STRONG, erase: true }',
      /may only sign up/,
    ],
    [
      'of Stripe with one state twice',
      'billing: { kind: stripe, secretVariable: STRONG, suspend: [active] }',
      /in one of them/,
    ],
    [
      'of Kinde without https',
      'kinde: { kind: kinde, issuer: "http://acme.kinde.com" }',
      /issuer must begin with https/,
    ],
    [
      'of Kinde with a secret',
      'kinde: { kind: kinde, issuer: "https://a.kinde.com", secretVariable: STRONG }',
      /secretVariable/,
    ],
    ['that is custom without a scheme', `own: { kind: custom, secretVariable: STRONG, ${base} }`, /own\.signature/],
    [
      'with an HS256 by a JWKS',
      `own: { kind: custom, signature: { scheme: jwt, jwksUrl: "https://a.example/jwks", algorithms: [HS256] }, ${base} }`,
      /leave HS256 out/,
    ],
  ];
  it.each(faulty)('a provider %s is refused', (_, text, said) => {
    const found = faultsOf(text, { SHORT: 'short' });
    expect(found.join('\n')).toMatch(said);
    for (const secret of [svix, strong, 'short']) expect(found.join('\n')).not.toContain(`"${secret}"`);
  });

  it('a secret that is easy to guess is refused in production, where the host chooses it', () => {
    const production = {
      NODE_ENV: 'production',
      WEAK: 'a'.repeat(40),
      GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    expect(faultsOf('auth0: { kind: auth0, secretVariable: WEAK }', production).join('\n')).toMatch(/WEAK/);
    expect(faultsOf('auth0: { kind: auth0, secretVariable: STRONG }', production)).toEqual([]);
  });
});
