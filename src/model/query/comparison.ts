/**
 * Compares a single value with the value of an earlier period. Time conditions of the author and the guest move;
 * conditions of the token never move.
 */
import { heldConditions, isReadBy, ownTables } from '../dashboard/mapped-columns.js';
import {
  type Comparison,
  type ConditionTree,
  shownMeasures,
  testsOf,
  type VisualDefinition,
} from '../dashboard/metric.js';
import { sameColumn } from '../datamart/datamart.js';
import type { Moment } from '../filter/date-range.js';
import type { Condition, Predicate, Scalar } from '../filter/filter.js';
import { isStartOf, movePeriods, type Period } from '../filter/period.js';
import { readFilterValue } from '../filter/value.js';
import type { MetricAnswer, MetricQuestion } from './engine.js';
import { datedPredicate } from './relative.js';

/** The question for the earlier value, and the name of its measure in the answer. */
export type Earlier = { readonly question: MetricQuestion; readonly measure: string };

/**
 * Returns the question for the earlier period. Undefined if no comparison applies: the metric has none, it is grouped,
 * or neither a movable condition nor its own `where` bounds the comparison's column. The earlier question keeps every
 * condition. Movable conditions on that column move back by the given number of periods; all others are unchanged, so
 * the comparison never includes rows that the token hides from the guest.
 *
 * @internal Tests only: random tests prove what the earlier question may read.
 */
export const earlierQuestion = (question: MetricQuestion): Earlier | undefined => {
  const { definition, movable = [] } = question;
  if (definition.kind !== 'visual' || definition.comparison === undefined) return undefined;
  const { comparison } = definition;
  const [measure] = shownMeasures(definition.measures);
  if (measure === undefined || definition.dimensions.length > 0) return undefined;
  const isMovable = (condition: Condition): boolean =>
    movable.includes(condition) && sameColumn(condition.column, comparison.column);
  const onColumn = testsOn(question, definition, comparison);
  const movedOf = (predicate: Predicate) => moved(datedPredicate(predicate, question.today), comparison);
  if (!onColumn.some(({ predicate }) => bounds.has(predicate.kind))) return undefined;
  if (onColumn.some(({ predicate }) => movedOf(predicate) === undefined)) return undefined;
  const move = (condition: Condition): Condition => ({
    ...condition,
    predicate: movedOf(condition.predicate) ?? condition.predicate,
  });
  return {
    measure: measure.name,
    question: {
      ...question,
      definition: {
        ...definition,
        ...movedWhere(definition, comparison, move),
        calculations: [],
        sort: [],
        limit: null,
      },
      conditions: question.conditions.map((condition) => (isMovable(condition) ? move(condition) : condition)),
      sort: null,
      limit: null,
      offset: 0,
    },
  };
};

/** The movable conditions on the comparison's column, and those of the metric's own `where`. */
const testsOn = (
  { conditions, movable = [] }: Pick<MetricQuestion, 'conditions' | 'movable'>,
  definition: VisualDefinition,
  { column: compared }: Comparison,
): readonly Pick<Condition, 'column' | 'predicate'>[] => [
  ...heldConditions(conditions, ownTables(definition), (table) => isReadBy(definition, table)).filter(
    (condition) => movable.includes(condition) && sameColumn(condition.column, compared),
  ),
  ...testsOf(definition.where).filter(({ column }) => sameColumn(column, compared)),
];

const bounds: ReadonlySet<Predicate['kind']> = new Set(['range', 'compare', 'oneOf', 'relative']);

const movedWhere = (
  { where }: VisualDefinition,
  { column }: Comparison,
  move: (condition: Condition) => Condition,
): Pick<VisualDefinition, 'where'> => {
  const moveTree = (tree: ConditionTree): ConditionTree => {
    if ('predicate' in tree) return sameColumn(tree.column, column) ? move(tree) : tree;
    return 'all' in tree ? { all: tree.all.map(moveTree) } : { any: tree.any.map(moveTree) };
  };
  return where === undefined ? {} : { where: moveTree(where) };
};

