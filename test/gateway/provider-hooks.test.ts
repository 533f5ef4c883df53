/** Webhooks of login and billing providers over the real router, with the real service, ledger, policy and logins. */
import { createSecretKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPolicy, loadPolicyFile } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { createMovableClock, startGateway } from './harness.js';
import { createOwnService, type OwnService, servicePolicy } from './own-service.js';
import { basePolicy, changeablePolicies } from './policies.js';
import {
  type Changed,
  configure,
  type Happening,
  hmac,
  type Kind,
  kindeKeys,
  kinds,
  type Sent,
  samples,
  sessionClaims,
  signKinde,
  startMs,
} from './provider-events.js';
import { listen } from './scripted-service.js';

let service: OwnService;
beforeAll(async () => {
  service = await createOwnService();
});
afterAll(async () => {
  await service.close();
});

const newOrg = (): string => `org_${randomUUID().replaceAll('-', '')}`;

const policyWith = (tenant: unknown, more: object = {}): Policy => {
  const claims = { ...basePolicy.session.claims, ...sessionClaims };
  const session = { ...basePolicy.session, claims, tenant };
  const { dataApp, workspace, datamart } = servicePolicy;
  const document = {
    ...basePolicy,
    ...{ dataApp, workspace, datamart, session, templates: { delays: { name: 'Delays' }, routes: { name: 'Routes' } } },
    ...{ onSignUp: ['delays'], ...more },
  };
  return loadPolicy(JSON.stringify(document, null, 2), 'policy.yaml');
};

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** Serves the keys of Kinde as it publishes them, and returns the issuer. */
const serveKeys = (): Promise<string> => {
  const jwk = { ...kindeKeys.publicKey.export({ format: 'jwk' }), kid: kindeKeys.kid, alg: 'RS256', use: 'sig' };
  return listen((request, response) => {
    if (request.url === '/.well-known/jwks') response.end(JSON.stringify({ keys: [jwk] }));
    else response.writeHead(404).end();
  });
};

