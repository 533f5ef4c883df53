/** The names of tenants at the gateway: whence they come, who waits for them, and who may never have one. */
import { describe, expect, it, vi } from 'vitest';
import { createTenantNames, tenantNamesCommand } from '../../src/gateway/tenant/names.js';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { fixedPolicies } from './fixed-policies.js';
import { captureLog, demoPolicy, gatewayToken, manager, type Overrides, startGateway } from './harness.js';

const path = '/api/v2/data-app/clients/names';
const known: Readonly<Record<string, string>> = { LAX: 'Los\u202eAngeles', SFO: '<b>San Francisco</b>' };
const nothingErased = {
  ...{ dashboards: 0, embeds: 0, metrics: 0, guestMetrics: 0, guestLayouts: 0, guestViews: 0, guestBoards: 0 },
  ...{ schedules: 0, guestTokens: 0 },
};
const capable: Overrides = { capabilities: ['list-tenant-names'] };

type Asked = { readonly datamartName: string; readonly clientIds?: string[]; readonly words?: string[] };
const askedOf = ({ body }: WireRequest) => body as Asked;

const start = async (overrides: Overrides = capable) => {
  const started = await startGateway(overrides);
  const asked: Asked[] = [];
  const state = { answers: (_: Asked): Promise<void> | void => {}, isWhole: true };
  started.upstream.state.intercept = (request) => {
    if (request.path === '/api/v2/data-app/clients') return { status: 200, body: { data: nothingErased, error: null } };
    if (request.path !== path) return undefined;
    const of = askedOf(request);
    asked.push(of);
    const data = () => ({
      column: 'main.airports.name',
      clientIds: [],
      names: Object.entries(known)
        .filter(([id, name]) => of.clientIds?.includes(id) ?? of.words?.every((word) => name.includes(word)))
        .map(([clientId, name]) => ({ clientId, name })),
      isWhole: state.isWhole,
    });
    const answer = () => ({
      status: 200,
      body: { data: state.isWhole ? data() : { ...data(), names: [] }, error: null },
    });
    const wait = state.answers(of);
    return wait === undefined ? answer() : wait.then(answer);
  };
  const names = async (input: object) => (await started.run('tenants-names', input)) as { names: unknown[] };
  return { ...started, asked, state, names };
};

describe('tenants-names', () => {
  it('answers names of ids without marks of direction, asks once for each, and again after ten minutes', async () => {
    const { names, asked, clock } = await start();
    const both = { clientIds: ['LAX', 'SFO', 'nobody'] };
    const expected = {
      names: [
        { clientId: 'LAX', name: 'Los Angeles' },
        { clientId: 'SFO', name: '<b>San Francisco</b>' },
      ],
    };
    expect(await names(both)).toEqual(expected);
    expect(await names(both)).toEqual(expected);
    expect(asked).toHaveLength(1);
    clock.advance(60_000);
    await names(both);
    expect(asked.at(-1)?.clientIds).toEqual(['nobody']);
    clock.advance(600_000);
    await names(both);
    expect(asked.at(-1)?.clientIds).toEqual(['LAX', 'SFO', 'nobody']);
  });

  it('finds tenants by words in their names', async () => {
    const { names } = await start();
    expect(await names({ words: ['San'] })).toEqual({ names: [{ clientId: 'SFO', name: '<b>San Francisco</b>' }] });
  });

  it('answers ids alone if the service is of another maker, fails, or its data source is away, and rests then', async () => {
    const other = await start({});
    expect(await other.names({ clientIds: ['LAX'] })).toEqual({ names: [] });
    expect(other.asked).toEqual([]);
    const away = await start();
    away.state.isWhole = false;
    for (const _ of [1, 2]) expect(await away.names({ clientIds: ['LAX'] })).toEqual({ names: [] });
    expect(away.asked).toHaveLength(1);
    away.state.isWhole = true;
    away.clock.advance(31_000);
    expect((await away.names({ clientIds: ['LAX'] })).names).toHaveLength(1);
    const failing = await start();
    failing.state.answers = () => Promise.reject(new Error('the service is away'));
    expect(await failing.names({ clientIds: ['LAX'] })).toEqual({ names: [] });
    expect(failing.lines.filter(({ event }) => event === 'tenant_names.failed')).toHaveLength(1);
  });

  it('keeps a name that is known while the data source is away', async () => {
    const { names, state, clock } = await start();
    await names({ clientIds: ['LAX'] });
    state.isWhole = false;
    clock.advance(700_000);
    expect((await names({ clientIds: ['LAX'] })).names).toHaveLength(1);
  });

  it('does not wait for a service that never answers', async () => {
    let late = (): void => {};
    const names = createTenantNames({
      upstream: () => new Promise(() => {}),
      capabilities: { supports: async () => true },
      policies: fixedPolicies(demoPolicy),
      ...{ clock: { now: () => new Date(0) }, log: captureLog().log },
      timing: {
        nowMs: () => 0,
        after: (_, run) => {
          late = run;
          return () => {};
        },
      },
    });
    const answer = names.command.run({ clientIds: ['LAX'] });
    await vi.waitFor(() => {
      late();
      return answer;
    });
    expect(await answer).toEqual({ names: [] });
  });

  it('forgets the name of a tenant that is erased', async () => {
    const { names, asked, granted, run } = await start({ capabilities: ['list-tenant-names', 'erase-client'] });
    await granted({ ...manager, org_id: 'LAX' });
    await names({ clientIds: ['LAX'] });
    await run('tenant-delete', { clientId: 'LAX' });
    await names({ clientIds: ['LAX'] });
    expect(asked).toHaveLength(2);
  });

  it('is for people who may see data, and needs the gateway token on the command line', async () => {
    expect(tenantNamesCommand.reads).toBe('rows');
    const { url } = await start();
    const call = (authorization: string) =>
      fetch(`${url}/gateway/admin/tenants-names`, {
        method: 'POST',
        headers: { authorization },
        body: JSON.stringify({ clientIds: ['LAX'] }),
      });
    expect((await call('Bearer wrong')).status).toBe(401);
    expect((await call(`Bearer ${gatewayToken}`)).status).toBe(200);
  });

  it('leaves names out of the log and of every other call to the service', async () => {
    const { names, lines, upstream, granted } = await start();
    await names({ clientIds: ['LAX', 'SFO'] });
    await granted({ ...manager, org_id: 'LAX' });
    expect(JSON.stringify(lines)).not.toMatch(/Angeles|Francisco/);
    expect(JSON.stringify(upstream.calls)).not.toMatch(/Angeles|Francisco/);
  });
});