/**
 * Returns the predicate moved back. Undefined if a value is not a date, or the calendar has no date that much earlier.
 */
const moved = (predicate: Predicate, { grain, periods }: Comparison): Predicate | undefined => {
  const move = (value: Scalar, isEnd: boolean): string | undefined =>
    typeof value === 'string' ? movePeriods(value, grain, -periods, isEnd) : undefined;
  switch (predicate.kind) {
    case 'range': {
      const [from, to] = [
        predicate.from === null ? null : move(predicate.from, false),
        predicate.to === null ? null : move(predicate.to, predicate.toIsExclusive),
      ];
      return from === undefined || to === undefined ? undefined : { ...predicate, from, to };
    }
    case 'compare': {
      const value = move(predicate.value, predicate.operator === '<');
      return value === undefined ? undefined : { ...predicate, value };
    }
    case 'oneOf':
    case 'noneOf': {
      const values = predicate.values.map((value) => move(value, false));
      const known = values.filter((value) => value !== undefined);
      return known.length < values.length ? undefined : { ...predicate, values: known };
    }
    default:
      return predicate;
  }
};

/** The last complete period of each grain; undefined: a grain without one. */
const lastComplete: Readonly<Partial<Record<Period, string>>> = {
  day: 'Yesterday',
  week: 'Last Week',
  month: 'Last Month',
  quarter: 'Last Quarter',
  year: 'Last Year',
};

/**
 * Returns the question of the last complete period, if the metric has a comparison and nothing bounds its column: a sum of
 * all time has no earlier value. All other questions are returned as they are.
 */
export const withCompletePeriod = (question: MetricQuestion, moment: Moment): MetricQuestion => {
  const { definition, movable = [] } = question;
  if (definition.kind !== 'visual' || definition.comparison === undefined) return question;
  const { comparison, dimensions } = definition;
  const preset = lastComplete[comparison.grain];
  if (dimensions.length > 0 || preset === undefined) return question;
  if (testsOn(question, definition, comparison).some(({ predicate }) => bounds.has(predicate.kind))) return question;
  const reading = readFilterValue('date', preset, moment);
  if (!('predicate' in reading) || reading.predicate.kind !== 'range') return question;
  const { predicate } = reading;
  // The guest did not choose it, and its column may be hidden.
  const period: Condition = { column: comparison.column, predicate, isHidden: true };
  return {
    ...question,
    conditions: [...question.conditions, period],
    movable: [...movable, period],
    comparedFrom: String(predicate.from),
  };
};

/** `dimension`: the periods' name in the answer. `starts`: of the periods, the value's own last. */
type CourseQuestion = Earlier & { readonly dimension: string; readonly starts: readonly string[] };

/** How many periods a course has at most, the value's own among them. */
const coursePeriods = 12;

/**
 * The question for the course of a single value: the same measure in each period up to the value's own. Undefined if
 * no comparison applies, or the value is not that of exactly one period of its grain. As in the earlier question, only
 * movable conditions on the comparison's column reach further back; a metric whose comparison names a hidden column is
 * never shown, so that no period of one is.
 */
const courseQuestion = (question: MetricQuestion): CourseQuestion | undefined => {
  const earlier = earlierQuestion(question);
  const { definition, movable = [] } = question;
  if (earlier === undefined || definition.kind !== 'visual' || definition.comparison === undefined) return undefined;
  const { column, grain } = definition.comparison;
  const tests = testsOn(question, definition, definition.comparison);
  const isShown = definition.chart.type === 'singleValue' && definition.having === undefined;
  if (!isShown || lastComplete[grain] === undefined || tests.length !== 1) return undefined;
  const chosen = question.conditions.find((one) => movable.includes(one) && sameColumn(one.column, column));
  const reach = chosen && reachOf(datedPredicate(chosen.predicate, question.today), grain);
  if (reach === undefined) return undefined;
  const dimension = { name: freeName(definition), column, grain };
  return {
    ...{ measure: earlier.measure, dimension: dimension.name, starts: reach.starts },
    question: {
      ...earlier.question,
      definition: {
        ...definition,
        ...{ dimensions: [dimension], comparison: undefined, calculations: [], limit: null },
        measures: definition.measures.filter(({ name }) => name === earlier.measure),
        sort: [{ name: dimension.name, direction: 'ASC' as const }],
      },
      conditions: question.conditions.map((one) => (one === chosen ? { ...one, predicate: reach.predicate } : one)),
      movable: [],
      comparedFrom: undefined,
    },
  };
};

