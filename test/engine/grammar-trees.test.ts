import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clickhouseGrammar, clickhouseParser } from '../../src/engine/databases/clickhouse/parser.js';
import { mysqlGrammar, mysqlParser } from '../../src/engine/databases/mysql/parser.js';
import { readExpression } from '../../src/engine/parsing/grammar/expressions.js';
import type { Grammar } from '../../src/engine/parsing/grammar/grammar.js';
import { createQueryReader } from '../../src/engine/parsing/grammar/queries.js';
import type { Expression, Query } from '../../src/engine/parsing/grammar/tree.js';
import { quoted, writeExpression } from '../../src/engine/parsing/grammar/write-expression.js';
import { writeSelect } from '../../src/engine/parsing/grammar/write-select.js';
import type { SqlParser } from '../../src/engine/parsing/sql-parser.js';
import { said, saidAgain, shown } from './grammar-world.js';

const dialects = [
  { name: 'MySQL', grammar: mysqlGrammar, parser: mysqlParser },
  { name: 'ClickHouse', grammar: clickhouseGrammar, parser: clickhouseParser },
];

/** Replaces texts written as bytes, which only the server needs. */
const plainText = (sql: string): string =>
  sql.replaceAll(/_utf8mb4 X'([0-9a-f]+)'/g, (_, hex: string) => {
    const value = Buffer.from(hex, 'hex').toString('utf8');
    return `'${value.replaceAll("'", "''")}'`;
  });

/** Removes positions, which do not change the meaning. */
const placeless = (tree: Expression): unknown =>
  JSON.parse(JSON.stringify(tree, (key, value: unknown) => (key === 'location' ? undefined : value)));

const runs = { seed: 5, numRuns: 200 } as const;

const names = ['a', 'b', 'Select', 'from', 'order by', 'x y', "it's", '#', '--', '/*', ';', 'ü', '(', 'null', 'a.b'];
const name = fc.constantFrom(...names);
const text = fc.oneof(
  fc.constantFrom(
    '',
    "'",
    "''",
    '\\',
    "\\'",
    '"',
    '`',
    '/*',
    '*/',
    '-- ',
    '#',
    ';',
    '\n',
    '\\%',
    '?',
    '@x',
    '{a:Int8}',
    "') or 1=1 -- ",
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).filter((value) => !/\0|\w_variable/.test(value)),
);

