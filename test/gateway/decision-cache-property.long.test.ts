/**
 * A gateway with a decision cache gives the same answer to every request as a gateway without one, whatever happens
 * between the requests. Each gateway has its own ledger, service and token cache; both use the same clock, policies and
 * keys.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { createAudit } from '../../src/gateway/audit/writer.js';
import type { Ledger } from '../../src/gateway/ledger/ledger.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { capabilityNames } from '../../src/model/capability.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { type JwtKeys, secretKey } from '../../src/platform/keys/jwt-keys.js';
import {
  captureLog,
  createMovableClock,
  demoSecret,
  gatewayToken,
  hostSecret,
  sign,
  startGateway,
  startSeconds,
} from './harness.js';
import { openSecondLedger, openTestLedger } from './ledgers.js';
import { basePolicy, changeablePolicies } from './policies.js';
import { createScriptedUpstream } from './scripted-upstream.js';

const rule = (name: string, when: string, templates: readonly string[], more: object = {}) => ({
  name,
  when,
  grant: { templates, ...more },
});
const all = rule('all', 'true', ['delays']);
const managers = rule('managers', '"manager" in user.roles', ['routes'], { permissions: ['isEnableUnderlyingData'] });
const regional = (restrict: object) => ({ name: 'regional', when: '"regional" in user.roles', restrict });

/** One policy for each input that a decision may depend on. `first` occurs twice, since a policy may be restored. */
const variants: readonly object[] = [
  { rules: [all, managers], restrictions: [regional({ dashboardFilters: { State: 'user.claims.region' } })] },
  { rules: [all, managers], restrictions: [regional({ rls: { state: 'user.claims.region' } })] },
  { rules: [all], restrictions: [regional({ hideMetrics: { delays: ['Average delay'] } })] },
  { rules: [rule('request', 'true', ['delays', 'routes'], { timezone: 'request', expiryMinutes: 5 })] },
  { rules: [rule('minutes', 'now.getMinutes() % 2 == 0', ['routes']), all] },
  {
    rules: [all],
    restrictions: [{ name: 'seconds', when: 'now.getSeconds() < 30', restrict: { rls: { s: '"CA"' } } }],
  },
  { rules: [rule('shared', 'true', ['delays'], { embeds: ['shared-board'] })] },
  { rules: [all, rule('level', 'user.claims.level > 1', ['third-one'])], templates: { ...basePolicy.templates } },
  {
    rules: [all, managers],
    tenants: [{ name: 'own', clientIds: ['LAX'], expiryMinutes: 10, templates: { delays: { name: 'Of the west' } } }],
  },
  { session: { ...basePolicy.session, tenant: { key: 'claims.org_id', table: 'tenants.csv' } } },
  {
    rules: [all, managers],
    templates: { ...basePolicy.templates, routes: { name: 'Routes', provisioning: 'best-effort' } },
  },
];
const tables = ['LAX,LAX,\nSFO,SFO,\n', 'LAX,SFO,\nSFO,LAX,\n', 'LAX,LAX,ATL\n', 'SFO,SFO,\n'];
const session = { ...basePolicy.session, tenant: 'has(claims.orgs) ? claims.orgs : [claims.org_id]' };

