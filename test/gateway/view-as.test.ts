/** A view as another user: the same steps and the same rights as for that user's own request, in a token of its own. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exportAudit, exportInput } from '../../src/gateway/audit/read.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { viewAsInput } from '../../src/gateway/view-as.js';
import { analyst, regional, startGateway } from './harness.js';
import { policyOf } from './policies.js';
import { bodyOf, claimsOf, documentOf, policyModel, user } from './policy-models.js';

const viewing = { by: 'link operator', requestId: 'the-view', mayProvision: true };
const inputOf = (clientId: string, claims: object, more: object = {}) =>
  viewAsInput.parse({ clientId, claims, ...more });

test('a view of a user has that user’s rights in a token of its own, with the rules that decided', async () => {
  const { granted, viewAs, upstream } = await startGateway();
  const own = await granted(regional);
  const minted = upstream.lastMint();
  const view = await viewAs(inputOf('SFO', regional), viewing);
  expect([upstream.lastMint(), view.embeds]).toEqual([minted, own.embeds]);
  expect(view.token).not.toBe(own.token);
  expect(view.because.map(({ kind, at }) => [kind, at.split(':')[0]])).toEqual([
    ['rule', 'flights.yaml'],
    ['restriction', 'flights.yaml'],
  ]);
});

test('a view does not tell whether its user has a token, and since when', async () => {
  const views = [true, false].map(async (isLoggedIn) => {
    const { granted, viewAs, upstream, clock } = await startGateway();
    if (isLoggedIn) await granted(regional);
    clock.advance(60_000);
    const before = upstream.lastMint();
    const { expiresAt, refreshAfter } = await viewAs(inputOf('SFO', regional), viewing);
    return { expiresAt, refreshAfter, isMinted: upstream.lastMint() !== before };
  });
  const [known, unknown] = await Promise.all(views);
  expect(known).toEqual(unknown);
});

test('a view has the restrictions of the claims that it names, and nothing more than they grant', async () => {
  const { viewAs, upstream } = await startGateway();
  await viewAs(inputOf('SFO', regional), viewing);
  expect(upstream.lastMint()).toMatchObject({
    clientId: 'SFO',
    params: { allowedEmbeds: ['delays--SFO'], dashboardAppFilters: [{ values: { 'Destination state': 'CA' } }] },
  });
  const minted = upstream.calls.length;
  await expect(viewAs(inputOf('LAX', { sub: 'nobody', org_id: 'LAX', roles: [] }), viewing)).rejects.toMatchObject({
    code: 'NO_POLICY',
  });
  await expect(viewAs(inputOf('LAX', analyst, { embeds: ['routes'] }), viewing)).rejects.toMatchObject({
    code: 'EMBED_NOT_GRANTED',
  });
  expect(upstream.calls.length).toBe(minted);
});

test('a view of someone who may not provision creates nothing, and names what the tenant lacks', async () => {
  const { viewAs, upstream, ledger } = await startGateway({
    policy: policyOf({ rules: [{ name: 'all', when: 'true', grant: { templates: ['delays', 'routes'] } }] }),
  });
  const looking = { ...viewing, mayProvision: false };
  const rows = async () => [
    await ledger.db.selectFrom('tenants').selectAll().execute(),
    await ledger.db.selectFrom('dashboards').selectAll().execute(),
  ];
  const before = await rows();
  await expect(viewAs(inputOf('LAX', analyst), looking)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', reason: 'view-without-dashboards' },
    message: expect.stringContaining('may open: delays, routes. Your roles do not create dashboards.'),
  });
  expect([await rows(), upstream.calls.filter(({ method }) => method !== 'GET')]).toEqual([before, []]);
  const one = await viewAs(inputOf('LAX', analyst, { embeds: ['delays'] }), viewing);
  expect([one.embeds.map(({ id }) => id), one.missing]).toEqual([['delays--LAX'], []]);
  const created = await rows();
  const seen = await viewAs(inputOf('LAX', analyst), looking);
  expect([seen.embeds.map(({ id }) => id), seen.missing]).toEqual([['delays--LAX'], ['routes']]);
  expect(await rows()).toEqual(created);
  const whole = await viewAs(inputOf('LAX', analyst), viewing);
  expect([whole.embeds.map(({ id }) => id), whole.missing]).toEqual([['delays--LAX', 'routes--LAX'], []]);
});

test('a view of a suspended tenant is refused, as its users are', async () => {
  const { viewAs, run } = await startGateway();
  await run('tenant-suspend', { clientId: 'LAX' });
  await expect(viewAs(inputOf('LAX', analyst), viewing)).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
});

test('a view is in the audit before it is answered, with who looked as whom, whether or not anything is granted', async () => {
  const { viewAs, ledger } = await startGateway();
  await viewAs(inputOf('LAX', analyst), viewing);
  await viewAs(inputOf('LAX', { ...analyst, roles: [] }), viewing).catch(() => {});
  const { lines } = await exportAudit(ledger, exportInput.parse({ kind: 'admin' }));
  const looks = lines.map((line) => JSON.parse(line)).map(({ requestId, detail }) => [requestId, detail]);
  const look = ['the-view', { command: 'view-as', operator: 'link operator' }];
  expect(looks).toEqual([look, look]);
});

test('what names no user or an impossible moment is refused with the field', () => {
  for (const bad of [
    { clientId: 'LAX', claims: {} },
    { clientId: 'LAX', claims: analyst, at: 'tomorrow' },
    { claims: analyst },
  ]) {
    expect(viewAsInput.safeParse(bad).success).toBe(false);
  }
});

test('for random policies and users, a view has that user’s rights, or is refused with the same code', async () => {
  const outcomes = { granted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(policyModel, fc.array(user, { minLength: 1, maxLength: 5 }), async (model, users) => {
      const { ask, viewAs, upstream } = await startGateway({
        policy: loadPolicy(JSON.stringify(documentOf(model)), 'p.yaml'),
      });
      for (const [index, one] of users.entries()) {
        const clientId = model.tenant === 'ATL' ? 'ATL' : one.org;
        const claims = { ...claimsOf(one), iss: 'guestlist-demo', sub: `user-${index}` };
        const look = () =>
          viewAs(inputOf(clientId, claims, bodyOf(one)), viewing).then(
            ({ embeds }) => ({ embeds, request: upstream.lastMint() }),
            ({ code }: { code: string }) => ({ code }),
          );
        const own = async () => {
          const response = await ask(claims, bodyOf(one));
          if (response.status !== 200)
            return { code: ((await response.json()) as { error: { code: string } }).error.code };
          const { embeds } = (await response.json()) as { embeds: unknown };
          return { embeds, request: upstream.lastMint() };
        };
        const isViewFirst = index % 2 === 0;
        const first = isViewFirst ? await look() : await own();
        expect(isViewFirst ? await own() : await look()).toEqual(first);
        outcomes['code' in first ? 'refused' : 'granted'] += 1;
      }
    }),
    { numRuns: 60 },
  );
  expect(Math.min(outcomes.granted, outcomes.refused)).toBeGreaterThan(10);
}, 60_000);
