import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { gatewayToken, manager, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { policyOf } from './policies.js';

type Dashboard = { template: string; step: string; failure: { reason: string } | null };
type Listed = { clientId: string | null; state: string; outcome: string; dashboards: Dashboard[] };
type Provisioned = {
  clientId: string;
  outcome: string;
  reason?: string;
  dashboards: { template: string; outcome: string; reason?: string }[];
};
type Answer<T> = { tenants: T[]; next: string | null };

const start = async (policyChange: object = { onSignUp: ['delays', 'routes'] }) => {
  const ledger = await openTestLedger();
  const started = await startGateway({ ledger, policy: policyOf(policyChange) });
  const command = async (name: string, input: object) => {
    const response = await fetch(`${started.url}/gateway/admin/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}` },
      body: JSON.stringify(input),
    });
    return (await response.json()) as { data: unknown; error: { code: string; message: string } | null };
  };
  const list = async (input: object = {}) => (await command('tenants-list', input)).data as Answer<Listed>;
  const provision = async (input: object) => (await command('tenants-provision', input)).data as Answer<Provisioned>;
  const setState = (clientId: string, state: 'suspended' | 'deleted') =>
    ledger.db
      .updateTable('tenants')
      .set({ state, ...(state === 'deleted' ? { client_id: null } : {}) })
      .where('tenant_ref', '=', ledger.refOf(clientId))
      .execute();
  return { ...started, ledger, command, list, provision, setState };
};

