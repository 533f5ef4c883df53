/**
 * Verifies what a token hides: the answer under the token's conditions must equal the answer without them on rows from
 * which the hidden ones were removed. `withoutHidden` removes them in memory for the evaluator; in some batches, a real
 * database is filled with the remaining rows.
 */
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Place } from '../engine/world.js';
import type { ACase, ATest } from './cases.js';
import { type Dataset, shardOf, type TableName } from './dataset.js';
import { metricTables } from './evaluator.js';
import { holdsFor, stepsTo, theWay } from './evaluator-joins.js';
import type { ABatch, AFrame } from './hidden-cases.js';
import { withoutHidden } from './hidden-rows.js';
import { type AFailing, smallest } from './hidden-smaller.js';
import { expectedOf, outcomeOf } from './judge.js';
import { asAdded, assertSame, expectedFor, isList, judgeAnswer, lacking, type Tally, unanswerable } from './oracle.js';
import { conditionOf, nearTables, type Posed, pose } from './question.js';
import { type Asking, askEngine, type Stage, sourceOf } from './stage.js';

/** Minimum share of rows that a tame token leaves. */
const leastLeft = 0.25;
const [leastMet, greatestMet] = [0.3, 0.85];

/**
 * `compared`: number of questions that a deliberately wrong compiler also answered. `bitten`: number of those where its
 * answer was different.
 */
export type HiddenTally = Tally & { built: number; compared: number; bitten: number };
export const createHiddenTally = (): HiddenTally => ({
  asked: 0,
  several: 0,
  refused: new Map(),
  built: 0,
  compared: 0,
  bitten: 0,
});

const countOf = (dataset: Dataset): number => [...dataset.values()].reduce((sum, rows) => sum + rows.length, 0);

/**
 * Returns the test with another value if almost no row or almost every row of its table passes; null if no value is
 * better.
 */
const tamed = (
  aCase: ACase,
  mart: Datamart,
  whole: Dataset,
  test: ATest,
  near?: readonly TableName[],
): ATest | null => {
  const source = sourceOf(whole, mart, aCase.timezone);
  for (let more = 0; more < 12; more += 1) {
    const candidate = { ...test, choice: test.choice + more };
    const condition = conditionOf(aCase, candidate, near);
    const rows = source.rowsOf(condition.column);
    const met = rows.filter((row) => holdsFor(source, row, condition)).length / rows.length;
    if (met >= leastMet && met <= greatestMet) return candidate;
  }
  return null;
};

/** Returns the token. If it must be tame, conditions that would hide too many rows are left out. */
const tokenOf = (aCase: ACase, mart: Datamart, whole: Dataset, frame: AFrame): readonly Condition[] => {
  const tame = (tests: readonly ATest[]): readonly ATest[] =>
    frame.isTame ? tests.flatMap((test) => tamed(aCase, mart, whole, test) ?? []) : tests;
  const conditions = [
    ...tame(frame.token).map((test): Condition => ({ ...conditionOf(aCase, test), restriction: 'always' })),
    ...tame(frame.whereRead).map((test): Condition => ({ ...conditionOf(aCase, test), restriction: 'whereRead' })),
  ];
  if (!frame.isTame) return conditions;
  const leaves = (some: readonly Condition[]): number =>
    countOf(withoutHidden(whole, mart, some, frame.timezone)) / countOf(whole);
  const kept: Condition[] = [];
  for (const condition of conditions) if (leaves([...kept, condition]) > leastLeft) kept.push(condition);
  return kept;
};

const show = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item));

/** Describes the question in few words, for the message of a failure. */
const describe = (posed: Posed, ask: ACase['ask'], token: readonly Condition[]): string => {
  const { definition, conditions } = posed.asked;
  const said = ({ column, predicate, restriction }: Condition): string =>
    `${restriction ?? 'guest'} ${column.tableName}.${column.columnName} ${show(predicate)}`;
  const ways = posed.alone.relationships.map(
    ({ parent, child, join, cardinality }) =>
      `${parent.tableName}.${parent.columnName} ${join ?? 'LEFT JOIN'} ${child.tableName}.${child.columnName} ${cardinality}`,
  );
  const of = posed.asked.isWorksheet ? 'a worksheet from' : 'from';
  return `${ask} ${of} ${definition.from.tableName}\n  ${[...ways, ...[...token, ...conditions].map(said)].join('\n  ')}\n  ${show(definition)}`;
};