const start = async (kind: Kind, more: object = {}, policy = policyWith(samples[kind].tenant), secrets?: string[]) => {
  const sample = samples[kind];
  const overrides = { ...(kind === 'kinde' ? { issuer: await serveKeys() } : {}), ...more };
  const configured = configure(kind, overrides, secrets);
  const clock = createMovableClock();
  const gateway = await startGateway({
    ...{ upstream: service.upstream, ledger: service.ledger, policy, clock },
    hooks: { secrets: [], toleranceSeconds: 300, providers: [configured.provider] },
  });
  const sendOnce = async ({ body, headers }: Sent): Promise<Answer> => {
    const response = await fetch(`${gateway.url}/hooks/provider/${kind}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const { data, error } = (await response.json()) as Pick<Answer, 'data' | 'error'>;
    return { status: response.status, headers: response.headers, data, error };
  };
  /** Repeats after a 503, as providers do: on a busy machine another gateway may hold the tenant. */
  const send = async (sent: Sent): Promise<Answer> => {
    let answer = await sendOnce(sent);
    for (let attempts = 0; answer.status === 503 && attempts < 10; attempts += 1) answer = await sendOnce(sent);
    return answer;
  };
  const [secret = ''] = configured.secrets;
  const sign = (event: object, changed: Changed = {}) => sample.sign(event, changed.secret ?? secret, changed);
  /** Sends the event of an organization, `at` seconds after the start. */
  const event = async (happening: Happening, org: string, at = 0, changed: Changed = {}) =>
    send(await sign(sample.event(happening, org, startMs + at * 1000 - 60_000, changed.id ?? randomUUID()), changed));
  const login = (org: string, more: object = { roles: ['analyst'] }) =>
    gateway.ask({ iss: 'guestlist-demo', sub: 'ann', ...more, ...sample.session(org) });
  const lineOf = (name: string) => gateway.lines.filter((line) => line.event === name).at(-1);
  return { ...gateway, clock, secret, send, sign, event, login, lineOf };
};

const stateOf = async (clientId: string): Promise<string | undefined> => {
  const rows = service.ledger.db.selectFrom('tenants').select('state');
  return (await rows.where('tenant_ref', '=', service.ledger.refOf(clientId)).executeTakeFirst())?.state;
};

const ofLogins = kinds.filter((kind) => kind !== 'stripe');
const signed = ofLogins.filter((kind) => samples[kind].signsBody);
const unsigned = kinds.filter((kind) => !samples[kind].signsBody);
const untimed: readonly Kind[] = ['auth0', 'supabase', 'kinde', 'logto'];

/** PropelAuth gives no moment but that of the attempt. */
const earlier: Changed = { sentMs: startMs - 10_000 };

describe.each(ofLogins)('%s', (kind) => {
  it('a sign-up by event and a login by session meet at one tenant', async () => {
    const { event, login } = await start(kind);
    const org = newOrg();
    const answer = await event('created', org);
    expect([answer.status, answer.data]).toEqual([200, { state: 'active', isApplied: true, provisioned: 1 }]);
    expect(await stateOf(org)).toBe('active');
    const granted = await login(org);
    const { embeds } = (await granted.json()) as { embeds: { id: string }[] };
    expect([granted.status, embeds.length]).toEqual([200, 2]);
  });

  it('an event of another type is answered 200 and ignored, with a log line', async () => {
    const { event, lineOf } = await start(kind);
    const org = newOrg();
    const { status, data } = await event('other', org);
    expect([status, data]).toMatchObject([200, { isApplied: false, ignored: 'event-not-mapped' }]);
    expect(lineOf('hook.ignored')).toMatchObject({ hook: `provider/${kind}`, reason: 'event-not-mapped' });
    expect(await stateOf(org)).toBeUndefined();
  });
});

const presets = ofLogins.filter((kind) => existsSync(new URL(`../../config/presets/${kind}.yaml`, import.meta.url)));

it.each(presets)('%s: an event and a login reach one tenant by the preset of the provider', async (kind) => {
  const { dataApp, workspace, datamart } = servicePolicy;
  const own = { ...{ version: 1, dataApp, workspace, datamart }, session: { preset: kind }, onSignUp: ['delays'] };
  const file = join(mkdtempSync(join(tmpdir(), 'guestlist-preset-')), 'policy.yaml');
  const { templates, rules } = { ...basePolicy, templates: { delays: { name: 'Delays' }, routes: { name: 'Routes' } } };
  writeFileSync(file, JSON.stringify({ ...own, templates, rules }));
  const { event, login } = await start(kind, {}, loadPolicyFile(file));
  const org = newOrg();
  expect((await event('created', org)).data).toMatchObject({ state: 'active', provisioned: 1 });
  expect([await stateOf(org), (await login(org, {})).status]).toEqual(['active', 200]);
});

describe.each(signed)('%s signs the body', (kind) => {
  it('deleted suspends, and erases nothing', async () => {
    const { event, login } = await start(kind);
    const org = newOrg();
    await event('created', org, 0, earlier);
    const { data } = await event('deleted', org, 1);
    expect(data).toEqual({ state: 'suspended', isApplied: true });
    expect((await login(org)).status).toBe(403);
    expect(await service.dumpAll()).toContain(org);
  });

  it('deleted erases with erase: true', async () => {
    const { event, login } = await start(kind, { erase: true });
    const org = newOrg();
    await event('created', org, 0, earlier);
    const { data } = await event('deleted', org, 1);
    expect(data).toMatchObject({ state: 'deleted', isApplied: true, erasure: { isComplete: true } });
    expect(await service.dumpAll()).not.toContain(org);
    expect((await login(org)).status).toBe(403);
  });

  it('an event that arrives late does not undo a newer one', async () => {
    const { event } = await start(kind);
    const org = newOrg();
    await event('deleted', org, 5);
    expect((await event('created', org, 1, earlier)).data).toMatchObject({ state: 'suspended', isApplied: false });
  });
});

it('an attempt of PropelAuth that is repeated late lifts no suspension, since its event has no moment', async () => {
  const { event, login } = await start('propelauth');
  const org = newOrg();
  await event('created', org, 0, earlier);
  await event('deleted', org, 1, { sentMs: startMs - 5_000 });
  const late = await event('created', org, 2, { sentMs: startMs });
  expect(late.data).toMatchObject({ state: 'suspended', isApplied: false });
  expect((await login(org)).status).toBe(403);
});

it.each<[type: unknown]>([[{ toString: 1 }], [{ valueOf: 1, toString: null }], [[]], [7], [null]])(
  'an event of a custom provider whose kind is %j is no event of a tenant, and no fault of ours',
  async (type) => {
    const { send, secret } = await start('custom', {
      signature: { scheme: 'bearer', header: 'authorization' },
      read: { id: 'event.id', kind: 'event.type', moment: 'event.at' },
    });
    const body = JSON.stringify({ id: randomUUID(), type, at: startMs, account: { id: newOrg() } });
    const { status, data } = await send({ body, headers: { authorization: `Bearer ${secret}` } });
    expect([status, data]).toMatchObject([200, { isApplied: false, ignored: 'event-not-mapped' }]);
  },
);

describe.each(unsigned)('%s does not sign the body', (kind) => {
  it('deleted is ignored with a log line, and the start says so', async () => {
    const { event, login, lineOf } = await start(kind);
    expect(lineOf('hook.provider_unsigned')).toMatchObject({ level: 40, hook: `provider/${kind}` });
    const org = newOrg();
    await event('created', org, 0);
    const { status, data } = await event('deleted', org, 1);
    expect([status, data]).toMatchObject([200, { isApplied: false, ignored: 'unsigned-may-only-sign-up' }]);
    expect(lineOf('hook.ignored')).toMatchObject({ reason: 'unsigned-may-only-sign-up' });
    expect([await stateOf(org), (await login(org)).status]).toEqual(['active', 200]);
  });

  it('may not erase, and the configuration says why', () => {
    expect(() => configure(kind, { erase: true })).toThrow(/erase.*sign the body/);
  });
});

describe('a custom provider with a shared header', () => {
  it('may only sign up, whatever its expression says', async () => {
    const signature = { scheme: 'bearer', header: 'authorization' };
    const { send, secret, login, lineOf } = await start('custom', { signature });
    expect(lineOf('hook.provider_unsigned')).toBeDefined();
    const org = newOrg();
    const sent = (happening: Happening, at: number) => ({
      body: JSON.stringify(samples.custom.event(happening, org, startMs - 10_000 + at, randomUUID())),
      headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` },
    });
    expect((await send(sent('created', 0))).data).toMatchObject({ state: 'active' });
    expect((await send(sent('deleted', 1000))).data).toMatchObject({ ignored: 'unsigned-may-only-sign-up' });
    expect((await login(org)).status).toBe(200);
  });
});