const issuer = 'guestlist-demo';
const users: readonly object[] = [
  { iss: issuer, sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
  { iss: issuer, sub: 'ann', org_id: 'LAX', roles: ['analyst', 'manager'], level: 2 },
  { iss: issuer, sub: 'ann', org_id: 'SFO', roles: ['regional'], region: 'CA' },
  { iss: issuer, sub: 'ann', org_id: 'SFO', roles: ['regional'], region: 'NY' },
  { iss: issuer, sub: 'bob', org_id: 'LAX', roles: ['manager', 'regional'], region: 'CA', level: 1 },
  { iss: issuer, sub: 'both', org_id: 'LAX', orgs: ['LAX', 'SFO'], roles: [] },
  { iss: 'https://host.example', aud: 'guestlist', sub: 'ann', org_id: 'LAX', roles: ['analyst'] },
];
const bodies: readonly (object | undefined)[] = [
  undefined,
  {},
  { embeds: ['delays'] },
  { embeds: ['routes'] },
  { tenant: 'SFO' },
  { tenant: 'LAX' },
  { timezone: 'Europe/Lisbon' },
  { timezone: 'Asia/Kolkata' },
];
const clients = ['LAX', 'SFO', 'ATL'];

const admin = (command: string, input: object) => ({ kind: 'admin' as const, command, input });
const clientId = fc.constantFrom(...clients);
const isEnding = fc.boolean();
const revocation = fc.oneof(
  clientId.map((tenant) => admin('revoke', { by: 'tenant', tenant, reason: 'r' })),
  fc
    .record({ tenant: clientId, endsSessions: isEnding })
    .map((of) => admin('revoke', { by: 'tenant', ...of, reason: 'r' })),
  fc.constant(admin('revoke', { by: 'user', subject: 'ann', issuer, reason: 'r' })),
  clientId.map((tenant) => admin('revoke', { by: 'user', subject: 'bob', issuer, tenant, reason: 'r' })),
  fc.constant(admin('revoke', { by: 'policy', reason: 'r' })),
  isEnding.map((endsSessions) => admin('revoke', { by: 'all', endsSessions, reason: 'r' })),
  fc.constant(admin('unrevoke', { by: 'all', reason: 'r' })),
);
const life = fc
  .tuple(fc.constantFrom('tenant-suspend', 'tenant-resume', 'tenant-resume', 'tenant-delete'), clientId)
  .map(([command, id]) => admin(command, { clientId: id }));

const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      user: fc.nat(users.length - 1),
      body: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(bodies.length - 1) }),
      isNewSession: fc.nat(4).map((n) => n === 0),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('policy' as const), variant: fc.nat(variants.length - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('table' as const), table: fc.nat(tables.length - 1) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.constantFrom(1, 900, 5_000, 31_000, 61_000, 290_000, 1_900_000, 3_300_000),
    }),
  },
  { weight: 4, arbitrary: revocation },
  { weight: 3, arbitrary: life },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('metrics' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('keys' as const), isHeld: fc.nat(3).map((n) => n > 0) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('service' as const),
      fails: fc.constantFrom('', '', '/guest-token/create', '/data-app/metrics', 'dashboard-embeds'),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The state that both gateways share. */
const createWorld = () => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-decisions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const writeTable = (text: string): void => writeFileSync(join(folder, 'tenants.csv'), `key,tenant,tenant\n${text}`);
  writeTable(tables[0] ?? '');
  const policies = variants.map((variant, index) =>
    loadPolicy(JSON.stringify({ ...basePolicy, session, ...variant }), join(folder, `policy-${index}.yaml`)),
  );
  const clock = createMovableClock();
  const state = { isKeyHeld: true };
  const keyOf = (secret: string): JwtKeys => {
    const key = secretKey(secret).key;
    return { find: () => (state.isKeyHeld ? [key] : []), holds: () => state.isKeyHeld };
  };
  return { policies, clock, state, keyOf, writeTable };
};
type World = ReturnType<typeof createWorld>;

const startOne = async (
  { policies, clock, keyOf }: World,
  ledger: Ledger,
  more: { readonly decisionCacheBytes?: number },
) => {
  const upstream = createScriptedUpstream();
  const shared = { name: 'Shared', metadata: null, metrics: upstream.state.metricsOf('shared-board') };
  upstream.dashboards.set('shared-board', { embedId: 'shared-board', ...shared });
  const followed = changeablePolicies(policies[0] as Policy);
  const { log } = captureLog();
  const issuers = [
    { issuer, algorithms: ['HS256' as const], keys: keyOf(demoSecret), clockToleranceSeconds: 0 },
    {
      ...{ issuer: 'https://host.example', algorithms: ['HS256' as const], keys: keyOf(hostSecret) },
      ...{ audience: 'guestlist', clockToleranceSeconds: 5 },
    },
  ];
  const gateway = await startGateway({
    ledger,
    clock,
    issuers,
    policies: followed,
    cache: createMemoryCache({ clock }),
    audit: createAudit({ ledger, clock, log }),
    upstream: {
      transport: upstream.transport,
      apiKey: 'the-api-key',
      baseUrl: 'http://service.test',
      capabilities: {
        supports: async (name) => capabilityNames.includes(name) && name !== 'erase-client',
        requireCapability: async () => {},
      },
    },
    ...more,
  });
  return { ...gateway, upstream, change: followed.change };
};
type Started = Awaited<ReturnType<typeof startOne>>;

