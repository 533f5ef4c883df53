/** A policy that changes while others ask: a thread reads it, and it is compiled in slices. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileDocuments, loadPolicy, readDocuments } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { createReachOf, everythingNamed } from '../../src/gateway/policy/reach.js';
import { compileRead, readPolicy } from '../../src/gateway/policy/reading.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { keptTexts, type PolicyFile } from '../../src/gateway/policy/texts.js';
import { watchPolicies } from '../../src/gateway/policy/watch.js';
import { atOnce } from '../../src/platform/work/breathe.js';
import { captureLog } from './harness.js';
import { basePolicy } from './policies.js';

const rules = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({
    ...{ name: `rule ${nth}`, when: `"role ${nth}" in user.roles` },
    grant: { templates: ['delays'], timezone: '"UTC"' },
  }));
const own: PolicyFile = {
  file: '/folder/policy.yaml',
  text: JSON.stringify({ ...basePolicy, rules: rules(3), tenantFiles: ['more.tenants.yaml'] }, null, 1),
};
const beside: PolicyFile = {
  file: '/folder/more.tenants.yaml',
  text: `version: 1
tenants:
  - name: 1st
    clientIds: [LAX, SFO]
    rules:
      # A rule of one tenant.
      - { name: more, when: 'true', grant: { templates: [routes] } }
    restrictions:
      - name: less
        when: '"regional" in user.roles'
        restrict: { dashboardFilters: { Airport: '"LAX"' }, hideMetrics: { delays: [map] } }
`,
};

/** All of a policy that is not a function. */
const plain = (policy: Policy): unknown =>
  JSON.parse(JSON.stringify(policy, (_, value) => (value instanceof Map ? [...value] : value)));

const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work;
  isOver = true;
  return turns;
};

test('while a policy of two thousand rules is read anew, other work of the process goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-reading-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'policy.yaml');
  writeFileSync(path, JSON.stringify(basePolicy));
  const { log } = captureLog();
  const policies = await watchPolicies(path, {
    ...{ log, hasEvents: false, every: () => () => {}, reachOf: createReachOf(null, path) },
    audit: { record: async () => {} },
  });
  onTestFinished(policies.close);
  writeFileSync(path, JSON.stringify({ ...basePolicy, rules: rules(2000) }, null, 1));
  // Where this thread parses, the loop turns a few times for the stamps of files alone.
  expect(await turnsDuring(policies.reload())).toBeGreaterThan(200);
  expect(policies.current().rules).toHaveLength(2000);
});

test('a policy that a thread has read is the one that is read at once, with the places of all its parts', async () => {
  const { documents } = await readPolicy({ from: [own, beside] });
  if (documents === null || documents instanceof PolicyFaults) throw documents;
  const read = await compileRead(documents, everythingNamed);
  expect(plain(read)).toEqual(plain(loadPolicy(own.text, own.file, [beside])));
  expect(read.names.map(({ at }) => at)).toContain('/folder/more.tenants.yaml:11:41');
});

test('faults of a policy that a thread has read have the same places', async () => {
  const broken = { ...beside, text: beside.text.replace('user.roles', 'user.rolls').replace('routes', 'roots') };
  const faultsOf = async (work: () => unknown): Promise<unknown> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof PolicyFaults) return error.faults;
      throw error;
    }
    return 'none';
  };
  const faults = await faultsOf(async () => {
    const { documents } = await readPolicy({ from: [own, broken] });
    if (documents === null || documents instanceof PolicyFaults) throw documents;
    await compileRead(documents, everythingNamed);
  });
  expect(faults).toEqual(await faultsOf(() => loadPolicy(own.text, own.file, [broken])));
  expect(faults).toHaveLength(2);
});

test('a policy is compiled with a step for each rule, between which others may work', () => {
  const documents = readDocuments(
    keptTexts([{ file: 'p.yaml', text: JSON.stringify({ ...basePolicy, rules: rules(50) }) }]),
  );
  let steps = 0;
  const work = compileDocuments(documents, everythingNamed);
  const counted = (function* () {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      steps += 1;
      yield;
    }
  })();
  expect(atOnce(counted).rules).toHaveLength(50);
  expect(steps).toBeGreaterThan(50);
});