describe.each(kinds)('%s refuses', (kind) => {
  const isRefused = async ({ status, error }: Answer, what: string) =>
    expect([status, error?.code], what).toEqual([401, 'AUTHENTICATION_ERROR']);

  it('what nobody signed, what another secret signed, and a body that was changed', async () => {
    const { send, sign, lineOf, secret } = await start(kind);
    const org = newOrg();
    const event = samples[kind].event('created', org, startMs, randomUUID());
    const right = await sign(event);
    await isRefused(await send({ body: right.body.replace('ey', ''), headers: {} }), 'no header');
    expect(lineOf('hook.refused')).toMatchObject({ hook: `provider/${kind}`, code: 'AUTHENTICATION_ERROR' });
    const stranger =
      kind === 'kinde'
        ? { body: await signKinde(event, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey), headers: {} }
        : await sign(event, { secret: samples[kind].newSecret() });
    await isRefused(await send(stranger), 'another secret');
    if (samples[kind].signsBody) {
      const changed = kind === 'kinde' ? `${right.body.slice(0, -8)}AAAAAAAA` : `${right.body} `;
      await isRefused(await send({ ...right, body: changed }), 'another body');
    }
    expect(await stateOf(org)).toBeUndefined();
    const { error } = await send(stranger);
    if (secret !== '') expect(JSON.stringify(error)).not.toContain(secret);
    expect((await send(right)).status).toBe(200);
  });

  it.skipIf(untimed.includes(kind))('a signature that is old or from the future, and says so in the log', async () => {
    const { event, lineOf } = await start(kind);
    const pastMs = kind === 'workos' ? 180_000 : 300_000;
    const futureMs = kind === 'workos' ? 0 : 300_000;
    const step = kind === 'workos' ? 1 : 1000;
    for (const sentMs of [startMs - pastMs - step, startMs + futureMs + step]) {
      await isRefused(await event('created', newOrg(), 0, { sentMs }), String(sentMs - startMs));
      expect(lineOf('hook.refused')).toMatchObject({ reason: 'hook-timestamp-out-of-tolerance' });
    }
    for (const sentMs of [startMs - pastMs, startMs + futureMs])
      expect((await event('created', newOrg(), 0, { sentMs })).status).toBe(200);
  });

  it.skipIf(kind === 'kinde')('the secret that was replaced, and takes both while there are two', async () => {
    const secrets = [samples[kind].newSecret(), samples[kind].newSecret()];
    const [older = '', newer = ''] = secrets;
    const both = await start(kind, {}, undefined, secrets);
    for (const secret of secrets) expect((await both.event('created', newOrg(), 0, { secret })).status).toBe(200);
    const one = await start(kind, {}, undefined, [newer]);
    await isRefused(await one.event('created', newOrg(), 0, { secret: older }), 'the older');
    expect((await one.event('created', newOrg(), 0, { secret: newer })).status).toBe(200);
  });

  it('an event without an organization, or with one of another type', async () => {
    const { send, sign, lineOf } = await start(kind);
    for (const org of [undefined, null, 7.5, '', {}, ['a'], true]) {
      const event = samples[kind].event('created', org as string, startMs, randomUUID());
      const { status, error } = await send(await sign(event));
      expect([status, error?.code], String(org)).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(lineOf('hook.refused')).toMatchObject({ reason: expect.stringMatching(/^(hook|tenant)-/) });
    }
  });

  it('a body over the limit, and one that is no JSON', async () => {
    const { send, sign } = await start(kind);
    const large = { ...samples[kind].event('created', newOrg(), startMs, 'large'), more: 'x'.repeat(300_000) };
    const answer = await send(await sign(large));
    // No later attempt fits: Svix does not repeat a message then.
    expect([answer.status, answer.headers.get('webhook-delivery')]).toEqual([413, 'abort-message']);
    const text = await sign({});
    expect([400, 401]).toContain((await send({ ...text, body: '{' })).status);
  });
});

