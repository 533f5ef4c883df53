/**
 * The proof: whatever is asked, the answer from the database that all tenants share is the answer of one that holds only this tenant's rows, and it
 * is the answer of the naive evaluator. `npm run isolation` asks far more (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKinds } from '../engine/test-databases.js';
import { aCase } from './cases.js';
import { createTally, judge, refusedShare, type Tally } from './oracle.js';
import { createStage, type Stage } from './stage.js';
import { aStatement, judgeStatement } from './statements.js';
import { aSum, assertAddsUp } from './sums.js';

const cases = Number(process.env.ISOLATION_CASES ?? 220);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_122);
const wanted = process.env.ISOLATION_KINDS?.split(',');
const kinds = (await findKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));

/** Asked of one data set, before another is made: to make one costs as much as hundreds of questions. */
const perStage = 2000;
/** What keeps the questions worth asking. */
const greatestRefusedShare = 0.15;
const leastSeveralShare = 0.3;
const isLong = cases > perStage;
/** Each of these asks several times over. */
const sumCases = isLong ? Math.ceil(cases / 500) : 6;
const sqlCases = isLong ? Math.ceil(cases / 20) : Math.min(100, cases);
/** A mutant is known by its failing: nobody reads by which case. */
const isShort = process.env.ISOLATION_SHRINK === '0';

const batchesOf = (count: number) =>
  Array.from({ length: Math.ceil(count / perStage) }, (_, index) => ({
    seed: seed + index,
    numRuns: Math.min(perStage, count - index * perStage),
  }));
/** Each question costs chdb's process several times what it costs a server; who says how many gets as many. */
const casesOn = (kind: string): number =>
  kind === 'CLICKHOUSE' && process.env.ISOLATION_CASES === undefined ? Math.min(cases, 200) : cases;

describe.each(kinds)('on %s', (kind) => {
  let stage: Stage | undefined;
  const cases = casesOn(kind);
  const tally: Tally = createTally();
  const open = async (of: number): Promise<Stage> => {
    await stage?.remove();
    stage = await createStage(kind, of);
    return stage;
  };
  beforeAll(() => open(seed));
  afterAll(() => stage?.remove());

  it("every owner's sums together are the sum of all rows", async () => {
    const on = stage;
    if (on === undefined) throw new Error('no databases');
    await fc.assert(
      fc.asyncProperty(aSum, (asked) => assertAddsUp(on, asked)),
      { seed, numRuns: sumCases, endOnFailure: isShort },
    );
  }, 36_000_000);

  it('metrics in SQL read the rows of a database of their own', async () => {
    const on = stage;
    if (on === undefined) throw new Error('no databases');
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(aStatement(kind), async (asked) => {
        if (await judgeStatement(on, asked)) answered += 1;
      }),
      { seed, numRuns: sqlCases, endOnFailure: isShort },
    );
    // What cannot take a condition is refused.
    expect(answered).toBeGreaterThan(sqlCases / 2);
  }, 36_000_000);

  it('shared database, shard and evaluator give one answer', async () => {
    for (const [index, batch] of batchesOf(cases).entries()) {
      const on = index === 0 && stage !== undefined ? stage : await open(batch.seed);
      await fc.assert(
        fc.asyncProperty(aCase, (asked) => judge(on, asked, tally)),
        { ...batch, endOnFailure: isShort },
      );
      if (isLong)
        process.stderr.write(
          `${kind}: ${tally.asked} of ${cases}, ${(refusedShare(tally) * 100).toFixed(1)} % refused, ${((tally.several / tally.asked) * 100).toFixed(1)} % of several rows\n`,
        );
    }
    expect(tally.asked).toBeGreaterThanOrEqual(cases);
    // Of a few, the shares say nothing.
    if (cases < 100) return;
    expect(tally.several / tally.asked).toBeGreaterThan(leastSeveralShare);
    expect(refusedShare(tally), JSON.stringify([...tally.refused])).toBeLessThan(greatestRefusedShare);
  }, 36_000_000);
});