/** The starts of the course's periods, the last of which is exactly what the predicate keeps, and the predicate of all. */
const reachOf = (
  predicate: Predicate,
  grain: Period,
): { readonly starts: readonly string[]; readonly predicate: Predicate } | undefined => {
  if (predicate.kind !== 'range' || typeof predicate.from !== 'string' || typeof predicate.to !== 'string') {
    return undefined;
  }
  const { from } = predicate;
  const to = predicate.toIsExclusive ? predicate.to : movePeriods(predicate.to, 'day', 1);
  if (!isStartOf(from, grain) || to === undefined || movePeriods(from, grain, 1) !== to) return undefined;
  const starts = Array.from({ length: coursePeriods }, (_, at) => movePeriods(from, grain, at + 1 - coursePeriods));
  const known = starts.filter((start) => start !== undefined);
  return { starts: known, predicate: { ...predicate, from: known[0] ?? from } };
};

/** A name that no measure has. */
const freeName = ({ measures }: VisualDefinition): string => {
  let name = 'period';
  while (measures.some((measure) => measure.name === name)) name += '_';
  return name;
};

type Age = Pick<MetricAnswer, 'asOf' | 'isStale'>;

/** The age of an answer that is made of both. */
const olderAge = (one: Age, other: Age): Age => {
  const [asOf] = [one.asOf, other.asOf].filter((moment) => moment !== undefined).toSorted();
  return {
    ...(asOf === undefined ? {} : { asOf }),
    ...(one.isStale === true || other.isStale === true ? { isStale: true as const } : {}),
  };
};

type Query = (question: MetricQuestion) => Promise<MetricAnswer>;

/** As `compared`, with the course of a single value: for answers that a card shows. */
export const withCourse =
  (query: Query): Query =>
  async (question) => {
    const course = courseQuestion(question);
    if (course === undefined) return compared(query)(question);
    const [answer, past] = await Promise.all([compared(query)(question), query(course.question)]);
    const { rows, columns } = past;
    // Amounts of several currencies are no one course.
    const isMixed = answer.rows.length > 1 || columns.some(({ currencyColumn }) => currencyColumn !== undefined);
    if (isMixed) return answer;
    const { measure, dimension, starts } = course;
    const values = new Map(rows.map((row) => [dayIn(row[dimension]), row[measure] ?? null]));
    values.set(dayIn(starts.at(-1)), answer.rows[0]?.[measure] ?? null);
    const first = starts.findIndex((start) => (values.get(dayIn(start)) ?? null) !== null);
    if (first < 0) return answer;
    const points = starts.slice(first).map((at) => ({ at, value: values.get(dayIn(at)) ?? null }));
    return { ...answer, ...olderAge(answer, past), course: points };
  };

/** The day of a date, which the answer may write with a time. */
const dayIn = (date: unknown): string => String(date).split(/[T ]/, 1)[0] ?? '';

/** Returns the same query with `comparisonValue` in the answer if the metric's comparison applies. */
export const compared =
  (query: Query): Query =>
  async (question) => {
    const earlier = earlierQuestion(question);
    if (earlier === undefined) return query(question);
    const [answer, before] = await Promise.all([query(question), query(earlier.question)]);
    const { comparedFrom } = question;
    return {
      ...answer,
      ...olderAge(answer, before),
      comparisonValue: before.rows[0]?.[earlier.measure] ?? null,
      ...(comparedFrom === undefined ? {} : { comparedFrom }),
    };
  };