describe.each(kinds.filter((kind) => samples[kind].test !== undefined))('a test event of %s', (kind) => {
  it('is answered 200 and ignored', async () => {
    const { send, sign, lineOf } = await start(kind);
    const { status, data } = await send(await sign(samples[kind].test ?? {}));
    expect([status, data]).toMatchObject([200, { isApplied: false, ignored: 'test-event' }]);
    expect(lineOf('hook.ignored')).toMatchObject({ reason: 'test-event' });
  });
});

describe('an event that is sent twice', () => {
  it.each(kinds.filter((kind) => kind !== 'supabase'))('%s: the same answer, and no further effect', async (kind) => {
    const { send, sign, event, lineOf } = await start(kind);
    const org = newOrg();
    const sent = samples[kind].event('created', org, startMs - 1000, 'twice');
    const first = await send(await sign(sent, { id: `msg_twice_${org}` }));
    await event('deleted', org, 61, { sentMs: startMs });
    const again = await send(await sign(sent, { id: `msg_twice_${org}` }));
    expect([again.status, again.data]).toEqual([200, first.data]);
    expect(lineOf('hook.accepted')).toMatchObject({ isReplay: true });
  });

  it('two providers may give the same id to their events', async () => {
    const [clerk, custom] = [await start('clerk'), await start('custom')];
    const [one, other] = [newOrg(), newOrg()];
    expect((await clerk.event('created', one, 0, { id: one })).data).toMatchObject({ state: 'active' });
    expect((await custom.event('created', other, 0, { id: one })).data).toMatchObject({ isApplied: true });
    expect([await stateOf(one), await stateOf(other)]).toEqual(['active', 'active']);
  });

  it('an id of another event is refused: the expression of the id is not one', async () => {
    const { event } = await start('custom', {
      read: { ...Reflect.get(samples.custom.more, 'read'), id: 'event.type' },
      claims: { org_id: 'event.account.id' },
    });
    await event('created', newOrg(), 0);
    expect((await event('created', newOrg(), 2)).error).toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  });
});