type InForce = {
  readonly token: readonly Condition[];
  /** The tenant's rows, and those that the token leaves. */
  readonly whole: Dataset;
  readonly left: Dataset;
  /** A database with the rows of `left`; null in most batches. */
  readonly built: Place | null;
};

type OneQuestion = { readonly posed: Posed; readonly ask: ACase['ask']; readonly timezone: string | null };

const withConditions = (posed: Posed, more: readonly Condition[]): Posed => ({
  ...posed,
  asked: { ...posed.asked, conditions: [...more, ...posed.asked.conditions] },
});

const askEverywhere = async (stage: Stage, { token, built }: InForce, { posed, ask, timezone }: OneQuestion) => {
  const guests: Asking = { ...posed, ask, timezone };
  const restricted: Asking = { ...guests, asked: withConditions(posed, token).asked };
  const [shared, without, again] = await Promise.all([
    outcomeOf(() => askEngine(stage, stage.places.shared, posed.shared, posed.clientId, restricted)),
    built === null ? null : outcomeOf(() => askEngine(stage, built, posed.alone, posed.clientIdAlone, guests)),
    built === null ? null : outcomeOf(() => askEngine(stage, built, posed.alone, posed.clientIdAlone, restricted)),
  ]);
  return { shared, without, again };
};

/**
 * Whether the metric's joins keep rows without a row of `from`. In these, the token's table is NULL and its conditions
 * cannot pass, so a condition requires more than that no hidden row is read. Such questions are compared only under the
 * token's conditions.
 */
const isPadded = ({ alone, asked }: Posed): boolean => {
  const steps = expectedOf(() =>
    stepsTo(alone, asked.definition.from, metricTables(asked, { mart: alone, rowsOf: () => [], timezone: null })),
  );
  return 'answer' in steps && steps.answer.some(({ kind }) => kind === 'RIGHT JOIN' || kind === 'FULL JOIN');
};

/**
 * Returns the evaluator's answer. It also refuses if the token's tables have no single path, except for `whereRead`
 * conditions.
 */
const expectedUnder = ({ token, left }: InForce, { posed, ask, timezone }: OneQuestion) => {
  const always = token.filter(({ restriction }) => restriction === 'always');
  const ways = expectedOf(() => always.map(({ column }) => theWay(posed.alone, posed.asked.definition.from, column)));
  if ('refused' in ways && ways.refused !== undefined) return { refused: ways.refused };
  const source = sourceOf(left, posed.alone, timezone);
  return expectedFor(source, isPadded(posed) ? withConditions(posed, always) : posed, ask);
};

/**
 * Returns the answer of a wrong compiler, which follows a separate chain for each table's conditions and passes hidden
 * rows on it.
 */
const expectedOfWrong = ({ token, whole }: InForce, { posed, ask, timezone }: OneQuestion) =>
  expectedFor(sourceOf(whole, posed.alone, timezone), withConditions(posed, token), ask);

const judgeOne = async (
  stage: Stage,
  inForce: InForce,
  question: OneQuestion,
  { tally, isCompared }: { readonly tally: HiddenTally; readonly isCompared: boolean },
): Promise<void> => {
  const { posed, ask, timezone } = question;
  const { shared, without, again } = await askEverywhere(stage, inForce, question);
  const added = { ...question, posed: asAdded(posed, shared) };
  const expected = expectedUnder(inForce, added);
  tally.asked += 1;
  if (again !== null) {
    tally.built += 1;
    assertSame('the shared database and the one without hidden rows differ', shared, again);
  }
  if ('refused' in shared) {
    tally.refused.set(shared.refused, (tally.refused.get(shared.refused) ?? 0) + 1);
    const source = sourceOf(inForce.left, posed.alone, timezone);
    const allowed = [...lacking(stage.kind, source), ...('refused' in expected ? unanswerable : [])];
    if (!allowed.includes(shared.refused)) throw new Error(`refused as ${shared.refused}, but an answer is there`);
    return;
  }
  if ((isList(shared.answer) ? shared.answer : shared.answer.rows).length > 1) tally.several += 1;
  if (without !== null && !isPadded(posed))
    assertSame('the answer under the token is not that of the rows it leaves', shared, without);
  // Measures over untrue cardinalities have no right answer; which rows underlying data shows does not depend on them.
  if (!posed.isTrue && ask !== 'underlying') return;
  judgeAnswer(sourceOf(inForce.left, posed.alone, timezone), posed, shared, expected);
  if (!isCompared) return;
  tally.compared += 1;
  if (show(expectedOfWrong(inForce, added)) !== show(expected)) tally.bitten += 1;
};