/** Each run takes about three seconds. */
const numRuns = Number(process.env.KEPT_RUNS ?? 6);

const answerOf = async (response: Response) => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  body: (await response.json()) as unknown,
});

/** Runs a step at one gateway and returns its result; undefined for a step without a result. */
const take = async (started: Started, world: World, taken: Step, token: string): Promise<unknown> => {
  const { url, ask, upstream, change } = started;
  switch (taken.kind) {
    case 'ask':
      return answerOf(await ask(token, bodies[taken.body]));
    case 'policy':
      return change(world.policies[taken.variant] as Policy);
    case 'admin': {
      const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' };
      const body = JSON.stringify(taken.input);
      const response = await fetch(`${url}/gateway/admin/${taken.command}`, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    }
    case 'metrics':
      for (const [id, dashboard] of upstream.dashboards) {
        dashboard.metrics = Array.from({ length: taken.count }, (_, index) => ({
          ...{ name: index === 0 ? 'Average delay' : `Metric ${index}`, metricId: `${id}/m${index}` },
        }));
      }
      return undefined;
    case 'service':
      upstream.state.intercept = ({ path }) =>
        taken.fails !== '' && path.includes(taken.fails) ? upstream.refusal(500, 'INTERNAL_SERVER_ERROR') : undefined;
      return undefined;
    default:
      return undefined;
  }
};

/** Applies a step to the shared state. */
const move = async ({ clock, state, policies, writeTable }: World, taken: Step): Promise<void> => {
  if (taken.kind === 'time') clock.advance(taken.ms);
  if (taken.kind === 'keys') state.isKeyHeld = taken.isHeld;
  if (taken.kind !== 'table') return;
  writeTable(tables[taken.table] ?? '');
  for (const { tenant } of policies) if (tenant.by === 'table') await tenant.table.reload();
};

const createSessions = ({ clock }: World) => {
  const last = new Map<number, string>();
  return (user: number, isNew: boolean): string => {
    const known = last.get(user);
    if (known !== undefined && !isNew) return known;
    const iat = Math.floor(clock.now().getTime() / 1000);
    const claims = { ...users[user], iat, exp: startSeconds + 40_000, jti: `${last.size} ${iat}` };
    const token = sign(claims, 'aud' in claims ? hostSecret : demoSecret);
    last.set(user, token);
    return token;
  };
};

/** Removes the request's id from an answer; a 403 repeats it. */
const withoutReference = (answer: unknown): unknown => {
  const text = JSON.stringify(answer);
  const id = /"requestId":"([^"]+)"/.exec(text ?? '')?.[1];
  return id === undefined ? answer : JSON.parse(text.replaceAll(id, 'id'));
};

it('a gateway with a decision cache always answers like one without', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 90 }), async (steps) => {
      const world = createWorld();
      const keeping = await startOne(world, await openTestLedger(), {});
      const plain = await startOne(world, await openSecondLedger(), { decisionCacheBytes: 1 });
      const sessionOf = createSessions(world);
      for (const [index, taken] of steps.entries()) {
        await move(world, taken);
        // Each request is sent twice, since the second one may be answered from the cache.
        for (let time = 0; time < (taken.kind === 'ask' ? 2 : 1); time += 1) {
          const token = taken.kind === 'ask' ? sessionOf(taken.user, taken.isNewSession && time === 0) : '';
          const [kept, decided] = [await take(keeping, world, taken, token), await take(plain, world, taken, token)];
          expect(withoutReference(kept), `step ${index}: ${JSON.stringify(taken)}`).toEqual(withoutReference(decided));
          if (taken.kind === 'ask' && Reflect.get(Object(kept), 'status') === 200) answered += 1;
        }
      }
      // Each gateway has a ledger of its own, and so an id of its own.
      const mintsOf = ({ upstream }: typeof plain) => upstream.mints().map((mint) => ({ ...mint, gateway: 'own' }));
      expect(mintsOf(keeping)).toEqual(mintsOf(plain));
    }),
    { numRuns, endOnFailure: process.env.KEPT_SHRINK === undefined },
  );
  expect(answered).toBeGreaterThan(2 * numRuns);
}, 300_000);
