/** A policy that follows its files. No test waits for time to pass: each reloads explicitly, or waits for a result. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { createReachOf } from '../../src/gateway/policy/reach.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { type WatchOptions, watchPolicies } from '../../src/gateway/policy/watch.js';
import { captureLog } from './harness.js';
import { basePolicy } from './policies.js';

const text = (parts: object = {}) => JSON.stringify({ ...basePolicy, ...parts }, null, 2);
const lasting = (expiryMinutes: number) => text({ expiryMinutes });

/** A mounted gateway reads what its policy names. */
const reachOf = createReachOf(null, '');

const open = async (options: Partial<WatchOptions> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-watch-'));
  const path = join(folder, 'policy.yaml');
  writeFileSync(path, lasting(10));
  const { log, lines } = captureLog();
  const events: AuditEvent[] = [];
  const audit = { record: async (event: AuditEvent) => void events.push(event) };
  const ticks: (() => void)[] = [];
  const every = (_: number, task: () => void) => {
    ticks.push(task);
    return () => {};
  };
  const policies = await watchPolicies(path, { log, audit, every, reachOf, hasEvents: false, ...options });
  onTestFinished(() => {
    policies.close();
    rmSync(folder, { recursive: true });
  });
  /** Resolves with the next changed policy. Call it before making the change. */
  const change = () => new Promise<Policy>((resolve) => policies.subscribe({ changed: async (next) => resolve(next) }));
  const tick = () => {
    for (const task of ticks) task();
  };
  const errors = () => lines.filter(({ level }) => level === 50);
  return { folder, path, policies, lines, errors, events, change, tick };
};

describe('a policy whose file changes', () => {
  it('is loaded at the next check, and log and audit have its digest', async () => {
    const { path, policies, events, lines } = await open();
    const before = policies.current();
    expect((await policies.reload()).outcome).toBe('unchanged');
    writeFileSync(path, lasting(20));
    const { outcome, digest } = await policies.reload();
    expect([outcome, policies.current().expiryMinutes, digest]).toEqual(['changed', 20, policies.current().digest]);
    expect(before.expiryMinutes).toBe(10);
    expect(events.map(({ kind, code, detail }) => [kind, code, detail?.digest])).toEqual([
      ['policy-load', 'OK', before.digest],
      ['policy-load', 'OK', digest],
    ]);
    expect(lines.at(-1)).toMatchObject({ event: 'policy.loaded', digest, previous: before.digest });
  });

  it("is noticed by the file's timestamp, without an event", async () => {
    const { path, change, tick } = await open();
    const changed = change();
    writeFileSync(path, lasting(300));
    tick();
    expect((await changed).expiryMinutes).toBe(300);
  });

  it('is noticed by an event, also after renames', async () => {
    const { path, change } = await open({ hasEvents: true, every: () => () => {} });
    const changed = change();
    writeFileSync(`${path}.new`, lasting(30));
    renameSync(`${path}.new`, path);
    expect((await changed).expiryMinutes).toBe(30);
  });

  it('is noticed behind the symbolic link of a mounted folder', async () => {
    const { folder, path } = await open();
    for (const [version, minutes] of [
      ['v1', 10],
      ['v2', 44],
    ] as const) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'p.yaml'), lasting(minutes));
    }
    symlinkSync('v1', join(folder, '..data'));
    rmSync(path);
    symlinkSync(join('..data', 'p.yaml'), path);
    const { log } = captureLog();
    const ticks: (() => void)[] = [];
    const mounted = await watchPolicies(path, {
      ...{ log, reachOf },
      audit: { record: async () => {} },
      hasEvents: false,
      every: (_, task) => {
        ticks.push(task);
        return () => {};
      },
    });
    onTestFinished(mounted.close);
    const changed = new Promise<Policy>((resolve) => mounted.subscribe({ changed: async (next) => resolve(next) }));
    symlinkSync('v2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    for (const tick of ticks) tick();
    expect((await changed).expiryMinutes).toBe(44);
  });

  it('loads new and changed files of overrides', async () => {
    const { folder, path, policies } = await open();
    mkdirSync(join(folder, 'tenants'));
    writeFileSync(path, text({ tenantFiles: ['tenants'] }));
    await policies.reload();
    const own = join(folder, 'tenants', 'lax.tenants.yaml');
    const override = (minutes: number) =>
      `{version: 1, tenants: [{name: o, clientIds: [LAX], expiryMinutes: ${minutes}}]}`;
    for (const minutes of [5, 6]) {
      writeFileSync(own, override(minutes));
      // A new folder is read once more automatically, so the change may already have been found.
      expect((await policies.reload()).outcome).not.toBe('refused');
      expect(policies.current().overrides.get('LAX')?.expiryMinutes).toBe(minutes);
    }
  });
});

