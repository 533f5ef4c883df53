/**
 * Proves rollups: the answer with rollups equals the answer without, for random metrics, restrictions, time zones, late rows
 * and builds. `npm run isolation -- --only rollups` runs many more cases (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rollupSources } from '../../src/engine/rollups/sources.js';
import { findKinds } from '../engine/test-databases.js';
import { countOfCases } from './count.js';
import { aRollupCase, createRollupStage, createRollupTally, judgeRollups, someRows } from './rollups.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_122);
const wanted = process.env.ISOLATION_KINDS?.split(',');
/** The databases of which rollups are built. */
const kinds = (await findKinds())
  .filter((kind) => kind in rollupSources)
  .filter((kind) => wanted === undefined || wanted.includes(kind));
/** True for mutants: only the failure matters, so the case is not shrunk. */
const isShort = process.env.ISOLATION_SHRINK === '0';
const cases = countOfCases(60, 600);
/** Number of questions on one data set and its builds. */
const perStage = cases > 10_000 ? 3000 : Math.min(300, cases);

describe.each(kinds)('on %s', (kind) => {
  it('answers with rollups equal those without, also after late rows and further builds', async () => {
    const tally = createRollupTally();
    for (let round = 0; tally.asked < cases; round += 1) {
      const rows = someRows(seed + round, 250);
      // A few groups of open time are too many in every third round.
      const stage = await createRollupStage(kind, rows, round % 3 === 2 ? 8 : 1000);
      const ask = (part: number) =>
        fc.assert(
          fc.asyncProperty(aRollupCase, (one) => judgeRollups(stage, one, tally)),
          { seed: seed + 3 * round + part, numRuns: Math.min(perStage / 3, cases), endOnFailure: isShort },
        );
      try {
        await stage.build(false);
        await ask(0);
        // Rows come late: the periods whose number of rows has changed are built anew.
        const more = [...rows, ...someRows(seed + round + 1000, 90)];
        await stage.refill(more);
        await stage.build(false);
        await ask(1);
        // Where others are removed too, the number may be the same.
        await stage.refill([...more.slice(60), ...someRows(seed + round + 2000, 60)]);
        await stage.build(true);
        await ask(2);
      } finally {
        await stage.remove();
      }
      if (process.env.ISOLATION_CASES !== undefined)
        process.stderr.write(`rollups, ${kind}: ${JSON.stringify({ ...tally, refused: [...tally.refused] })}\n`);
    }
    // With few cases, the shares are not significant.
    if (cases < 150) return;
    expect(tally.kept / tally.asked, JSON.stringify([...tally.refused])).toBeGreaterThan(0.15);
    expect(tally.restricted / tally.kept).toBeGreaterThan(0.2);
    expect(tally.several / tally.kept).toBeGreaterThan(0.2);
  }, 36_000_000);
});
