/** Questions that are asked again: which, when, how many, and as whom. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import type { ContentRevision, Epoch } from '../../src/model/brand.js';
import type { GuestCaller, LiveGrant } from '../../src/model/guest/caller.js';
import type { GuestQuery } from '../../src/model/guest/view.js';
import type { WarmUp, WarmUpSettings } from '../../src/model/guest/warm-up.js';
import { noUse } from '../../src/model/usage.js';
import { createWarmUp } from '../../src/service/guest/warm-up.js';
import { stays } from '../engine/world.js';

const grantOf = (clientId: string, parts: Partial<LiveGrant> = {}): LiveGrant =>
  ({
    ...{ id: `token of ${clientId}`, dataAppId: 'app', clientId, userIdentifier: 'ann', appFilters: [] },
    ...{ epoch: '0/0' as Epoch, revision: '1' as ContentRevision, createdAt: new Date(0), expiresAt: new Date(1) },
    ...parts,
  }) as unknown as LiveGrant;
const callerOf = (grant: LiveGrant): GuestCaller => ({ kind: 'guest', grant });

describe('the warm-up', () => {
  let now: Date;
  /** The tokens that are stored. */
  let stored: Map<string, LiveGrant>;
  let asked: { readonly caller: GuestCaller; readonly query: GuestQuery }[];
  let fail: (query: GuestQuery) => void;
  let warmUp: WarmUp;
  const create = (settings: Partial<WarmUpSettings> = {}): WarmUp =>
    createWarmUp(
      {
        store: { guestTokens: { findById: async (id: string) => stored.get(id) } } as never,
        clock: { now: () => now },
        calendar,
        digest: (text) => createHash('sha256').update(text).digest('hex'),
        ask: async (caller, query) => {
          fail(query);
          asked.push({ caller, query });
        },
        use: noUse,
      },
      { at: null, timezone: 'UTC', questions: 100, questionsPerTenant: 10, ...settings },
    );
  const see = (grant: LiveGrant, metricId: string, parts: object = {}): void => {
    if (!stored.has(grant.id)) stored.set(grant.id, grant);
    const query = { metricId, dashboardId: 'board' };
    warmUp.seen({ caller: callerOf(grant), query, datamartId: 'mart', dashboardId: 'd1', ...parts });
  };
  const run = () => warmUp.run(stays);
  const metrics = () => asked.map(({ query }) => query.metricId).toSorted();

  beforeEach(() => {
    now = new Date('2026-03-01T12:00:00Z');
    [stored, asked, fail] = [new Map(), [], () => {}];
    warmUp = create();
  });

  it('asks nothing until there is a reason, and then each question once', async () => {
    see(grantOf('acme'), 'one');
    see(grantOf('acme', { id: 'a later token of the same rights' }), 'one');
    expect(await run()).toEqual({ asked: 0, failed: 0 });
    warmUp.want({ datamartId: 'mart' });
    expect(await run()).toEqual({ asked: 1, failed: 0 });
    expect(await run()).toEqual({ asked: 0, failed: 0 });
  });

  it('asks the questions of the datamart whose rollup was built, and of the dashboard that was rolled out', async () => {
    see(grantOf('acme'), 'one');
    see(grantOf('acme'), 'two', { datamartId: 'another' });
    see(grantOf('acme'), 'three', { dashboardId: 'd2' });
    warmUp.want({ datamartId: 'mart' });
    await run();
    expect(metrics()).toEqual(['one', 'three']);
    asked = [];
    warmUp.want({ dashboardId: 'd2' });
    await run();
    expect(metrics()).toEqual(['three']);
  });

  it('asks all of them at a time of day in its zone, once a day', async () => {
    warmUp = create({ at: '06:00', timezone: 'Europe/Berlin' });
    see(grantOf('acme'), 'one');
    now = new Date('2026-03-02T04:59:00Z');
    expect(await run()).toEqual({ asked: 0, failed: 0 });
    now = new Date('2026-03-02T05:00:10Z');
    expect(await run()).toEqual({ asked: 1, failed: 0 });
    now = new Date('2026-03-02T05:01:10Z');
    expect(await run()).toEqual({ asked: 0, failed: 0 });
  });

  it('asks as the token is stored now, and as nobody whose token was revoked or erased', async () => {
    see(grantOf('acme'), 'one');
    see(grantOf('zeta'), 'two');
    const later = grantOf('acme', { epoch: '7/0' as Epoch, revision: '9' as ContentRevision });
    stored = new Map([[later.id, later]]);
    warmUp.want({});
    expect(await run()).toEqual({ asked: 1, failed: 0 });
    expect(asked).toEqual([{ caller: callerOf(later), query: { metricId: 'one', dashboardId: 'board' } }]);
    // The question of a token that is gone is forgotten: another token of that id asks nothing.
    stored.set('token of zeta', grantOf('zeta'));
    asked = [];
    warmUp.want({});
    await run();
    expect(metrics()).toEqual(['one']);
  });

  it('remembers nothing of a client that was erased, nor of views in Studio, nor when it is off', async () => {
    see(grantOf('acme'), 'one');
    see(grantOf('zeta'), 'two');
    const view: GuestCaller = { ...callerOf(grantOf('acme')), isView: true };
    warmUp.seen({ caller: view, query: { metricId: 'three' }, datamartId: 'mart', dashboardId: 'd1' });
    warmUp.forget('app', 'acme');
    warmUp.want({});
    await run();
    expect(metrics()).toEqual(['two']);
    warmUp = create({ questions: 0 });
    see(grantOf('acme'), 'one');
    warmUp.want({});
    expect(await run()).toEqual({ asked: 0, failed: 0 });
  });

  it('asks a bounded number, of each tenant and of all', async () => {
    warmUp = create({ questions: 5, questionsPerTenant: 2 });
    for (const clientId of ['a', 'b', 'c']) for (const metricId of ['1', '2', '3']) see(grantOf(clientId), metricId);
    warmUp.want({});
    expect(await run()).toEqual({ asked: 5, failed: 0 });
    const counts = ['a', 'b', 'c'].map((id) => asked.filter(({ caller }) => caller.grant.clientId === id).length);
    expect(Math.max(...counts)).toBe(2);
  });

  it('goes on after a question that fails, and tells the last failure', async () => {
    for (const metricId of ['one', 'two', 'three']) see(grantOf('acme'), metricId);
    const failure = new Error('no database');
    fail = ({ metricId }) => {
      if (metricId === 'two') throw failure;
    };
    warmUp.want({});
    expect(await run()).toEqual({ asked: 2, failed: 1, err: failure });
  });
});