/** A question whose answers differ. */
class Disagreement extends Error {
  constructor(
    message: string,
    readonly failing: AFailing,
    options: ErrorOptions,
  ) {
    super(`${message}\n  ${String(options.cause)}`, options);
  }
}

/** Number of questions of a batch that run at the same time. */
const atOnce = 4;

const forEachOf = async <T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> => {
  const queue = [...items.entries()];
  const next = async (): Promise<void> => {
    for (let taken = queue.shift(); taken !== undefined; taken = queue.shift()) await work(taken[1], taken[0]);
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, next));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
};

/** Chooses conditions that some rows meet and some do not, for most questions of a tame frame. */
const poseTame = (dataset: Dataset, frame: AFrame, question: ACase, hasFullJoin: boolean): Posed => {
  const aCase: ACase = { ...question, ...frame };
  const posed = pose(dataset, aCase, hasFullJoin);
  if (!frame.isTame) return posed;
  const from = posed.asked.definition.from.tableName as TableName;
  const near = nearTables(posed.alone, aCase, from);
  const whole = shardOf(dataset, frame.tenant);
  const conditions = question.conditions.flatMap((test) => tamed(aCase, posed.alone, whole, test, near) ?? []);
  return { ...posed, asked: { ...posed.asked, conditions: conditions.map((test) => conditionOf(aCase, test, near)) } };
};

/** Maximum number of attempts to shrink a question. */
const tries = 200;

/** Throws the smallest disagreement that was found; the first one if `isShort`. */
export const judgeSmaller = async (
  stage: Stage,
  batch: ABatch,
  tally: HiddenTally,
  { compareOneOf, isShort }: { readonly compareOneOf: number; readonly isShort: boolean },
): Promise<void> => {
  try {
    await judgeBatch(stage, batch, tally, compareOneOf);
  } catch (cause) {
    if (isShort || !(cause instanceof Disagreement)) throw cause;
    const again = ({ frame, question }: AFailing): Promise<unknown> =>
      judgeBatch(stage, { frame, questions: [question], isBuilt: batch.isBuilt }, createHiddenTally(), 1).then(
        () => null,
        (found: unknown) => found,
      );
    throw (await smallest(cause.failing, again, tries)) ?? cause;
  }
};

/** Runs the questions of a batch, which share datamarts and token. */
const judgeBatch = async (
  stage: Stage,
  { frame, questions, isBuilt }: ABatch,
  tally: HiddenTally,
  compareOneOf: number,
): Promise<void> => {
  const { tenant, timezone } = frame;
  const posedOf = (question: ACase): Posed => poseTame(stage.dataset, frame, question, stage.kind !== 'MYSQL');
  const [first] = questions;
  if (first === undefined) return;
  const { alone } = posedOf(first);
  const whole = shardOf(stage.dataset, tenant);
  const token = tokenOf({ ...first, ...frame }, alone, whole, frame);
  const left = withoutHidden(whole, alone, token, timezone);
  const inForce: InForce = { token, whole, left, built: isBuilt ? await stage.refill(left) : null };
  await forEachOf(questions, async (asked, index) => {
    const posed = posedOf(asked);
    try {
      const isCompared = index % compareOneOf === 0;
      await judgeOne(stage, inForce, { posed, ask: asked.ask, timezone }, { tally, isCompared });
    } catch (cause) {
      throw new Disagreement(describe(posed, asked.ask, inForce.token), { frame, question: asked }, { cause });
    }
  });
};
