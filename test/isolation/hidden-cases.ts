/**
 * Random tokens, each with many questions of guests: long chains of tables, and conditions on tables that the metric
 * does not join.
 */
import fc from 'fast-check';
import {
  type ACase,
  type AnEdge,
  type ATest,
  type ATree,
  aCase,
  anEdge,
  type PredicateKind,
  withParentTables,
  zones,
} from './cases.js';
import { type TableName, tableNames, tenants } from './dataset.js';

/** What the questions of one batch share. Positions of tables in `token` refer to `tables`. */
export type AFrame = Pick<ACase, 'tenant' | 'isNumber' | 'derived' | 'tables' | 'edges' | 'flaw' | 'timezone'> & {
  readonly token: readonly ATest[];
  readonly whereRead: readonly ATest[];
  /** Whether the token must leave enough rows: if it hid almost all, a wrong compiler would also answer correctly. */
  readonly isTame: boolean;
};

export type ABatch = {
  readonly frame: AFrame;
  /** The questions. The batch's frame replaces the frame of each. */
  readonly questions: readonly ACase[];
  /** Whether the questions are also sent to a real database without the hidden rows. */
  readonly isBuilt: boolean;
};

/** Selects the last table: its remainder after division by 2, 3, 4 or 5 is always the greatest position. */
const theLast = 59;

/** Usually builds chains with many rows of one table for one row of the next. */
const aDeepEdge: fc.Arbitrary<AnEdge> = fc
  .record({
    edge: anEdge,
    isDeep: fc.nat(2),
    pair: fc.constantFrom(0, 0, 0, 5, 2, 3, null),
    isFlipped: fc.nat(3),
  })
  .map(({ edge, isDeep, pair, isFlipped }) => ({
    ...edge,
    ...(isDeep === 0 ? {} : { to: theLast }),
    ...(pair === null ? {} : { pair, isFlipped: isFlipped === 0 }),
  }));

const test = (kinds: readonly PredicateKind[], columns: readonly ATest['column'][]): fc.Arbitrary<ATest> =>
  fc.record({
    table: fc.nat(5),
    column: fc.constantFrom(...columns),
    predicate: fc.constantFrom(...kinds),
    choice: fc.nat(1000),
  });

const anyColumn = ['id', 'ref', 'code', 'label', 'amount', 'price', 'weight', 'flag', 'day', 'at', 'moment'] as const;

/**
 * A condition that hides some rows of its table, rarely all. It never tests for NULL, since a padded row of an outer
 * join would pass.
 */
const aTokenTest: fc.Arbitrary<ATest> = fc.oneof(
  {
    weight: 5,
    arbitrary: test(['<>', '<=', '>=', 'noneOf', 'openRange', 'isNotNull'], anyColumn),
  },
  { weight: 3, arbitrary: test(['='], ['flag']) },
  { weight: 1, arbitrary: test(['=', 'oneOf', 'range', 'like'], anyColumn) },
);

/** A condition that is usually on the table farthest in the chain, and sometimes on the metric's own. */
const farther = (arbitrary: fc.Arbitrary<ATest>): fc.Arbitrary<ATest> =>
  fc
    .tuple(arbitrary, fc.constantFrom(null, null, theLast))
    .map(([item, table]) => ({ ...item, table: table ?? item.table }));

/** A condition that few rows meet, so that it matters which rows the token hides. */
const aGuestTest: fc.Arbitrary<ATest> = farther(
  fc.oneof(
    { weight: 1, arbitrary: test(['=', 'oneOf', 'range', '<', '>', 'like', 'isNull'], anyColumn) },
    { weight: 2, arbitrary: test(['<>', '<=', '>=', 'noneOf', 'openRange'], ['label', 'amount', 'price', 'day']) },
    { weight: 2, arbitrary: test(['='], ['flag']) },
  ),
);

const { aGuestTree } = fc.letrec<{ aGuestTree: ATree }>((tie) => ({
  aGuestTree: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    aGuestTest,
    fc.record({ all: fc.array(tie('aGuestTree'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('aGuestTree'), { minLength: 1, maxLength: 3 }) }),
  ),
}));

const theFirst = <T extends { readonly table: number }>(item: T): T => ({ ...item, table: 0 });

const unpaged = { having: null, cap: null, limit: null, offset: 0, search: null } as const;

/** `isNarrow`: the metric reads only its first table, and uses the others only in conditions. */
const aQuestion: fc.Arbitrary<ACase> = fc
  .record({
    base: aCase,
    conditions: fc.oneof(
      { weight: 1, arbitrary: fc.constant<readonly ATest[]>([]) },
      { weight: 5, arbitrary: fc.array(aGuestTest, { minLength: 1, maxLength: 1 }) },
      { weight: 3, arbitrary: fc.array(aGuestTest, { minLength: 2, maxLength: 3 }) },
    ),
    where: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: aGuestTree }),
    from: fc.constantFrom(0, 0, theLast, null),
    isNarrow: fc.nat(4),
    isWorksheet: fc.nat(9),
  })
  .map(({ base, conditions, where, from, isNarrow, isWorksheet }) => {
    const asked = { ...base, from: from ?? base.from, conditions, where, isWorksheet: isWorksheet === 9 };
    if (isNarrow === 0) return asked;
    return {
      ...asked,
      ...unpaged,
      dimensions: base.dimensions.slice(0, 2).map(theFirst),
      measures: base.measures.slice(0, 2).map(theFirst),
    };
  });