/** Any tree that the parser can return, without queries. */
const expressionOf = (grammar: Grammar, maxDepth: number): fc.Arbitrary<Expression> => {
  const isMysql = grammar === mysqlGrammar;
  const { tree } = fc.letrec<{ tree: Expression }>((tie) => {
    const of = tie('tree');
    const items = fc.array(of, { minLength: 1, maxLength: 3 });
    const nothing = fc.record({
      unit: fc.constant(null),
      levels: fc.constant([]),
      separator: fc.constant(null),
      isDistinct: fc.constant(false),
    });
    const order = fc.array(
      fc.record({
        by: of.filter(({ kind }) => kind !== 'number'),
        direction: fc.constantFrom('ASC', 'DESC'),
        nulls: fc.constant(null),
      }),
      { maxLength: 2 },
    );
    const link = (operators: readonly string[]) =>
      fc.array(fc.record({ operator: fc.constantFrom(...operators), operand: of }), { minLength: 1, maxLength: 3 });
    const chain = (operators: readonly string[]) =>
      fc.record({ kind: fc.constant('chain'), first: of, rest: link(operators) });
    const kinds: fc.Arbitrary<unknown>[] = [
      fc.record({
        kind: fc.constant('column'),
        path: fc.array(name, { minLength: 1, maxLength: 3 }),
        location: fc.constant(0),
      }),
      fc.record({ kind: fc.constant('text'), value: text }),
      fc.record({
        kind: fc.constant('number'),
        digits: fc.constantFrom('0', '1', '1.50', '1e9', '2.5E-3', '18446744073709551616'),
      }),
      fc.record({ kind: fc.constant('word'), word: fc.constantFrom('NULL', 'TRUE', 'FALSE') }),
      fc.record({
        kind: fc.constant('moment'),
        type: fc.constantFrom('DATE', 'TIMESTAMP'),
        value: fc.constant('2024-01-01 10:00:00'),
      }),
      fc.record({ kind: fc.constant('prefix'), operator: fc.constantFrom('NOT', '-'), of }),
      chain(['OR']),
      chain(['AND']),
      chain(['+', '-']),
      chain(['*', '/', '%', 'DIV']),
      ...(isMysql ? [] : [chain(['||'])]),
      fc.record({
        kind: fc.constant('chain'),
        first: of,
        rest: fc.tuple(
          fc.record({
            operator: fc.constantFrom('+', '-'),
            operand: fc.record({ kind: fc.constant('interval'), value: of, unit: fc.constantFrom('DAY', 'MONTH') }),
          }),
        ),
      }),
      fc.record({ kind: fc.constant('compare'), operator: fc.constantFrom('=', '<>', '<', '>='), left: of, right: of }),
      fc.record({ kind: fc.constant('is'), of, test: fc.constantFrom('NULL', 'NOT NULL') }),
      fc.record({ kind: fc.constant('between'), of, isNot: fc.boolean(), low: of, high: of }),
      fc.record({
        kind: fc.constant('like'),
        operator: fc.constantFrom('LIKE', 'NOT LIKE'),
        of,
        pattern: of,
        escapedBy: fc.constantFrom(null, '|', '\\'),
      }),
      fc.record({
        kind: fc.constant('in'),
        of,
        isNot: fc.boolean(),
        among: isMysql
          ? items
          : fc.array(fc.record({ kind: fc.constant('text'), value: text }), { minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        kind: fc.constant('case'),
        of: fc.option(of),
        branches: fc.array(fc.record({ when: of, value: of }), { minLength: 1, maxLength: 2 }),
        otherwise: fc.option(of),
      }),
      fc.record({
        kind: fc.constant('cast'),
        of,
        type: isMysql
          ? fc.constantFrom('CHAR(5)', 'SIGNED', 'DECIMAL(10, 2)')
          : fc.constantFrom('Int64', 'Decimal(10, 2)', 'Nullable(String)'),
      }),
      fc.record({ kind: fc.constant('extract'), unit: fc.constant('DAY'), of }),
      fc.record({ kind: fc.constant('trim'), side: fc.constantFrom('BOTH', 'LEADING'), what: fc.option(of), of }),
      fc
        .tuple(nothing, items, fc.constantFrom(isMysql ? 'CONCAT' : 'concat', isMysql ? 'IF' : 'if'))
        .map(([rest, args, called]) => ({
          kind: 'call',
          name: called,
          isAggregate: false,
          args,
          order: [],
          window: null,
          ...rest,
        })),
      fc.tuple(nothing, fc.oneof(items, fc.constant('all')), fc.boolean()).map(([rest, args, isDistinct]) => ({
        kind: 'call',
        name: isMysql ? 'COUNT' : 'count',
        isAggregate: true,
        args,
        order: [],
        window: null,
        ...rest,
        isDistinct: isDistinct && args !== 'all',
      })),
      fc.tuple(nothing, items, order).map(([rest, partition, by]) => ({
        kind: 'call',
        name: isMysql ? 'SUM' : 'sum',
        isAggregate: false,
        args: partition.slice(0, 1),
        order: [],
        ...rest,
        window: { partition, order: by, frame: 'ROWS BETWEEN 2 PRECEDING AND CURRENT ROW' },
      })),
      ...(isMysql ? [fc.record({ kind: fc.constant('collate'), of, collation: fc.constant('utf8mb4_bin') })] : []),
    ];
    return { tree: fc.oneof({ maxDepth, withCrossShrink: true }, ...(kinds as [fc.Arbitrary<Expression>])) };
  });
  return tree;
};

const written = (grammar: Grammar, tree: Expression): string => {
  const parts: string[] = [];
  writeExpression(
    {
      grammar,
      put: (part) => parts.push(part),
      column: ({ path }) => parts.push(path.map(quoted).join('.')),
      isVariable: () => false,
      query: () => parts.push('?'),
      refuse: (what) => {
        throw new Error(what);
      },
    },
    tree,
  );
  return parts.join('');
};

const queryOf = (grammar: Grammar): fc.Arbitrary<Query> => {
  const inner = expressionOf(grammar, 1);
  const depth = { maxDepth: 3, depthIdentifier: fc.createDepthIdentifier() };
  const location = fc.constant(0);
  const named = fc.record({ text: fc.constantFrom('c', 'd', 'e', 'flights', 'order by', '--x'), location });
  // A column may be qualified by a name that its FROM does not have. Such trees are refused, so they are filtered out
  // here.
  const plain = inner.filter((tree) => !/"path":\[[^\]]*,/.test(JSON.stringify(tree)));
  const { query } = fc.letrec<{ query: Query; body: unknown; source: unknown; expression: Expression }>((tie) => ({
    expression: fc.oneof(
      depth,
      { weight: 6, arbitrary: plain },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('subquery'), query: tie('query') }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('exists'), query: tie('query') }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('in'), of: plain, isNot: fc.boolean(), among: tie('query') }),
      },
    ) as fc.Arbitrary<Expression>,
    source: fc.oneof(
      depth,
      fc.record({
        of: fc.record({
          kind: fc.constant('name'),
          path: fc.array(fc.constantFrom('c', 'd', 'flights', 'main', 'x'), { minLength: 1, maxLength: 2 }),
        }),
        alias: fc.option(named, { freq: 4 }),
        location,
      }),
      fc.record({ of: tie('query'), alias: named, location }),
    ),
    body: fc.record({
      kind: fc.constant('select'),
      isDistinct: fc.boolean(),
      items: fc.array(fc.record({ kind: fc.constant('item'), expression: tie('expression'), alias: named, location }), {
        minLength: 1,
        maxLength: 2,
      }),
      from: fc.option(tie('source')).chain((source) =>
        source === null
          ? fc.constant<unknown[]>([])
          : fc
              .array(
                fc.record({
                  join: fc.constantFrom('INNER JOIN', 'LEFT JOIN'),
                  source: tie('source'),
                  on: tie('expression'),
                  using: fc.constant([]),
                }),
                { maxLength: 1 },
              )
              .map((rest) => [{ join: '', source, on: null, using: [] }, ...rest] as unknown[]),
      ),
      where: fc.option(tie('expression')),
      group: fc.constant([]),
      isRollup: fc.constant(false),
      having: fc.constant(null),
    }),
    query: fc.record({
      kind: fc.constant('query'),
      ctes: fc.oneof(
        depth,
        fc.constant([]),
        fc.uniqueArray(fc.record({ name: named, query: tie('query') }), {
          maxLength: 2,
          selector: (cte) => JSON.stringify((cte as { name: { text: string } }).name.text),
        }),
      ),
      body: fc.oneof(
        depth,
        tie('body'),
        fc.record({
          kind: fc.constant('set'),
          operator: fc.constantFrom('UNION ALL', 'EXCEPT DISTINCT'),
          items: fc.tuple(tie('body'), tie('body')),
        }),
      ),
      order: fc.constant([]),
      limit: fc.constant(null),
      offset: fc.constant(null),
    }) as unknown as fc.Arbitrary<Query>,
  }));
  return query;
};