describe('Stripe', () => {
  const states = async (more: object, statuses: readonly string[]) => {
    const { send, sign } = await start('stripe', more);
    const org = newOrg();
    const found = [];
    for (const [index, status] of statuses.entries()) {
      const at = startMs - 100_000 + index * 1000;
      const event = samples.stripe.event('created', org, at, randomUUID());
      Object.assign(Reflect.get(Reflect.get(event, 'data'), 'object'), { status });
      const { data } = await send(await sign(event));
      found.push(data?.state ?? data?.ignored);
    }
    return found;
  };

  it('unpaid, paused and canceled suspend, active and trialing resume, others change nothing', async () => {
    const statuses = ['trialing', 'past_due', 'unpaid', 'active', 'paused', 'active', 'canceled', 'incomplete'];
    expect(await states({}, statuses)).toEqual([
      ...['active', 'event-not-mapped', 'suspended', 'active', 'suspended', 'active', 'suspended', 'event-not-mapped'],
    ]);
  });

  it('the configuration names others', async () => {
    const more = { suspend: ['past_due'], resume: ['active'] };
    expect(await states(more, ['active', 'past_due', 'unpaid'])).toEqual(['active', 'suspended', 'event-not-mapped']);
  });

  it('takes any of several signatures of a header', async () => {
    const { send, secret } = await start('stripe');
    const body = JSON.stringify(samples.stripe.event('created', newOrg(), startMs, 'several'));
    const time = Math.floor(startMs / 1000);
    const signature = `t=${time},v1=${'0'.repeat(64)},v0=x,v1=${hmac(secret, `${time}.${body}`)}`;
    expect((await send({ body, headers: { 'stripe-signature': signature } })).status).toBe(200);
  });

  it('leaves out what `when` says', async () => {
    const { event } = await start('stripe', { when: 'event.data.object.metadata.org.startsWith("org_")' });
    expect((await event('created', 'shop_1')).data).toMatchObject({ ignored: 'left-out-by-when' });
    expect((await event('created', newOrg())).data).toMatchObject({ state: 'active' });
  });
});

