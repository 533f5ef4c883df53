/** What of a gateway's own work is listed while it runs, and for which tenant. */
import { expect, it } from 'vitest';
import { applyEvent } from '../../src/gateway/hooks/hooks.js';
import type { Work } from '../../src/model/query/running.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { analyst, createMovableClock, startGateway } from './harness.js';

const told = ({ kind, subject, clientId, canEnd }: Work) => [kind, subject, clientId, canEnd];

it('a login is listed with its tenant and no user, with what it makes, and not after it', async () => {
  const running = createRunningWork(createMovableClock());
  const { granted, ask, upstream } = await startGateway({ running });
  const seen = new Map<string, readonly Work[]>();
  upstream.state.intercept = ({ path }) => {
    seen.set(path.replace(/^.*\/(?=[a-z-]+(\/create)?$)/, ''), running.list());
    return undefined;
  };
  await granted(analyst);
  const minting = seen.get('guest-token/create') ?? seen.get('create') ?? [];
  expect(minting.map(told)).toEqual([['login', expect.any(String), analyst.org_id, false]]);
  expect(minting[0]?.runsSince).toEqual(expect.any(String));
  const making = [...seen.values()].find((works) => works.length > 1) ?? [];
  expect(making.map(({ kind, clientId }) => [kind, clientId])).toEqual([
    ['login', analyst.org_id],
    ['provisioning', analyst.org_id],
  ]);
  expect(JSON.stringify([...seen.values()])).not.toContain(analyst.sub);
  expect(running.list()).toEqual([]);
  expect((await ask('nonsense')).status).toBe(401);
  expect(running.list()).toEqual([]);
});

it('an event of a tenant is listed while it is applied, and that of a deleted one without its name', async () => {
  const running = createRunningWork(createMovableClock());
  const seen: unknown[] = [];
  const lifecycle = {
    apply: async () => {
      seen.push(running.list().map(told));
      return { state: 'active', isApplied: true } as const;
    },
    finishErasures: async () => 0,
  };
  const options = { running, lifecycle, audit: { record: async () => {} } };
  const occurredAt = new Date(0);
  for (const kind of ['resumed', 'deleted'] as const)
    await applyEvent(options, { kind, clientId: 'LAX', occurredAt }, { requestId: 'r' });
  expect(seen).toEqual([[['hook', 'tenant-resumed', 'LAX', false]], [['hook', 'tenant-deleted', null, false]]]);
  expect(running.list()).toEqual([]);
});