describe('tenants-list', () => {
  it('shows each tenant once, page by page, with its dashboards; a deleted one without its name', async () => {
    const { granted, list, setState } = await start();
    const clients = ['A', 'B', 'C', 'D', 'E'];
    for (const org_id of clients) await granted({ ...manager, org_id });
    await setState('C', 'deleted');
    const seen: (string | null)[] = [];
    let after: string | null = null;
    do {
      const page: Answer<Listed> = await list({ limit: 2, ...(after === null ? {} : { after }) });
      seen.push(...page.tenants.map(({ clientId }) => clientId));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual([null, 'A', 'B', 'D', 'E']);
    const one = await list({ clientId: 'A' });
    expect(one).toMatchObject({
      tenants: [
        {
          clientId: 'A',
          state: 'active',
          outcome: 'complete',
          dashboards: [
            { template: 'delays', dashboardId: 'delays--A', step: 'ready', failure: null },
            { template: 'routes', dashboardId: 'routes--A', step: 'ready', failure: null },
          ],
        },
      ],
      next: null,
    });
    expect((await list({ state: 'deleted' })).tenants.map(({ clientId }) => clientId)).toEqual([null]);
  });

  it('finds tenants whose names contain all words, which hold no wildcards', async () => {
    const { granted, list, command, setState } = await start();
    for (const org_id of ['Acme North', 'acme-south', 'other_one', 'acme-gone']) await granted({ ...manager, org_id });
    await setState('acme-gone', 'deleted');
    const find = async (...contains: string[]) => (await list({ contains })).tenants.map(({ clientId }) => clientId);
    expect(await find('ACME')).toEqual(['Acme North', 'acme-south']);
    expect(await find('acme', 'north')).toEqual(['Acme North']);
    expect(await find('r_o')).toEqual(['other_one']);
    for (const word of ['%', 'e_t', "'", 'e_o%']) expect(await find(word)).toEqual([]);
    const page = await list({ contains: ['acme'], limit: 1 });
    expect((await list({ contains: ['acme'], limit: 1, after: page.next })).tenants).toMatchObject([
      { clientId: 'acme-south' },
    ]);
    for (const contains of [[''], ['\u0000'], 'acme', Array.from({ length: 9 }, () => 'a')])
      expect((await command('tenants-list', { contains })).error?.code).toBe('INVALID_REQUEST_BODY');
  });

  it('counts the tokens of each tenant and says when the last one was minted, if asked; of an erased one nothing', async () => {
    const { granted, list, command } = await start();
    await granted({ ...manager, org_id: 'A' });
    await granted({ ...manager, org_id: 'A', sub: 'other', roles: ['analyst'] });
    await granted({ ...manager, org_id: 'B' });
    const usage = async () => {
      const { tenants } = (await list({ usage: true })) as unknown as Answer<
        Pick<Listed, 'clientId'> & { usage: { mints: number; lastMintAt: string | null } }
      >;
      return tenants.map(({ clientId, usage: { mints, lastMintAt } }) => [clientId, mints, lastMintAt !== null]);
    };
    expect(await usage()).toEqual([
      ['A', 2, true],
      ['B', 1, true],
    ]);
    expect((await list()).tenants.filter((tenant) => 'usage' in tenant)).toEqual([]);
    await command('tenant-delete', { clientId: 'A' });
    expect(await usage()).toEqual([
      [null, 0, false],
      ['B', 1, true],
    ]);
  });

  it('finds tenants whose provisioning failed, with the step and the reason', async () => {
    const { refused, granted, list, upstream, clock, ledger } = await start();
    await granted({ ...manager, org_id: 'GOOD' });
    upstream.state.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('routes--BAD')
        ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR')
        : undefined;
    await refused({ ...manager, org_id: 'BAD' });
    const { tenants } = await list({ outcome: 'failed' });
    expect(tenants).toMatchObject([
      {
        clientId: 'BAD',
        outcome: 'failed',
        dashboards: [
          { template: 'delays', step: 'ready' },
          {
            template: 'routes',
            step: 'failed',
            failure: { step: 'create', reason: 'provisioning-refused', failures: 1 },
          },
        ],
      },
    ]);
    await ledger.db
      .insertInto('tenants')
      .values({
        tenant_ref: 'x',
        client_id: 'NONE',
        state: 'active',
        created_at: clock.now(),
        updated_at: clock.now(),
      })
      .execute();
    const names = async (outcome: string) => (await list({ outcome })).tenants.map(({ clientId }) => clientId);
    expect(await names('complete')).toEqual(['GOOD']);
    expect(await names('none')).toEqual(['NONE']);
    expect(await names('unfinished')).toEqual([]);
  });

  it("finds tenants by a template's version or its first characters; wildcards have no special meaning", async () => {
    const { granted, list, ledger } = await start();
    for (const org_id of ['A', 'B']) await granted({ ...manager, org_id }, { embeds: ['delays'] });
    const template_version = `e155%${'0'.repeat(59)}`;
    await ledger.db
      .updateTable('dashboards')
      .set({ template_version })
      .where('dashboard_id', '=', 'delays--A')
      .execute();
    const found = async (version: string) => (await list({ version })).tenants.map(({ clientId }) => clientId);
    expect(await found(template_version)).toEqual(['A']);
    expect(await found('e155')).toEqual(['A']);
    for (const version of ['e15_', '%', 'E155', '155']) expect(await found(version), version).toEqual([]);
  });

  it('reports a wrong filter or cursor', async () => {
    const { command } = await start();
    for (const input of [{ after: 'x' }, { after: 'W10' }, { state: 'gone' }, { limit: 0 }, { outcome: "'" }]) {
      expect((await command('tenants-list', input)).error?.code).toBe('INVALID_REQUEST_BODY');
    }
  });
});

describe('tenants-provision', () => {
  it('creates the dashboards of onSignUp for all active tenants of the ledger, page by page, each once', async () => {
    const { granted, provision, list, upstream, setState } = await start();
    for (const org_id of ['A', 'B', 'C', 'D', 'E']) await granted({ ...manager, org_id }, { embeds: ['delays'] });
    await setState('B', 'suspended');
    await setState('C', 'deleted');
    const before = upstream.created().length;
    const first = await provision({ limit: 2 });
    expect(first.tenants.map(({ clientId, outcome }) => [clientId, outcome])).toEqual([
      ['A', 'complete'],
      ['D', 'complete'],
    ]);
    const second = await provision({ limit: 2, after: first.next });
    expect(second.tenants.map(({ clientId }) => clientId)).toEqual(['E']);
    expect(second.next).toBeNull();
    expect(upstream.created().length - before).toBe(3);
    await provision({});
    expect(upstream.created().length - before).toBe(3);
    expect((await list({ template: 'routes' })).tenants.map(({ clientId }) => clientId)).toEqual(['A', 'D', 'E']);
  });

  it('reports each tenant, and continues if one fails', async () => {
    const { granted, provision, upstream, setState } = await start();
    for (const org_id of ['A', 'B', 'S']) await granted({ ...manager, org_id }, { embeds: ['delays'] });
    await setState('S', 'suspended');
    upstream.state.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('routes--A') ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
    const { tenants } = await provision({ clientIds: ['A', 'B', 'S', 'NEW'] });
    expect(tenants).toMatchObject([
      {
        clientId: 'A',
        outcome: 'partial',
        dashboards: [
          { template: 'delays', outcome: 'ready' },
          { template: 'routes', outcome: 'failed', reason: 'provisioning-refused' },
        ],
      },
      { clientId: 'B', outcome: 'complete' },
      { clientId: 'S', outcome: 'skipped', reason: 'suspended' },
      { clientId: 'NEW', outcome: 'skipped', reason: 'not-in-the-ledger' },
    ]);
    upstream.state.intercept = () => undefined;
    expect((await provision({ clientIds: ['A'] })).tenants).toMatchObject([{ outcome: 'complete' }]);
    expect((await provision({ clientIds: ['NEW'], isNew: true })).tenants).toMatchObject([{ outcome: 'complete' }]);
    expect(upstream.dashboards.has('routes--NEW')).toBe(true);
  });

  it('retries failed dashboards at once, and accepts named templates', async () => {
    const templates = { delays: { name: 'Delays' }, routes: { name: 'Routes', provisioning: 'best-effort' } };
    const rules = [{ name: 'all', when: 'true', grant: { templates: ['delays', 'routes'] } }];
    const { granted, provision, upstream } = await start({ templates, rules });
    upstream.state.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('routes--A') ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
    expect((await granted({ ...manager, org_id: 'A' })).embeds).toHaveLength(1);
    upstream.state.intercept = () => undefined;
    expect((await provision({ clientIds: ['A'], templates: ['routes'] })).tenants).toMatchObject([
      { outcome: 'complete', dashboards: [{ template: 'routes', outcome: 'ready' }] },
    ]);
    expect((await granted({ ...manager, org_id: 'A' })).embeds).toHaveLength(2);
  });

  it('creates them by the policy of that tenant', async () => {
    const tenants = [{ name: 'west', clientIds: ['A'], templates: { delays: { name: 'Delays in the west' } } }];
    const { provision, upstream } = await start({ onSignUp: ['delays'], tenants });
    await provision({ clientIds: ['A', 'B'], isNew: true });
    await provision({ clientIds: ['A'], templates: ['routes'] });
    expect([...upstream.dashboards].map(([id, { name }]) => [id, name]).toSorted()).toEqual([
      ['delays--A', 'Delays in the west'],
      ['delays--B', 'Delays'],
      ['routes--A', 'Routes'],
    ]);
  });

  it('refuses unknown names, and a request to create nothing', async () => {
    const { command } = await start({});
    const messageOf = async (input: object) => (await command('tenants-provision', input)).error?.message;
    expect(await messageOf({ templates: ['nothing'] })).toContain('delays, routes');
    expect(await messageOf({})).toContain('onSignUp');
    expect(await messageOf({ clientIds: ['a\u0001b'], templates: ['delays'] })).toContain('control characters');
  });
});

describe('tenant-delete', () => {
  it('erases a tenant beside a revocation that the database cannot read as JSON', async () => {
    const { granted, command, ledger } = await start();
    await granted({ ...manager, org_id: 'A' });
    await ledger.db
      .insertInto('pending_revocations')
      .values({
        ...{ id: randomUUID(), target: JSON.stringify({ by: 'tenant', clientId: 'a\u0000"b\ud800' }), attempts: 1 },
        ...{ attempt_at: new Date('2999-01-01'), claimed_by: null, created_at: new Date() },
      })
      .execute();
    expect(await command('tenant-delete', { clientId: 'A' })).toMatchObject({ data: { state: 'deleted' } });
  });

  it.each(['a\u0000', 'a\u0007', '\ud800'])(
    'refuses %j, which no session names, as revocations do',
    async (clientId) => {
      const { command, ledger } = await start();
      for (const name of ['tenant-delete', 'tenant-suspend', 'tenant-resume', 'erasure-report'])
        expect((await command(name, { clientId })).error?.code).toBe('INVALID_REQUEST_BODY');
      for (const target of [
        { by: 'tenant', tenant: clientId },
        { by: 'user', subject: clientId, issuer: null },
      ])
        expect((await command('revoke', { ...target, reason: 'r' })).error?.code).toBe('INVALID_REQUEST_BODY');
      expect(await ledger.db.selectFrom('pending_revocations').selectAll().execute()).toEqual([]);
    },
  );
});