const aDrawnFrame: fc.Arbitrary<AFrame> = fc.record({
  tenant: fc.constantFrom(...tenants),
  isNumber: fc.boolean(),
  derived: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constantFrom<ACase['derived']>(['lines'], ['visits'], ['lines', 'visits']) },
  ),
  tables: fc.oneof(
    { weight: 4, arbitrary: fc.shuffledSubarray([...tableNames], { minLength: 3 }) },
    { weight: 1, arbitrary: fc.shuffledSubarray([...tableNames], { minLength: 1 }) },
  ),
  edges: fc.array(aDeepEdge, { minLength: 5, maxLength: 5 }),
  flaw: fc.oneof(
    { weight: 85, arbitrary: fc.constant('none' as const) },
    { weight: 10, arbitrary: fc.constant('keys' as const) },
    { weight: 5, arbitrary: fc.constantFrom('loop' as const, 'gap' as const, 'untrue' as const) },
  ),
  timezone: fc.constantFrom(...zones),
  token: fc.oneof(
    { weight: 3, arbitrary: fc.array(aTokenTest, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.array(aTokenTest, { minLength: 2, maxLength: 3 }) },
  ),
  isTame: fc.nat(9).map((nth) => nth > 0),
  whereRead: fc.oneof(
    { weight: 4, arbitrary: fc.constant<readonly ATest[]>([]) },
    { weight: 1, arbitrary: fc.array(aTokenTest, { minLength: 1, maxLength: 2 }) },
  ),
});

const aFrame = aDrawnFrame.map(
  (drawn): AFrame => ({ ...drawn, tables: withParentTables(drawn.tables, drawn.derived) }),
);

export type BatchSizes = {
  /** Maximum number of questions. */
  readonly questions: number;
  /** One in this many batches is also sent to a database without the hidden rows. */
  readonly builtOneOf: number;
};

/**
 * Tables where several rows belong to one row of the previous table. The token's table is between the metric's and the
 * guest's table, or next to the guest's.
 */
const aFork: fc.Arbitrary<Partial<AFrame>> = fc.record({
  tables: fc.shuffledSubarray(['orders', 'lines', 'visits', 'places', 'kinds'], { minLength: 3 }),
  edges: fc.array(
    fc
      .record({ edge: anEdge, pair: fc.constantFrom(0, 2, 5, 5), to: fc.constantFrom(0, 1, theLast, theLast) })
      .map(({ edge, pair, to }): AnEdge => ({ ...edge, pair, to, isFlipped: false, cardinality: 0 })),
    { minLength: 5, maxLength: 5 },
  ),
  derived: fc.constant([]),
  flaw: fc.constant('none' as const),
  token: fc
    .tuple(aTokenTest, fc.constantFrom(1, 1, 2))
    .map(([item, place]): readonly ATest[] => [{ ...item, table: place }]),
  isTame: fc.constant(true),
});

/**
 * A chain of tables whose relationships say that one row belongs to one row, where several do. The token is on the table
 * that is looked up for underlying data, or on the one behind it.
 */
const aContradiction: fc.Arbitrary<Partial<AFrame>> = fc
  .record({
    tables: fc.shuffledSubarray<TableName>(['orders', 'lines', 'visits', 'places', 'kinds'], {
      minLength: 3,
      maxLength: 3,
    }),
    edges: fc.array(
      fc
        .record({ edge: anEdge, pair: fc.constantFrom(0, 5) })
        .map(({ edge, pair }): AnEdge => ({ ...edge, pair, to: theLast, isFlipped: false })),
      { minLength: 5, maxLength: 5 },
    ),
    token: fc
      .tuple(aTokenTest, fc.constantFrom(1, 1, 2))
      .map(([item, place]): readonly ATest[] => [{ ...item, table: place }]),
  })
  .map((drawn): Partial<AFrame> => ({ ...drawn, derived: [], flaw: 'untrue', isTame: true, whereRead: [] }));

const ofFork = (question: ACase): ACase => ({
  ...question,
  ...unpaged,
  from: 0,
  dimensions: question.dimensions.slice(0, 1).map(theFirst),
  measures: question.measures.slice(0, 2).map(theFirst),
  option: theFirst(question.option),
  underlying: question.underlying.map(theFirst),
  where: null,
  conditions: question.conditions.slice(0, 1).map((item) => ({ ...item, table: theLast })),
  isWorksheet: false,
});

/** Rows of the first table, beside rows of the second one that are looked up. */
const ofContradiction = (question: ACase): ACase => ({
  ...ofFork(question),
  ask: 'underlying',
  underlying: [0, 1].flatMap((table) => [
    { table, column: 'id' },
    ...question.underlying.map((at) => ({ ...at, table })),
  ]),
  conditions: question.conditions.slice(0, 1).map(theFirst),
});

const shapes = {
  drawn: { frame: fc.constant<Partial<AFrame>>({}), questionOf: (question: ACase) => question },
  fork: { frame: aFork, questionOf: ofFork },
  contradiction: { frame: aContradiction, questionOf: ofContradiction },
} as const;
const aShape = fc
  .constantFrom('drawn', 'drawn', 'fork', 'fork', 'contradiction' as const)
  .chain((name) => shapes[name].frame.map((frame) => ({ frame, questionOf: shapes[name].questionOf })));

export const aBatchOf = ({ questions, builtOneOf }: BatchSizes): fc.Arbitrary<ABatch> =>
  fc
    .record({
      frame: aFrame,
      shape: aShape,
      questions: fc.array(aQuestion, { minLength: 1, maxLength: questions, size: 'max' }),
      isBuilt: fc.nat(builtOneOf - 1).map((nth) => nth === 0),
    })
    .map(({ frame, shape, questions: asked, isBuilt }) => ({
      frame: { ...frame, ...shape.frame },
      questions: asked.map(shape.questionOf),
      isBuilt,
    }));
