/**
 * Proves the right to the column: an answer depends on a column's values only through the token's mask. `npm run isolation
 * -- --only columns` runs many more cases (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSqlKinds } from '../engine/test-databases.js';
import {
  aColumnCase,
  aColumnStatement,
  aFates,
  anAsker,
  type ColumnsStage,
  createColumnsStage,
  createColumnsTally,
  judgeColumnStatement,
  judgeColumns,
} from './columns.js';
import { countOfCases } from './count.js';
import { aStatement } from './statements.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_122);
const wanted = process.env.ISOLATION_KINDS?.split(',');
/** SQLite has no SHA-256, so it refuses a mask of most cases. */
const kinds = (await findSqlKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));
/** True for mutants: only the failure matters, so the case is not shrunk. */
const isShort = process.env.ISOLATION_SHRINK === '0';

const cases = countOfCases(150, 300);
/** Number of questions on one data set with one set of rules. */
const perStage = cases > 10_000 ? 1000 : 50;
const leastAnsweredShare = 0.5;
const leastSeveralShare = 0.2;

describe.each(kinds)('on %s', (kind) => {
  it('answers equal those of a database whose columns hold the masked values', async () => {
    const tally = createColumnsTally();
    for (let round = 0; tally.asked < cases; round += 1) {
      const [fates, asker] = fc.sample(fc.tuple(aFates, anAsker), { seed: seed + round, numRuns: 1 })[0] ?? [];
      if (fates === undefined || asker === undefined) throw new Error('nothing was drawn');
      const stage: ColumnsStage = await createColumnsStage(kind, seed + round, fates, asker);
      const run = { seed: seed + round, endOnFailure: isShort };
      try {
        await fc.assert(
          fc.asyncProperty(aColumnCase, (asked) => judgeColumns(stage, asked, tally)),
          { ...run, numRuns: Math.min(perStage, cases - tally.asked) },
        );
        if (!asker.isNumber) {
          await fc.assert(
            fc.asyncProperty(aColumnStatement(aStatement(kind)), (asked) => judgeColumnStatement(stage, asked, tally)),
            { ...run, numRuns: Math.ceil(perStage / 3) },
          );
        }
      } finally {
        await stage.remove();
      }
      if (process.env.ISOLATION_CASES !== undefined)
        process.stderr.write(`columns, ${kind}: ${tally.asked} of ${cases}, ${JSON.stringify([...tally.refused])}\n`);
    }
    // With few cases, the shares are not significant.
    if (cases < 150) return;
    expect(tally.answered / tally.asked, JSON.stringify([...tally.refused])).toBeGreaterThan(leastAnsweredShare);
    expect(tally.several / tally.asked).toBeGreaterThan(leastSeveralShare);
  }, 36_000_000);
});
