/**
 * Proves bridges and base filters: an answer equals that of a database that lacks what they leave out. `npm run isolation
 * -- --only bridges` runs many more cases (test/isolation/run.mjs).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findKinds } from '../engine/test-databases.js';
import { aScene, type BridgeTally, inScene, judgeBridges, withBridgeStage } from './bridges.js';
import { countOfCases } from './count.js';

const seed = Number(process.env.ISOLATION_SEED ?? 20_261_129);
const wanted = process.env.ISOLATION_KINDS?.split(',');
const kinds = (await findKinds()).filter((kind) => wanted === undefined || wanted.includes(kind));
/** True for mutants: only the failure matters, so the case is not shrunk. */
const isShort = process.env.ISOLATION_SHRINK === '0';
const cases = countOfCases(240, 800);
/** Number of questions on one pair of databases. */
const perStage = 20;

describe.each(kinds)('on %s', (kind) => {
  it('answers equal those of a database without the rows and columns that bridges and base filters leave out', async () => {
    const tally: BridgeTally = { asked: 0, answered: 0, several: 0, refused: new Map() };
    for (let round = 0; tally.asked < cases; round += 1) {
      const [drawn] = fc.sample(aScene, { seed: seed + round, numRuns: 1 });
      if (drawn === undefined) throw new Error('nothing was drawn');
      await withBridgeStage(kind, drawn.world, drawn.scene, (stage) =>
        fc.assert(
          fc.asyncProperty(inScene(drawn.scene), (asked) => judgeBridges(stage, asked, tally)),
          { seed: seed + round, endOnFailure: isShort, numRuns: Math.min(perStage, cases - tally.asked) },
        ),
      );
    }
    if (process.env.ISOLATION_CASES !== undefined)
      process.stderr.write(`bridges, ${kind}: ${tally.asked}, ${JSON.stringify([...tally.refused])}\n`);
    // With few cases, the shares are not significant.
    if (cases < 240) return;
    expect(tally.answered / tally.asked, JSON.stringify([...tally.refused])).toBeGreaterThan(0.3);
    expect(tally.several / tally.asked).toBeGreaterThan(0.1);
  }, 36_000_000);
});
