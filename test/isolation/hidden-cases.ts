/** Random tokens with many questions of guests each: deep chains of tables, and conditions on tables that the metric does not join. */
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
import { tableNames, tenants } from './dataset.js';

/** What the questions of one batch share. The places of tables in `token` are those in `tables`. */
export type AFrame = Pick<ACase, 'tenant' | 'isNumber' | 'derived' | 'tables' | 'edges' | 'flaw' | 'timezone'> & {
  readonly token: readonly ATest[];
  readonly whereRead: readonly ATest[];
  /** The token leaves a good part of the rows: of nothing, every answer is right. */
  readonly isTame: boolean;
};

export type ABatch = {
  readonly frame: AFrame;
  /** Each with a frame of its own, which the batch's frame replaces. */
  readonly questions: readonly ACase[];
  /** Also asked of a real database without the hidden rows. */
  readonly isBuilt: boolean;
};

/** Always the table before: what is left over from 2, 3, 4 and 5 is the greatest place. */
const theLast = 59;

/** Mostly chains, and mostly many rows of one table to one of the next. */
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

/** Hides some rows of its table, and seldom all. No value of a token asks for NULL, which a row that an outer join pads would pass. */
const aTokenTest: fc.Arbitrary<ATest> = fc.oneof(
  {
    weight: 5,
    arbitrary: test(['<>', '<=', '>=', 'noneOf', 'openRange', 'isNotNull'], anyColumn),
  },
  { weight: 3, arbitrary: test(['='], ['flag']) },
  { weight: 1, arbitrary: test(['=', 'oneOf', 'range', 'like'], anyColumn) },
);

/** The metric's own table is tested now and then, the one farthest in the chain as a rule. */
const farther = (arbitrary: fc.Arbitrary<ATest>): fc.Arbitrary<ATest> =>
  fc
    .tuple(arbitrary, fc.constantFrom(null, null, theLast))
    .map(([item, table]) => ({ ...item, table: table ?? item.table }));

/** Often met by few rows, so that it matters which of them there are. */
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

/** `isNarrow`: the metric itself reads its first table alone, and all others by conditions. */
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
    { weight: 95, arbitrary: fc.constant('none' as const) },
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
  /** At most. */
  readonly questions: number;
  /** One batch of so many is also asked of a database without the hidden rows. */
  readonly builtOneOf: number;
};

/** Several rows of each table belong to one of the table before, and the token's table lies between the metric's and the guest's, or beside the latter. */
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

export const aBatchOf = ({ questions, builtOneOf }: BatchSizes): fc.Arbitrary<ABatch> =>
  fc
    .record({
      frame: aFrame,
      fork: fc.option(aFork, { freq: 1 }),
      questions: fc.array(aQuestion, { minLength: 1, maxLength: questions, size: 'max' }),
      isBuilt: fc.nat(builtOneOf - 1).map((nth) => nth === 0),
    })
    .map(({ frame, fork, questions: asked, isBuilt }) =>
      fork === null
        ? { frame, questions: asked, isBuilt }
        : { frame: { ...frame, ...fork }, questions: asked.map(ofFork), isBuilt },
    );