describe.each(dialects)('$name: SQL that is written from a tree', ({ grammar, parser }) => {
  test('is parsed to the same tree', () => {
    fc.assert(
      fc.property(expressionOf(grammar, 4), (tree) => {
        const reader = createQueryReader(plainText(written(grammar, tree)), grammar);
        const again = readExpression(reader);
        expect(reader.peek().kind).toBe('end');
        expect(placeless(again)).toEqual(placeless(tree));
      }),
      runs,
    );
  });

  test('is written again identically, including tables and CTEs', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(queryOf(grammar), async (tree) => {
        const once = await onceWritten(grammar, tree, parser);
        if (once === undefined) return;
        count += 1;
        expect(unconditional(said(await shown(parser, once.text)))).toBe(unconditional(once.template));
      }),
      { ...runs, numRuns: 120 },
    );
    expect(count).toBeGreaterThan(30);
  });
});

/** The check for tables that are read twice is too strict on purpose: it also counts names that may be CTEs. */
const unconditional = (template: string): string => template.replaceAll(/ WHERE TRUE(<conditions>)?|<conditions>/g, '');

class Unfit extends Error {}

/** Undefined if the tree defines a name twice or uses an unknown one. */
const onceWritten = async (
  grammar: Grammar,
  tree: Query,
  parser: SqlParser,
): Promise<{ text: string; template: string } | undefined> => {
  try {
    const parsed = writeSelect(tree, grammar, () => {
      throw new Unfit();
    });
    const once = { ...parser, select: async () => ({ ...parsed, shown: parsed.tables }) };
    return { text: plainText(await saidAgain(once, '')), template: said(await shown(once, '')) };
  } catch (cause) {
    if (cause instanceof Unfit) return undefined;
    throw cause;
  }
};