describe('Kinde', () => {
  it('a key that the issuer does not publish, another algorithm and an expired token are refused', async () => {
    const { send } = await start('kinde');
    const event = samples.kinde.event('created', newOrg(), startMs, randomUUID());
    const secret = createSecretKey(kindeKeys.publicKey.export({ type: 'spki', format: 'pem' }) as Buffer);
    const bodies = [
      await signKinde(event, kindeKeys.privateKey, { kid: 'another' }),
      await signKinde(event, kindeKeys.privateKey, { alg: 'PS256' }),
      await signKinde(event, secret, { alg: 'HS256' }),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(event)).toString('base64url')}.`,
      await signKinde({ ...event, exp: startMs / 1000 - 301 }),
      await signKinde({ ...event, nbf: startMs / 1000 + 301 }),
      '..',
    ];
    for (const body of bodies) expect([(await send({ body, headers: {} })).status, body]).toEqual([401, body]);
    const right = await signKinde({ ...event, exp: startMs / 1000 - 299 });
    expect((await send({ body: right, headers: {} })).status).toBe(200);
  });

  it('keys that cannot be read make it repeat: 503', async () => {
    const issuer = await listen((_, response) => void response.writeHead(500).end());
    const { event, lineOf } = await start('kinde', { issuer });
    expect((await event('created', newOrg())).status).toBe(503);
    expect(lineOf('hook.failed')).toMatchObject({ reason: 'provider-keys-unavailable' });
  });
});

describe('the tenant', () => {
  it('comes from the policy, whatever form the rule has', async () => {
    const { event } = await start('clerk', {}, policyWith('"tenant-" + claims.org_id'));
    const org = newOrg();
    await event('created', org);
    expect([await stateOf(org), await stateOf(`tenant-${org}`)]).toEqual([undefined, 'active']);
  });

  it('of WorkOS is that of its session, even where the host gave it an id', async () => {
    const { send, sign, login } = await start('workos');
    const org = newOrg();
    const event = samples.workos.event('created', org, startMs, randomUUID());
    Object.assign(Reflect.get(event, 'data'), { external_id: 'acme' });
    await send(await sign(event));
    expect([await stateOf(org), await stateOf('acme'), (await login(org)).status]).toEqual(['active', undefined, 200]);
  });

  it('reads an object of which the event has only some members, and a member that is missing is no tenant', async () => {
    const { event } = await start('clerk', {}, policyWith('claims.o.id'));
    const org = newOrg();
    await event('created', org);
    expect(await stateOf(org)).toBe('active');
    await expect(start('clerk', {}, policyWith('claims.o.slg'))).rejects.toThrow(/reads claims\.o\.slg/);
  });

  it('a claim of the configuration replaces that of the adapter', async () => {
    const { event } = await start(
      'clerk',
      { claims: { org_id: '"own-" + event.data.id' } },
      policyWith('claims.org_id'),
    );
    const org = newOrg();
    await event('created', org);
    expect(await stateOf(`own-${org}`)).toBe('active');
  });

  it('a tenant that the table does not know yet makes the provider repeat: 503', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guestlist-tenants-'));
    writeFileSync(join(folder, 'tenants.csv'), 'key,tenant\norg_known,known\n');
    writeFileSync(
      join(folder, 'policy.yaml'),
      JSON.stringify({
        ...basePolicy,
        session: { ...basePolicy.session, tenant: { key: 'claims.org_id', table: 'tenants.csv' } },
      }),
    );
    const { event, lineOf } = await start('clerk', {}, loadPolicyFile(join(folder, 'policy.yaml')));
    expect((await event('created', 'org_known')).status).not.toBe(400);
    const { status, error } = await event('created', newOrg());
    expect([status, error?.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(lineOf('hook.failed')).toMatchObject({ reason: 'tenant-unknown' });
  });

  it('several tenants of one organization are refused', async () => {
    const { event } = await start('clerk', {}, policyWith('[claims.org_id, "other"]'));
    expect(await event('created', newOrg())).toMatchObject({ status: 400, error: { code: 'INVALID_REQUEST_BODY' } });
  });
});

describe('a provider whose events cannot give what the policy reads', () => {
  it('is refused at the start, with the claim and the place in the configuration', async () => {
    const fault = await start('clerk', {}, policyWith('claims.region')).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(PolicyFaults);
    expect((fault as PolicyFaults).faults).toEqual([
      {
        at: 'gateway.hooks.providers.clerk',
        message: expect.stringMatching(/claims\.region.*clerk gives.*org_id, o\.id.*`claims`/),
      },
    ]);
  });

  it('is taken with that claim in its configuration', async () => {
    const { event } = await start('clerk', { claims: { region: 'event.data.id' } }, policyWith('claims.region'));
    expect((await event('created', newOrg())).status).toBe(200);
  });

  it('needs no claim that the expression asks for by has()', async () => {
    const policy = policyWith('has(claims.region) ? claims.region : claims.org_id');
    expect((await (await start('clerk', {}, policy)).event('created', newOrg())).status).toBe(200);
    const both = policyWith('has(claims.region) && claims.region != "" ? claims.region : claims.states[0]');
    await expect(start('clerk', {}, both)).rejects.toThrow(/claims\.states/);
  });

  it('Stripe without claims is refused', async () => {
    await expect(start('stripe', { claims: {} })).rejects.toThrow(/gives none/);
  });

  it('a later policy that reads such a claim is not taken', async () => {
    const { provider } = configure('clerk');
    const policies = changeablePolicies(policyWith('claims.org_id'));
    const prepared: ((next: Policy) => void)[] = [];
    const watched = {
      ...policies,
      subscribe: (listener: Parameters<typeof policies.subscribe>[0]) => {
        if (listener.prepare !== undefined) prepared.push(listener.prepare);
        policies.subscribe(listener);
      },
    };
    const { upstream, ledger } = service;
    await startGateway({
      upstream,
      ledger,
      policies: watched,
      hooks: { secrets: [], toleranceSeconds: 300, providers: [provider] },
    });
    const prepare = (policy: Policy) => {
      for (const check of prepared) check(policy);
    };
    expect(() => prepare(policyWith('claims.org_id + "-1"'))).not.toThrow();
    expect(() => prepare(policyWith('claims.region'))).toThrow(PolicyFaults);
  });

  it('an expression of the configuration that is faulty is refused with its place', async () => {
    await expect(start('clerk', { claims: { org_id: 'event.data.' } })).rejects.toMatchObject({
      faults: [{ at: 'gateway.hooks.providers.clerk.claims.org_id' }],
    });
  });
});

describe('a sign-up with a policy that has no onSignUp', () => {
  it('says why nothing was created, and the mend', async () => {
    const { event, lineOf } = await start('clerk', {}, policyWith('claims.org_id', { onSignUp: [] }));
    const { data } = await event('created', newOrg());
    expect(data).toMatchObject({ provisioned: 0, hint: expect.stringContaining('onSignUp') });
    expect(lineOf('hook.accepted')).toMatchObject({ hint: expect.stringContaining('onSignUp') });
  });
});

describe('hostile requests', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom('', 't=', 't=1,v1=', `t=${startMs},v1=00`, 'v1,', 'v1,AAAA', 'Bearer ', 'Basic Og==', 'null'),
  );
  const json = fc.json({ maxDepth: 3 });

  it.each(kinds)('%s: never accepted without a right signature, and never a 500', async (kind) => {
    const { send, sign } = await start(kind);
    const names = Object.keys((await sign({})).headers);
    const right = await sign(samples[kind].event('created', newOrg(), startMs, 'hostile'));
    const headers = fc.dictionary(fc.constantFrom(...names, 'authorization', 'webhook-signature'), value);
    const bodies = fc.oneof(json, fc.string(), fc.constant(right.body));
    await fc.assert(
      fc.asyncProperty(headers, bodies, async (given, body) => {
        const printable = Object.fromEntries(
          Object.entries(given).map(([name, text]) => [name, text.replaceAll(/[^\x20-\x7e]/g, '')]),
        );
        if (kind === 'kinde' && body === right.body) return;
        const { status } = await send({ body, headers: printable });
        expect([400, 401]).toContain(status);
      }),
      { seed: 20_261_129, numRuns: 60 },
    );
  });

  it.each(kinds)('%s: a signed event of any JSON is never a 500', async (kind) => {
    const { send, sign } = await start(kind);
    const usual = samples[kind].event('created', newOrg(), startMs, 'any');
    const anyEvent = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc
        .tuple(fc.constantFrom(...Object.keys(usual)), fc.jsonValue({ maxDepth: 2 }))
        .map(([name, part]) => ({ ...usual, [name]: part })),
    );
    await fc.assert(
      fc.asyncProperty(anyEvent, async (event) => {
        // A JWT holds an object.
        const whole = typeof event === 'object' && event !== null && !Array.isArray(event) ? event : { event };
        const { status } = await send(await sign(whole as object));
        expect([200, 400]).toContain(status);
      }),
      { seed: 20_261_130, numRuns: 60 },
    );
  });
});
