/** The tenants of a session in the answer of `POST /embed-token`: of a reseller, and of nobody else. */
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/platform/http/interface/client.js';
import { type AnswerBody, analyst, type Overrides, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';
import { basePolicy, policyOf } from './policies.js';

type Own = { tenant?: string; tenants?: { id: string; name?: string }[] };
const path = '/api/v2/data-app/clients/names';
const nameOf = (id: string) => `Company ${id}`;

const listPolicy = (more: object = {}) =>
  policyOf({
    session: { ...basePolicy.session, claims: { ...basePolicy.session.claims, org_id: 'list<string>' } },
    ...more,
  });
const reseller = (...org_id: string[]) => ({ ...analyst, org_id });

const start = async (overrides: Overrides = {}) => {
  const capabilities = ['list-tenant-names'] as const;
  const started = await startGateway({ policy: listPolicy(), capabilities, ...overrides });
  const state = { isHanging: false };
  const asked: string[][] = [];
  started.upstream.state.intercept = ({ path: called, body }: WireRequest) => {
    if (called !== path) return undefined;
    const { clientIds } = body as { clientIds: string[] };
    asked.push(clientIds);
    if (state.isHanging) return new Promise(() => {});
    const names = clientIds.map((clientId) => ({ clientId, name: nameOf(clientId) }));
    return {
      status: 200,
      body: { data: { column: 'main.airports.name', clientIds, names, isWhole: true }, error: null },
    };
  };
  const own = async (claims: object, body?: unknown) => (await started.granted(claims, body)) as AnswerBody & Own;
  const raw = async (claims: object, body?: unknown) => {
    const response = await started.ask(claims, body);
    return { status: response.status, text: await response.text() };
  };
  return { ...started, state, asked, own, raw };
};

describe('a session of several tenants', () => {
  it('gets a token of the one that it chose, and its own tenants with their names', async () => {
    const { own, lastMint } = await start().then((on) => ({ ...on, lastMint: on.upstream.lastMint }));
    const answer = await own(reseller('LAX', 'SFO'), { tenant: 'SFO' });
    expect([answer.tenant, answer.tenants]).toEqual([
      'SFO',
      [
        { id: 'LAX', name: 'Company LAX' },
        { id: 'SFO', name: 'Company SFO' },
      ],
    ]);
    expect(lastMint()).toMatchObject({ clientId: 'SFO' });
  });

  it('is told what it may choose from where it chose nothing', async () => {
    const { raw } = await start();
    const { status, text } = await raw(reseller('LAX', 'SFO'));
    expect([status, JSON.parse(text).error]).toMatchObject([
      403,
      { code: 'NO_TENANT', reason: 'tenant-not-chosen', tenants: [{ id: 'LAX' }, { id: 'SFO', name: 'Company SFO' }] },
    ]);
  });

  it('is refused any tenant that is not its own, however it asks, and learns nothing of it', async () => {
    const { raw, asked, upstream } = await start();
    for (const session of [reseller('LAX', 'SFO'), reseller('LAX')]) {
      for (const tenant of ['ATL', 'lax', 'LAX ', 'LAX,SFO', '["LAX"]', 'LAX\u200b', '__proto__', '*']) {
        const { status, text } = await raw(session, { tenant });
        expect([tenant, status, JSON.parse(text).error.code]).toEqual([tenant, 403, 'NO_TENANT']);
        expect(text).not.toContain('ATL');
      }
      for (const tenant of [['LAX', 'ATL'], { id: 'ATL' }, null, '']) {
        expect([tenant, (await raw(session, { tenant })).status]).toEqual([tenant, 400]);
      }
    }
    expect(upstream.mints()).toEqual([]);
    expect(asked.flat().filter((id) => id !== 'LAX' && id !== 'SFO')).toEqual([]);
  });

  it('of which nothing may be opened any more names nobody', async () => {
    const { raw, run, own } = await start();
    await own(reseller('LAX', 'SFO'), { tenant: 'LAX' });
    for (const clientId of ['LAX', 'SFO']) await run('tenant-suspend', { clientId });
    const { text } = await raw(reseller('LAX', 'SFO'));
    expect(JSON.parse(text).error).not.toHaveProperty('tenants');
    expect(text).not.toContain('Company');
  });

  it('is told nothing, and to ask again, while nobody can say whether it still has access', async () => {
    const ledger = await openTestLedger();
    const transformQuery = (): never => {
      throw new Error('the ledger is away');
    };
    const away = ledger.db.withPlugin({ transformQuery, transformResult: async ({ result }) => result });
    const state = { isAway: false };
    const db = new Proxy(ledger.db, {
      get: (_, name) => {
        const source = state.isAway ? away : ledger.db;
        const value: unknown = Reflect.get(source, name);
        return typeof value === 'function' ? value.bind(source) : value;
      },
    });
    const { raw, lines } = await start({ ledger: { ...ledger, db } });
    state.isAway = true;
    const { status, text } = await raw(reseller('LAX', 'SFO'));
    state.isAway = false;
    expect([status, JSON.parse(text).error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(text).not.toMatch(/Company|SFO/);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'token.failed', reason: 'ledger-unreachable' }));
  });

  it('gets a cached token without a question to a data source, with the names that are in memory', async () => {
    const { own, asked, state, clock, upstream } = await start();
    const first = await own(reseller('LAX', 'SFO'), { tenant: 'LAX' });
    state.isHanging = true;
    clock.advance(1_000);
    const questions = asked.length;
    const again = await own(reseller('LAX', 'SFO'), { tenant: 'LAX' });
    expect([again.token, again.tenants]).toEqual([first.token, first.tenants]);
    expect([asked.length, upstream.mints().length]).toEqual([questions, 1]);
  });

  it('gets its token and its ids alone while the data source does not answer', async () => {
    const { own, state } = await start();
    state.isHanging = true;
    const answer = await own(reseller('LAX', 'SFO'), { tenant: 'LAX' });
    expect(answer.tenants).toEqual([{ id: 'LAX' }, { id: 'SFO' }]);
  });

  it('gets no name where a rule of the policy hides or masks the column, for anybody', async () => {
    for (const restrict of [
      { hideColumns: ['main.airports.name'] },
      { maskColumns: { 'main.airports.name': 'first' } },
    ]) {
      const restrictions = [{ name: 'names are secret', when: 'user.id == "somebody else"', restrict }];
      const { own, raw } = await start({ policy: listPolicy({ restrictions }) });
      const { tenants } = await own(reseller('LAX', 'SFO'), { tenant: 'LAX' });
      expect(tenants).toEqual([{ id: 'LAX' }, { id: 'SFO' }]);
      expect((await raw(reseller('LAX', 'SFO'))).text).not.toContain('Company');
    }
  });

  it('lists two hundred of more tenants, the chosen one among them', async () => {
    const { own } = await start();
    const ids = Array.from({ length: 250 }, (_, index) => `T${index}`);
    const { tenant, tenants = [] } = await own(reseller(...ids), { tenant: 'T249' });
    expect([tenant, tenants.length, tenants.some(({ id }) => id === 'T249')]).toEqual(['T249', 200, true]);
  });
});

describe('a session of one tenant', () => {
  it('gets an answer without tenants, and asks for no name', async () => {
    const { own, asked } = await start();
    const answer = await own(reseller('LAX'));
    expect(Object.keys(answer).toSorted()).toEqual(['embeds', 'expiresAt', 'refreshAfter', 'serviceUrl', 'token']);
    expect(asked).toEqual([]);
  });
});
