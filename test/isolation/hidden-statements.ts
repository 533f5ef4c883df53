/** Metrics in SQL under a token: a statement that accepts the token's conditions must read only visible rows. */
import fc from 'fast-check';
import type { Condition } from '../../src/model/filter/filter.js';
import { columnRef, type Place, question } from '../engine/world.js';
import type { ATest } from './cases.js';
import { shardOf, type Tenant, tenants } from './dataset.js';
import { withoutHidden } from './hidden-rows.js';
import { outcomeOf } from './judge.js';
import { assertSame } from './oracle.js';
import { predicateOf } from './predicates.js';
import type { Stage } from './stage.js';
import { type AStatement, aStatement, definitionOf, martOf } from './statements.js';
import { theDay } from './values.js';

export type AStatementBatch = {
  readonly tenant: Tenant;
  readonly token: AStatement['conditions'];
  readonly statements: readonly AStatement[];
};

const aTokenTest: fc.Arbitrary<ATest> = fc.record({
  table: fc.constant(0),
  column: fc.constantFrom('label' as const, 'amount' as const, 'day' as const, 'flag' as const),
  predicate: fc.constantFrom('>=' as const, '<>' as const, 'noneOf' as const, 'isNotNull' as const),
  choice: fc.nat(1000),
});

export const aStatementBatch = (kind: Stage['kind'], maxLength: number): fc.Arbitrary<AStatementBatch> =>
  fc.record({
    tenant: fc.constantFrom(...tenants),
    token: fc.array(
      fc.record({
        on: fc.constantFrom('orders' as const, 'visits' as const, 'places' as const),
        test: aTokenTest,
      }),
      { minLength: 1, maxLength: 2 },
    ),
    statements: fc.array(aStatement(kind), { minLength: 1, maxLength, size: 'max' }),
  });

const conditionsOf = (tests: AStatement['conditions']): readonly Condition[] =>
  tests.map(({ on, test }) => ({ column: columnRef(`${on}.${test.column}`), predicate: predicateOf(test) }));

/**
 * Throws if an answer differs from the answer over the visible rows. Returns how many statements accepted their
 * conditions.
 */
export const judgeStatements = async (stage: Stage, batch: AStatementBatch): Promise<number> => {
  const { tenant, statements } = batch;
  const token = conditionsOf(batch.token).map((condition): Condition => ({ ...condition, restriction: 'always' }));
  const left = withoutHidden(shardOf(stage.dataset, tenant), martOf(false, null), token, null);
  const built = await stage.refill(left);
  let answered = 0;
  for (const { statement, conditions, limit } of statements) {
    const guests = conditionsOf(conditions);
    const ask = (place: Place, isTenanted: boolean, all: readonly Condition[]) =>
      outcomeOf(() =>
        stage.engine.query(
          question(place, martOf(isTenanted, null), isTenanted ? tenant : 'None', definitionOf(statement, place), {
            conditions: all,
            today: theDay,
            limit,
          }),
        ),
      );
    const shared = await ask(stage.places.shared, true, [...token, ...guests]);
    if ('refused' in shared) continue;
    answered += 1;
    const said = JSON.stringify({ statement, token, guests });
    assertSame(`rows that the token hides changed ${said}`, shared, await ask(built, false, guests));
    assertSame(
      `on the rows that are left, the token changed ${said}`,
      shared,
      await ask(built, false, [...token, ...guests]),
    );
  }
  return answered;
};
