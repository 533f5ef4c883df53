/** `guestlist hooks try`, with a configuration and a policy in a folder, as an operator has them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { basePolicy } from '../gateway/policies.js';
import { type Kind, kinds, samples, sessionClaims, startMs } from '../gateway/provider-events.js';
import { runCli } from './in-process.js';

const secrets = Object.fromEntries(kinds.map((kind) => [kind, samples[kind].newSecret()]));
const variableOf = (kind: Kind): string => `${kind.toUpperCase()}_SECRET`;

/** A folder with all providers and a policy whose tenant expression is `tenant`. */
const project = (tenant: unknown, policyMore: object = {}) => {
  const cwd = mkdtempSync(join(tmpdir(), 'guestlist-hooks-'));
  const write = (name: string, content: unknown): string => {
    writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return name;
  };
  const claims = { ...basePolicy.session.claims, ...sessionClaims };
  write('policy.yaml', { ...basePolicy, session: { ...basePolicy.session, claims, tenant }, ...policyMore });
  const providers = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      { kind, ...(kind === 'kinde' ? {} : { secretVariable: variableOf(kind) }), ...samples[kind].more },
    ]),
  );
  write('guestlist.yaml', { demo: false, gateway: { policies: './policy.yaml', hooks: { providers } } });
  const env = Object.fromEntries(kinds.map((kind) => [variableOf(kind), secrets[kind]]));
  const run = (args: readonly string[], variables = env) => runCli(['hooks', 'try', ...args], { cwd, env: variables });
  return { write, run };
};

const eventOf = (kind: Kind, happening: 'created' | 'deleted' | 'other' = 'created') =>
  samples[kind].event(happening, 'org_acme', startMs, 'one');

describe('guestlist hooks try', () => {
  it.each(kinds)('%s: says from the body alone which tenant the event reaches, and what would happen', async (kind) => {
    const { write, run } = project(samples[kind].tenant);
    const { code, out } = await run([write('event.json', eventOf(kind)), '--provider', kind]);
    expect(out).toMatch(/^tenant {5}org_acme$/m);
    expect(out).toMatch(/^signature {2}not checked/m);
    expect(out).toMatch(kind === 'stripe' ? /is resumed/ : /is signed up/);
    expect([code, out.includes('Nothing was done')]).toEqual([0, true]);
  });

  it.each(kinds.filter((kind) => kind !== 'kinde'))('%s: checks the signature at its own time', async (kind) => {
    const { write, run } = project(samples[kind].tenant);
    const sent = await samples[kind].sign(eventOf(kind), secrets[kind] ?? '', { sentMs: 1_600_000_000_000 });
    const right = await run([write('right.json', sent), '--provider', kind]);
    expect([right.code, right.out]).toEqual([0, expect.stringMatching(/^signature {2}right/m)]);
    const dump = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}\n`);
    const dumped = write('dump.txt', `POST /hooks/provider/${kind} HTTP/1.1\n${dump.join('')}\n${sent.body}\n`);
    expect((await run([dumped, '--provider', kind])).out).toMatch(/^signature {2}right/m);
    const wrong = await samples[kind].sign(eventOf(kind), samples[kind].newSecret(), {});
    const refused = await run([write('wrong.json', wrong), '--provider', kind]);
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/^signature {2}WRONG: .*\n[\s\S]*401/m)]);
  });

  it('works where no secret of the provider is set', async () => {
    const { write, run } = project('claims.org_id');
    const sent = await samples.clerk.sign(eventOf('clerk'), secrets.clerk ?? '', {});
    const { code, out } = await run([write('event.json', sent), '--provider', 'clerk'], {});
    expect([code, out]).toEqual([0, expect.stringContaining('not checked: the secret of the provider is not set')]);
  });

  it('reads the token of Kinde as it is sent', async () => {
    const { write, run } = project('claims.org_code');
    const { body } = await samples.kinde.sign(eventOf('kinde'), '', {});
    expect((await run([write('event.jwt', body), '--provider', 'kinde'])).out).toMatch(/^tenant {5}org_acme$/m);
  });

  it('says what a deletion does, and what is ignored and why', async () => {
    const { write, run } = project('claims.org_id');
    const tried = async (kind: Kind, happening: 'deleted' | 'other') =>
      (await run([write('event.json', eventOf(kind, happening)), '--provider', kind])).out;
    expect(await tried('clerk', 'deleted')).toMatch(/is suspended: .*; nothing is erased/);
    expect(await tried('clerk', 'other')).toMatch(/answered 200 and ignored \(organization\.updated\)/);
    expect(await tried('auth0', 'deleted')).toMatch(/does not sign the body, so it may only sign up/);
  });

  it('names the dashboards of onSignUp, or says that there is none', async () => {
    const event = ['event.json', '--provider', 'clerk'];
    const some = project('claims.org_id', { onSignUp: ['delays'] });
    some.write('event.json', eventOf('clerk'));
    expect((await some.run(event)).out).toContain('its dashboards are created: Delays');
    const none = project('claims.org_id');
    none.write('event.json', eventOf('clerk'));
    expect((await none.run(event)).out).toContain("the policy's onSignUp lists no template");
  });

  it('ends with 1 for an event that would be refused, and answers JSON', async () => {
    const { write, run } = project('claims.org_id');
    const { code, out } = await run([
      write('event.json', { type: 'organization.created' }),
      '--provider',
      'clerk',
      '--json',
    ]);
    expect([code, JSON.parse(out).outcome]).toEqual([1, 'refused']);
    expect(JSON.parse(out).effect).toMatch(/data\.id/);
  });

  it('knows a kind before it is configured, and names what there is', async () => {
    const { write, run } = project('claims.org_id');
    const file = write('event.json', eventOf('clerk'));
    write('guestlist.yaml', { demo: false, gateway: { policies: './policy.yaml' } });
    expect((await run([file, '--provider', 'clerk'])).code).toBe(0);
    const { code, err } = await run([file, '--provider', 'clark']);
    expect([code, err]).toEqual([2, expect.stringContaining('kinds clerk, workos')]);
  });

  it('names the line of the configuration, where the policy reads a claim that no event gives', async () => {
    const { write, run } = project('claims.region');
    const { code, err } = await run([write('event.json', eventOf('clerk')), '--provider', 'clerk']);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/guestlist\.yaml:\d+:\d+: gateway\.hooks\.providers\.clerk: .*claims\.region/),
    ]);
  });

  it('takes the answer of the host, where the policy asks it', async () => {
    const http = { url: 'https://host.example/tenants', secretVariable: 'LOOKUP_SECRET' };
    const { write, run } = project({ key: 'claims.org_id', http });
    const file = write('event.json', eventOf('clerk'));
    expect(await run([file, '--provider', 'clerk'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--lookup'),
    });
    expect((await run([file, '--provider', 'clerk', '--lookup', 't7'])).out).toMatch(/^tenant {5}t7$/m);
  });
});
