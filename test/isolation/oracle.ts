/** Verifies one case: the shared database, the tenant's own database and the evaluator must give the same answer. */
import type { Kind } from '../engine/test-databases.js';
import type { ACase } from './cases.js';
import { shardOf } from './dataset.js';
import { type Expected, evaluate, evaluateOptions, evaluateUnderlying } from './evaluator.js';
import { columnKind, type Source } from './evaluator-joins.js';
import { assertRight, assertRightOptions, assertSameAnswer, expectedOf, type Outcome, outcomeOf } from './judge.js';
import { type Posed, pose } from './question.js';
import { type Answer, type Asking, askEngine, type Stage, sourceOf } from './stage.js';
import type { Value } from './values.js';

/** Number of questions, number of answers with more than one row, and refusals by reason. */
export type Tally = { asked: number; several: number; readonly refused: Map<string, number> };
export const createTally = (): Tally => ({ asked: 0, several: 0, refused: new Map() });
export const refusedShare = ({ asked, refused }: Tally): number =>
  [...refused.values()].reduce((sum, count) => sum + count, 0) / Math.max(asked, 1);

/** Returns the reasons for which this database must refuse the question, because it lacks a capability. */
export const lacking = (kind: Kind, { mart }: Source): readonly string[] =>
  kind === 'MYSQL' && mart.relationships.some(({ join }) => join === 'FULL JOIN') ? ['full-join-unsupported'] : [];

/** If several reasons apply, engine and evaluator may report different ones. */
export const unanswerable = ['path-missing', 'path-ambiguous', 'fan-out'];

export const isList = (answer: Answer): answer is Extract<Answer, readonly unknown[]> => Array.isArray(answer);

export const assertSame = (what: string, a: Outcome<Answer>, b: Outcome<Answer>): void => {
  if ('refused' in a || 'refused' in b) {
    if (JSON.stringify(a) !== JSON.stringify(b))
      throw new Error(`${what}\n  ${JSON.stringify(a)}\n  ${JSON.stringify(b)}`);
  } else if (isList(a.answer) || isList(b.answer)) {
    if (JSON.stringify(a.answer) !== JSON.stringify(b.answer))
      throw new Error(`${what}\n  ${JSON.stringify(a.answer)}\n  ${JSON.stringify(b.answer)}`);
  } else {
    assertSameAnswer(what, a.answer, b.answer);
  }
};

/** Returns the columns that the database computes with floats: averages, medians, and aggregates of float columns. */
const floats = ({ mart }: Source, { asked: { definition } }: Posed): ((index: number) => boolean) => {
  const { dimensions, measures } = definition;
  return (index) => {
    const dimension = dimensions[index];
    if (dimension !== undefined)
      return dimension.bucketWidth !== undefined || columnKind(mart, dimension.column) === 'float';
    const measure = measures[index - dimensions.length];
    if (measure === undefined || measure.aggregate === undefined) return true;
    if (measure.aggregate === 'AVG' || measure.aggregate === 'MEDIAN' || measure.aggregate === 'PERCENTILE')
      return true;
    return measure.column !== undefined && columnKind(mart, measure.column) === 'float';
  };
};

/**
 * The question with the calculations that the answer says are not added up. Whether groups may share rows is a matter of
 * the model, which test/engine/fan-out.test.ts checks.
 */
export const asAdded = (posed: Posed, got: Outcome<Answer>): Posed => {
  if ('refused' in got || isList(got.answer)) return posed;
  const calculated = new Set(posed.asked.definition.calculations?.map(({ name }) => name));
  const shared = got.answer.columns.filter(({ name, isOverlapping }) => isOverlapping === true && calculated.has(name));
  return { ...posed, asked: { ...posed.asked, unadded: new Set(shared.map(({ name }) => name)) } };
};

export const expectedFor = (source: Source, posed: Posed, ask: ACase['ask']): Outcome<Expected | readonly Value[]> =>
  expectedOf(() => {
    if (ask === 'answer') return evaluate(source, posed.asked);
    return ask === 'underlying'
      ? evaluateUnderlying(source, posed.asked)
      : evaluateOptions(source, posed.asked, posed.option, posed.search);
  });

export const judgeAnswer = (
  source: Source,
  posed: Posed,
  got: Outcome<Answer>,
  expected: ReturnType<typeof expectedFor>,
): void => {
  if ('refused' in got) return;
  if ('refused' in expected) throw new Error(`it should have been refused: ${expected.refused}`);
  if (isList(got.answer)) {
    if (!Array.isArray(expected.answer)) throw new Error('no options were asked for');
    assertRightOptions('the evaluator has other options', got.answer, expected.answer);
  } else {
    assertRight('the evaluator has another answer', got.answer, expected.answer as Expected, floats(source, posed));
  }
};

/** Throws if two of the three answers differ. A refusal is correct only if the question must be refused. */
export const judge = async (stage: Stage, aCase: ACase, tally: Tally): Promise<void> => {
  const posed = pose(stage.dataset, aCase, stage.kind !== 'MYSQL');
  const { tenant, ask, timezone } = aCase;
  const asking: Asking = { ...posed, ask, timezone };
  const { places } = stage;
  const [shared, shard, grown] = await Promise.all([
    outcomeOf(() => askEngine(stage, places.shared, posed.shared, posed.clientId, asking)),
    outcomeOf(() => askEngine(stage, places.shardOf(tenant), posed.alone, posed.clientIdAlone, asking)),
    aCase.isGrown ? outcomeOf(() => askEngine(stage, places.grown, posed.shared, posed.clientId, asking)) : null,
  ]);
  assertSame('the shared database and the shard differ', shared, shard);
  if (grown !== null) assertSame("rows of others changed this tenant's answer", shared, grown);
  const source = sourceOf(shardOf(stage.dataset, tenant), posed.alone, timezone);
  const expected = expectedFor(source, asAdded(posed, shared), ask);
  tally.asked += 1;
  if ('refused' in shared) {
    tally.refused.set(shared.refused, (tally.refused.get(shared.refused) ?? 0) + 1);
    const allowed = [...lacking(stage.kind, source), ...('refused' in expected ? unanswerable : [])];
    if (!allowed.includes(shared.refused)) throw new Error(`refused as ${shared.refused}, but an answer is there`);
  } else if ((isList(shared.answer) ? shared.answer : shared.answer.rows).length > 1) tally.several += 1;
  if (posed.isTrue) judgeAnswer(source, posed, shared, expected);
};
