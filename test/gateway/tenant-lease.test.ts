import { expect, it, vi } from 'vitest';
import { analyst, manager, startGateway } from './harness.js';
import { openTestLedger } from './ledgers.js';

/** Starts a gateway whose ledger counts leases. Each lease must be released exactly once. */
const startCounted = async () => {
  const ledger = await openTestLedger();
  const release = vi.fn(ledger.self.release);
  const gateway = await startGateway({ ledger: { ...ledger, self: { ...ledger.self, release } } });
  return { ...gateway, leases: () => release.mock.calls.filter(([holder]) => holder !== undefined).length };
};

it('a mint takes one lease of its tenant, and each new dashboard takes one more', async () => {
  const { granted, leases, upstream } = await startCounted();
  const embeds = (await granted(manager)).embeds.length;
  expect(embeds).toBeGreaterThan(0);
  expect(upstream.created()).toHaveLength(embeds);
  expect(leases()).toBe(embeds + 1);
  const before = leases();
  // Another user of the tenant: its dashboards exist, so only a token is minted.
  await granted({ ...manager, sub: 'another' });
  expect(upstream.mints()).toHaveLength(2);
  expect(leases()).toBe(before + 1);
});

it('a cached answer takes no lease', async () => {
  const { granted, leases } = await startCounted();
  await granted(analyst);
  const before = leases();
  await granted(analyst);
  expect(leases()).toBe(before);
});