describe('a changed file with faults', () => {
  const bad = text({ rules: [{ name: 'r', when: 'user.idd == "x"', grant: { templates: ['delais'] } }] });

  it('keeps the earlier policy, and reports all faults once', async () => {
    const { path, policies, errors, events } = await open();
    const before = policies.current();
    writeFileSync(path, bad);
    for (const _ of [1, 2, 3]) expect(await policies.reload()).toEqual({ outcome: 'refused', digest: before.digest });
    expect(policies.current()).toBe(before);
    expect(errors()).toHaveLength(1);
    expect(errors()[0]).toMatchObject({
      event: 'policy.refused',
      msg: 'the changed policy has 2 fault(s); the earlier policy stays in force',
      faults: [
        { at: expect.stringMatching(/policy\.yaml:\d+:\d+$/), message: expect.stringContaining('No such key: idd') },
        { at: expect.stringMatching(/policy\.yaml:\d+:\d+$/), message: expect.stringContaining('"delais"') },
      ],
    });
    expect(events.slice(1)).toEqual([
      {
        kind: 'policy-load',
        code: 'INVALID_POLICY',
        detail: { file: path, keeps: before.digest, faults: 2, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
  });

  it('is reported again with other faults, or when the faults return', async () => {
    const { path, policies, errors } = await open();
    const contents = [bad, bad.replace('delais', 'delaise'), lasting(10), bad, 'rules: [', bad];
    const outcomes: string[] = [];
    for (const content of contents) {
      writeFileSync(path, content);
      outcomes.push((await policies.reload()).outcome);
    }
    expect(outcomes).toEqual(['refused', 'refused', 'unchanged', 'refused', 'refused', 'refused']);
    expect(errors()).toHaveLength(5);
  });

  it('may also be a missing file, until it exists again', async () => {
    const { path, policies, errors } = await open();
    rmSync(path);
    expect((await policies.reload()).outcome).toBe('refused');
    expect(JSON.stringify(errors())).toContain('ENOENT');
    writeFileSync(path, lasting(11));
    expect((await policies.reload()).outcome).toBe('changed');
  });

  it('prevents a start of the gateway', async () => {
    await expect(
      watchPolicies('/nowhere/p.yaml', { ...captureLog(), reachOf, audit: { record: async () => {} } }),
    ).rejects.toThrow(PolicyFaults);
  });
});

describe('a policy that cannot be used for another reason', () => {
  it('is refused if a listener lacks what it needs', async () => {
    const { path, policies, errors } = await open();
    policies.subscribe({
      prepare: ({ expiryMinutes }) => {
        if (expiryMinutes === 20) throw new PolicyFaults([{ at: 'policy.yaml:1:1', message: 'no secret' }]);
      },
    });
    writeFileSync(path, lasting(20));
    expect((await policies.reload()).outcome).toBe('refused');
    expect(JSON.stringify(errors())).toContain('no secret');
  });

  it('is not used while it cannot be recorded in the audit, and is tried again', async () => {
    let isDown = false;
    const audit = {
      record: async () => {
        if (isDown) throw new Error('the ledger is down');
      },
    };
    const { path, policies, change, tick, errors } = await open({ audit });
    isDown = true;
    writeFileSync(path, lasting(20));
    await expect(policies.reload()).rejects.toThrow('the ledger is down');
    expect(policies.current().expiryMinutes).toBe(10);
    isDown = false;
    const changed = change();
    tick();
    expect((await changed).expiryMinutes).toBe(20);
    expect(errors()).toEqual([]);
  });
});
