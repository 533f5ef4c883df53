/**
 * Proves restrictions within a tenant: the answer under a token equals the answer of a database without the rows that
 * the token hides. `npm run isolation -- --only hidden` runs many more cases (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKinds, hasSql } from '../engine/test-databases.js';
import { countOfCases } from './count.js';
import { createDataset } from './dataset.js';
import { createHiddenTally, type HiddenTally, judgeSmaller } from './hidden.js';
import { aBatchOf } from './hidden-cases.js';
import { aStatementBatch, judgeStatements } from './hidden-statements.js';
import { refusedShare } from './oracle.js';
import { createStage, type Stage } from './stage.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_122);
const wanted = process.env.ISOLATION_KINDS?.split(',');
const kinds = (await findKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));
/** True for mutants: only the failure matters, so the case is not shrunk. */
const isShort = process.env.ISOLATION_SHRINK === '0';

/** Number of questions on one data set. */
const perStage = 4000;
/** Few key values, so that several rows share a key and a hidden row often stands beside a visible one. */
const refs = [1, 2, 3, 4] as const;
const greatestRefusedShare = 0.15;
const leastSeveralShare = 0.15;
const leastBittenShare = 0.01;

const casesOn = (kind: string): number =>
  countOfCases(kind === 'CLICKHOUSE' ? 60 : 80, kind === 'CLICKHOUSE' ? 100 : 250);
const sizesFor = (cases: number) =>
  cases > perStage
    ? { questions: 50, builtOneOf: 10, compareOneOf: 10 }
    : { questions: 16, builtOneOf: 2, compareOneOf: 1 };

const share = (part: number, whole: number): string => `${((part / Math.max(whole, 1)) * 100).toFixed(1)} %`;

const lineOf = (kind: string, tally: HiddenTally, startedAt: number): string =>
  [
    `hidden rows removed, ${kind}: ${tally.asked} asked`,
    `${share(refusedShare(tally) * tally.asked, tally.asked)} refused`,
    `${share(tally.several, tally.asked)} of several rows`,
    `${share(tally.built, tally.asked)} asked of a database without the rows`,
    `${share(tally.bitten, tally.compared)} would differ past hidden rows`,
    `${Math.round((tally.asked * 1000) / (performance.now() - startedAt))} a second\n`,
  ].join(', ');

describe.each(kinds)('on %s', (kind) => {
  let stage: Stage | undefined;
  const open = async (of: number): Promise<Stage> => {
    await stage?.remove();
    stage = await createStage(kind, of, createDataset(of, { refs }));
    return stage;
  };
  beforeAll(() => open(seed));
  afterAll(() => stage?.remove());

  it.runIf(hasSql(kind))(
    'metrics in SQL answer as if hidden rows did not exist',
    async () => {
      const on = stage;
      if (on === undefined) throw new Error('no databases');
      let answered = 0;
      // Each of these cases fills a database, which takes long.
      const numRuns = Math.ceil(casesOn(kind) / (casesOn(kind) > perStage ? 500 : 40));
      await fc.assert(
        fc.asyncProperty(aStatementBatch(kind, 20), async (batch) => {
          answered += await judgeStatements(on, batch);
        }),
        { seed, numRuns, endOnFailure: isShort },
      );
      expect(answered).toBeGreaterThan(numRuns);
    },
    36_000_000,
  );

  it('under a token, questions answer as if its hidden rows did not exist', async () => {
    const cases = casesOn(kind);
    const { compareOneOf, ...sizes } = sizesFor(cases);
    const tally = createHiddenTally();
    const startedAt = performance.now();
    for (let round = 0; tally.asked < cases; round += 1) {
      const on = round === 0 && stage !== undefined ? stage : await open(seed + round);
      // A batch has on average half of its maximum number of questions.
      const numRuns = Math.ceil((Math.min(perStage, cases - tally.asked) * 2.2) / sizes.questions);
      await fc.assert(
        fc.asyncProperty(aBatchOf(sizes), (batch) => judgeSmaller(on, batch, tally, { compareOneOf, isShort })),
        { seed: seed + round, numRuns, endOnFailure: true },
      );
      if (process.env.ISOLATION_CASES !== undefined) process.stderr.write(lineOf(kind, tally, startedAt));
    }
    // With few cases, the shares are not significant.
    if (cases < 200) return;
    expect(tally.several / tally.asked).toBeGreaterThan(leastSeveralShare);
    expect(refusedShare(tally), JSON.stringify([...tally.refused])).toBeLessThan(greatestRefusedShare);
    expect(tally.bitten / tally.compared).toBeGreaterThan(leastBittenShare);
  }, 36_000_000);
});
