/**
 * Proves isolation of tenants: the answer from a database that all tenants share equals the answer from a database with
 * only this tenant's rows, and equals the naive evaluator's answer. `npm run isolation` runs many more cases
 * (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKinds, hasSql } from '../engine/test-databases.js';
import { aCase } from './cases.js';
import { countOfCases } from './count.js';
import { createTally, judge, refusedShare, type Tally } from './oracle.js';
import { createStage, type Stage } from './stage.js';
import { aStatement, judgeStatement } from './statements.js';
import { aSum, assertAddsUp } from './sums.js';

const cases = countOfCases(80, 220);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_122);
const wanted = process.env.ISOLATION_KINDS?.split(',');
const kinds = (await findKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));

/** Number of questions on one data set. Creating one takes as long as hundreds of questions. */
const perStage = 2000;
/** Above this share of refused questions, the random cases would no longer test enough. */
const greatestRefusedShare = 0.15;
const leastSeveralShare = 0.3;
const isLong = cases > perStage;
/** Each of these cases sends several questions. */
const sumCases = isLong ? Math.ceil(cases / 500) : 6;
const sqlCases = isLong ? Math.ceil(cases / 20) : Math.min(100, cases);
/** True for mutants: only the failure matters, so the case is not shrunk. */
const isShort = process.env.ISOLATION_SHRINK === '0';

const batchesOf = (count: number) =>
  Array.from({ length: Math.ceil(count / perStage) }, (_, index) => ({
    seed: seed + index,
    numRuns: Math.min(perStage, count - index * perStage),
  }));
/**
 * Number of cases. A question takes several times longer in chdb's process than on a server, so chdb gets fewer cases
 * unless a number was given.
 */
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

  it('the sums of all owners add up to the sum over all rows', async () => {
    const on = stage;
    if (on === undefined) throw new Error('no databases');
    await fc.assert(
      fc.asyncProperty(aSum, (asked) => assertAddsUp(on, asked)),
      { seed, numRuns: sumCases, endOnFailure: isShort },
    );
  }, 36_000_000);

  it.runIf(hasSql(kind))(
    "metrics in SQL answer as over a database with only this tenant's rows",
    async () => {
      const on = stage;
      if (on === undefined) throw new Error('no databases');
      let answered = 0;
      await fc.assert(
        fc.asyncProperty(aStatement(kind), async (asked) => {
          if (await judgeStatement(on, asked)) answered += 1;
        }),
        { seed, numRuns: sqlCases, endOnFailure: isShort },
      );
      // Statements that cannot accept a condition are refused.
      expect(answered).toBeGreaterThan(sqlCases / 2);
    },
    36_000_000,
  );

  it("the shared database, the tenant's own database and the evaluator give the same answer", async () => {
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
    // With few cases, the shares are not significant.
    if (cases < 100) return;
    expect(tally.several / tally.asked).toBeGreaterThan(leastSeveralShare);
    expect(refusedShare(tally), JSON.stringify([...tally.refused])).toBeLessThan(greatestRefusedShare);
  }, 36_000_000);
});
