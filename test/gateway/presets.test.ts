/**
 * Presets of login providers: each one's samples give the tenant and the roles that they say, or are refused; a policy
 * may override any part; faults name the preset's file.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { rolesOf } from '../../src/gateway/policy/decide.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { everythingNamed } from '../../src/gateway/policy/reach.js';
import { compileRead, readPolicy } from '../../src/gateway/policy/reading.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { createTenantStep } from '../../src/gateway/tenant/resolve.js';
import { Refusal } from '../../src/model/refusal.js';
import {
  loadPreset,
  organizationClaims,
  type PresetName,
  presetFile,
  presetNames,
  readPresetText,
} from '../../src/platform/config/presets.js';
import { basePolicy, policyOf } from './policies.js';

const tenantStep = createTenantStep(() => {
  throw new Error('no lookup in these tests');
});
const sessionOf = (claims: Readonly<Record<string, unknown>>): Session => ({
  ...{ issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims },
});
const tenantOf = (policy: Policy, claims: Readonly<Record<string, unknown>>, asked?: string): unknown => {
  try {
    return tenantStep(policy, sessionOf(claims), asked);
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
};
const withPreset = (preset: PresetName, more: object = {}) =>
  policyOf({ session: { preset, ...more }, rules: basePolicy.rules });
const faultsOf = (work: () => unknown): readonly string[] => {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return error.faults.map(({ at, message }) => `${at} ${message}`);
  }
};

describe.each(presetNames)('the preset %s', (name) => {
  const preset = loadPreset(name);
  const policy = withPreset(name);

  it.each(preset.samples)(
    'a sample session is read as the preset says: $name',
    ({ claims, tenant, roles, refused }) => {
      const session = { sub: 'u1', iat: 1, ...claims };
      if (refused !== undefined) return expect(tenantOf(policy, session)).toBe('NO_TENANT');
      expect(tenantOf(policy, session)).toBe(tenant);
      expect(rolesOf(policy, sessionOf(session))).toEqual(roles);
      // Only what the session names can be asked for.
      expect(tenantOf(policy, session, 'other')).toBe('NO_TENANT');
    },
  );

  it('a session without claims, or with each claim of a wrong type, reaches no tenant', () => {
    expect(tenantOf(policy, { sub: 'u1' })).toBe('NO_TENANT');
    for (const wrong of [null, 7, true, [], {}, [null], { id: null }, [[]], [{}]]) {
      const session = Object.fromEntries(Object.keys(policy.claims).map((claim) => [claim, wrong]));
      expect(tenantOf(policy, session)).toBe('NO_TENANT');
    }
  });

  it('a sample without one claim, or with one of another type, reaches its own tenant or none', () => {
    for (const { claims, tenant } of preset.samples) {
      for (const claim of Object.keys(claims)) {
        for (const other of [undefined, null, 7, ['x', 'y'], { x: 'y' }]) {
          expect([tenant, 'NO_TENANT']).toContain(tenantOf(policy, { ...claims, [claim]: other }));
        }
      }
    }
  });

  it('the claims of an organization give the organization as the tenant', () => {
    const claims = organizationClaims(preset, 'org_77');
    expect(claims).toBeDefined();
    expect(tenantOf(policy, claims ?? {})).toBe('org_77');
    // An id that a text replacement would take for a pattern.
    for (const id of ["acme$'", 'a$$b', '$`acme', '$&'])
      expect(tenantOf(policy, organizationClaims(preset, id) ?? {})).toBe(id);
  });

  it('samples show a login, a login without roles or another form, and two that are refused', () => {
    expect(preset.samples.filter(({ refused }) => refused === undefined).length).toBeGreaterThanOrEqual(2);
    expect(preset.samples.filter(({ refused }) => refused !== undefined).length).toBeGreaterThanOrEqual(2);
  });

  it('says how an issuer is trusted: keys by discovery or at an address, never a shared secret', () => {
    const { discover, jwksUrl, algorithms } = preset.issuer;
    expect(discover).toBe(jwksUrl === undefined);
    expect(algorithms).not.toContain('HS256');
  });
});

describe('a policy with a preset', () => {
  it('there is one file for each name', () => {
    const files = readdirSync(join(import.meta.dirname, '../../config/presets'));
    expect(files.toSorted()).toEqual(presetNames.map((name) => `${name}.yaml`));
  });

  it('replaces what it gives itself, and claims by their names', () => {
    const own = withPreset('clerk', {
      claims: { org_slug: 'list<string>', plan: 'string' },
      tenant: 'claims.o.slg',
      roles: '[claims.plan]',
    });
    expect(own.claims).toMatchObject({ org_id: 'string', org_slug: 'list<string>', plan: 'string' });
    const claims = { o: { id: 'org_1', rol: 'admin', slg: 'acme' }, plan: 'pro' };
    expect(tenantOf(own, claims)).toBe('acme');
    expect(rolesOf(own, sessionOf(claims))).toEqual(['pro']);
    expect(rolesOf(withPreset('clerk', { tenant: 'claims.o.slg' }), sessionOf(claims))).toEqual(['admin']);
  });

  it('names the file and the line of the preset where an overridden claim does not fit it', () => {
    const faults = faultsOf(() => withPreset('clerk', { claims: { o: 'string' } }));
    expect(faults.length).toBeGreaterThan(0);
    const line =
      readPresetText('clerk')
        .split('\n')
        .findIndex((text) => text.startsWith('  tenant:')) + 1;
    expect(faults[0]).toMatch(new RegExp(`^presets/clerk\\.yaml:${line}:\\d+ session\\.tenant: `));
  });

  it('names its own file where the fault is its own', () => {
    expect(faultsOf(() => withPreset('clerk', { tenant: 'claims.nothing' }))).toEqual([
      expect.stringMatching(/^test\.yaml:\d+:\d+ session\.tenant: No such key: nothing$/),
    ]);
    expect(faultsOf(() => policyOf({ session: { preset: '../flights' } })).join()).toMatch(
      /^test\.yaml:\d+:\d+ session\.preset: /,
    );
    expect(faultsOf(() => policyOf({ session: { claims: {}, tenant: '""' } }))).toEqual([
      expect.stringContaining('session.roles: is missing: give it, or the preset of a provider'),
    ]);
  });

  it('has the content of the preset in its digest, its meaning and its files', () => {
    const policy = withPreset('auth0');
    expect(policy.files.map(({ file }) => file)).toEqual(['test.yaml', presetFile('auth0')]);
    const [own, preset] = policy.files;
    if (own === undefined || preset === undefined) throw new Error('two files');
    const changed = { ...preset, text: preset.text.replace('tenant: claims.org_id', 'tenant: claims.org_name') };
    const later = loadPolicy(own.text, own.file, [changed]);
    expect(later.tenant.key.source).toBe('claims.org_name');
    expect(later.digest).not.toBe(policy.digest);
    expect(later.meaning).not.toBe(policy.meaning);
    const commented = loadPolicy(own.text, own.file, [{ ...preset, text: `${preset.text}# more\n` }]);
    expect(commented.digest).not.toBe(policy.digest);
    expect(commented.meaning).toBe(policy.meaning);
  });

  it('means the same as the policy that writes the same session itself', () => {
    const { session } = loadPreset('auth0');
    expect(policyOf({ session }).meaning).toBe(withPreset('auth0').meaning);
  });

  it('is the same where a thread reads its files, and where the kept ones are read', async () => {
    const policy = withPreset('keycloak');
    const { documents } = await readPolicy({ from: policy.files });
    if (documents === null || documents instanceof PolicyFaults) throw new Error('the files are without faults');
    const read = await compileRead(documents, everythingNamed);
    expect([read.digest, read.meaning, read.files]).toEqual([policy.digest, policy.meaning, policy.files]);
    expect(tenantOf(read, { organization: { acme: {} } })).toBe('acme');
  });
});
