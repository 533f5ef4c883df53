import { describe, expect, test } from 'vitest';
import { clickhouseParser } from '../../src/engine/databases/clickhouse/parser.js';
import { mysqlParser } from '../../src/engine/databases/mysql/parser.js';
import type { ExpressionHole } from '../../src/engine/parsing/sql-parser.js';
import { fill, shown } from './grammar-world.js';
import { refusalOf } from './world.js';

const parsers = [
  { name: 'MySQL', parser: mysqlParser },
  { name: 'ClickHouse', parser: clickhouseParser },
];

describe.each(parsers)('$name: which table a name refers to', ({ parser }) => {
  test.each([
    // All places where a table can be read.
    ['select x from a, b', 'FROM <a a>, <b b>'],
    ['select x from a cross join b', 'FROM <a a> CROSS JOIN <b b>'],
    ['select x from a left outer join b on a.i = b.i', 'LEFT JOIN <b b> ON (`a`.`i` = `b`.`i`)'],
    ['select x from a right join b using (i, j)', 'RIGHT JOIN <b b> USING (`i`, `j`)'],
    ['select x from (select x from a) d', 'FROM (SELECT `x` FROM <a a>) AS `d`'],
    ['select x from (select x from a)', 'FROM (SELECT `x` FROM <a a>) AS `gl_rows_0`'],
    [
      'select x from t where exists (select 1 from a where a.i = t.i)',
      'EXISTS (SELECT 1 FROM <a a> WHERE (`a`.`i` = `t`.`i`))',
    ],
    ['select x from t where (i, j) in (select i, j from a)', '((`i`, `j`) IN (SELECT `i`, `j` FROM <a a>))'],
    ['select case when x = (select max(x) from a) then 1 end as y from t', 'FROM <a a>)) THEN'],
    ['select x from t group by x having count(*) > (select count(*) from a)', '> (SELECT'],
    ['select x from t order by (select max(x) from a where a.i = t.i)', 'ORDER BY (SELECT'],
    ['select sum(x) over (partition by (select max(x) from a)) as s from t', 'FROM <a a>)'],
    ['select x from t join u on t.i = u.i and u.j in (select j from a)', 'FROM <a a>)'],
    ['(select x from a) union distinct (select x from b)', '<a a> UNION DISTINCT SELECT `x` FROM <b b>'],
    // Columns are qualified by the alias of their table, whatever they were qualified by.
    ['select main.t.x from main.t', 'SELECT `t`.`x` AS `x` FROM <main.t t>'],
    ['select main.t.* from main.t', 'SELECT `t`.* FROM <main.t t>'],
    ['select f.x from a.t f join b.t g on f.i = g.i', 'FROM <a.t f> INNER JOIN <b.t g>'],
    ['select t.x from a.t where t.i in (select i from b.t u where u.j = a.t.j)', 'WHERE (`u`.`j` = `t`.`j`)'],
    ['select `x` as y, `from` as z from `select`', 'SELECT `x` AS `y`, `from` AS `z` FROM <select select>'],
  ])('each name in a statement refers to its table: %s', async (text, expected) => {
    expect(await shown(parser, text)).toContain(expected);
  });

  test('a table is listed once, and equal names in two schemas are two tables', async () => {
    const { tables } = await parser.select(
      'with c as (select x from main.t) select t.x from a.t join c on t.x = c.x join t u on u.x = c.x where 1 in (select 1 from main.t)',
    );
    expect(tables.map((path) => path.join('.')).toSorted()).toEqual(['a.t', 'main.t', 't']);
  });

  test('the written text contains no table name', async () => {
    const { template } = await parser.select(
      'with secret as (select * from secret) select s.x from secret s join main.secret t on s.x = t.x where s.x in (select y from secret where z = 1)',
    );
    expect(template.filter((part) => typeof part === 'string').join('')).not.toMatch(/(FROM|JOIN|,) `?(main|secret)/);
  });
});

describe('which name refers to a CTE', () => {
  const one = '(SELECT 1 AS `x`)';
  test.each([
    // A CTE is known only by its bare name. A qualified name is always a table.
    [
      'with flights as (select 1 as x) select x from flights',
      'FROM `gl_cte_0` AS `flights`',
      `FROM ${one} AS \`flights\``,
    ],
    ['with flights as (select 1 as x) select x from main.flights', 'FROM <main.flights flights>'],
    ['with flights as (select 1 as x) select x from `main`.`flights` f', 'FROM <main.flights f>'],
    ['with flights as (select x from flights) select x from flights', '(SELECT `x` FROM <flights flights>)'],
    ['with flights as (select x from main.flights) select x from flights', 'FROM <main.flights flights>)'],
    // A CTE is known in the whole statement and in the later CTEs.
    [
      'with c as (select 1 as x) select y from t where y in (select x from c)',
      'IN (SELECT `x` FROM `gl_cte_0` AS `c`)',
      `IN (SELECT \`x\` FROM ${one} AS \`c\`)`,
    ],
    [
      'with c as (select 1 as x) select (select x from c) as y from t',
      '(SELECT `x` FROM `gl_cte_0` AS `c`) AS `y`',
      `(SELECT \`x\` FROM ${one} AS \`c\`) AS \`y\``,
    ],
    [
      'with c as (select 1 as x), d as (select x from c) select x from d',
      '`gl_cte_1` AS (SELECT `x` FROM `gl_cte_0` AS `c`)',
      `FROM (SELECT \`x\` FROM ${one} AS \`c\`) AS \`d\``,
    ],
    [
      'with c as (select 1 as x) select x from (select x from c) c',
      'FROM `gl_cte_0` AS `c`) AS `c`',
      `FROM ${one} AS \`c\`) AS \`c\``,
    ],
    [
      'with c as (select 1 as x) select x from t join c on t.x = c.x',
      'INNER JOIN `gl_cte_0` AS `c`',
      `INNER JOIN ${one} AS \`c\``,
    ],
    [
      'with c as (select 1 as x) select x from c union all select x from c d',
      'FROM `gl_cte_0` AS `d`',
      `FROM ${one} AS \`d\``,
    ],
    // Outside the parentheses in which a CTE is defined, its name is a table's.
    ['select x from t where y in (with c as (select 1 as x) select x from c) and z in (select x from c)', 'FROM <c c>'],
    ['select x from (with c as (select 1 as x) select x from c) d join c on d.x = c.x', 'INNER JOIN <c c>'],
    ['with d as (with c as (select 1 as x) select x from c) select d.x from d join c on d.x = c.x', 'INNER JOIN <c c>'],
    // A name means the nearest relation. A relation behind a nearer one of the same name keeps its own meaning.
    [
      'with c as (select 1 as x) select x from t where y in (with c as (select 2 as x) select x from c)',
      'FROM `gl_cte_1` AS `c`',
      'FROM (SELECT 2 AS `x`) AS `c`',
    ],
    [
      'with c as (select 1 as x) select y from (with c as (select x from c) select x as y from c) d',
      'AS (SELECT `x` FROM `gl_cte_0` AS `c`)',
      `FROM (SELECT \`x\` FROM ${one} AS \`c\`) AS \`c\``,
    ],
    [
      'with d as (select x from c) select x from t where y in (with c as (select 1 as x) select x from d)',
      '(SELECT `x` FROM <c c>)',
    ],
  ])('the nearest CTE of a name is the one referred to: %s', async (text, expected, inlined = expected) => {
    expect(await shown(clickhouseParser, text)).toContain(expected);
    expect(await shown(mysqlParser, text)).toContain(inlined);
  });

  test('MySQL: a chain of CTEs that doubles at each step ends quickly', async () => {
    const links = Array.from(
      { length: 40 },
      (_, index) => `c${index + 1} as (select a.x from c${index} a, c${index} b)`,
    );
    const text = `with c0 as (select 1 as x), ${links.join(', ')} select x from c40`;
    expect(await refusalOf(() => mysqlParser.select(text))).toMatchObject({ reason: 'sql-too-long' });
    const long = Array.from({ length: 60 }, (_, index) => `c${index + 1} as (select x from c${index})`);
    expect(
      await refusalOf(() => mysqlParser.select(`with c0 as (select 1 as x), ${long.join(', ')} select x from c60`)),
    ).toMatchObject({ reason: 'sql-too-deep' });
  });
});

describe.each(parsers)('$name: what the parser reports to the engine', ({ parser }) => {
  test.each([
    ['select x from t', [{ table: 0, alias: 't' }]],
    ['select x from main.t f left join u on f.i = u.i, v', ['f', 'u', 'v']],
    ['select x from t where a = 1 or b = 2 group by x having count(*) > 1 order by 1 limit 5', ['t']],
    ['with c as (select i from u) select x from t where i in (select i from c)', ['t']],
    ['((select x from t))', ['t']],
    // Conditions on one part of a UNION would not apply to all rows of the metric.
    ['select x from t union all select x from u', null],
    ['select x from (select x from t) d', null],
    ['with c as (select x from t) select x from c', null],
    ['select x from t join (select i from u) d on t.i = d.i', null],
    ['select 1 as x', null],
    ['select f.x from t f join t g on f.i = g.i', null],
    ['select f.x from t f join main.T g on f.i = g.i', null],
    ['select x from t where i in (select i from t u)', null],
    ['select x from t where i in (select i from main.t u)', null],
    ['select x, (select count(*) from t u) as n from t', null],
    ['with c as (select i from t) select x from t where i in (select i from c)', null],
    ['(select x from t limit 1) order by 1', null],
  ])('whether conditions can be added: %s', async (text, expected) => {
    if (parser === clickhouseParser && text.startsWith('(select x from t limit')) return;
    const { block, template } = await parser.select(text);
    const aliases = expected?.map((one, table) => (typeof one === 'string' ? { table, alias: one } : one)) ?? null;
    expect(block?.map(({ alias }) => alias) ?? null).toEqual(aliases?.map(({ alias }) => alias) ?? null);
    const holes = template.filter((part) => typeof part === 'object' && part.kind === 'conditions');
    expect(holes).toHaveLength(expected === null ? 0 : 1);
  });

  test('conditions are ANDed to the complete WHERE', async () => {
    expect(await shown(parser, 'select x from t where a = 1 or b = 2')).toContain(
      'WHERE ((`a` = 1) OR (`b` = 2))<conditions>',
    );
    expect(await shown(parser, 'select x from t where a')).toContain('WHERE `a`<conditions>');
    expect(await shown(parser, 'select x from t limit 1')).toContain('WHERE TRUE<conditions> LIMIT 1');
  });

  test('variables, by name and position', async () => {
    const text =
      'select x from t where a = client_id_variable and b in (1, Region_Variable, `kind_variable`) and lower(CLIENT_ID_VARIABLE) = c and t.d_variable = 1';
    expect(await shown(parser, text)).toContain(
      'WHERE ((`a` = <client_id>) AND (`b` IN (1, <Region item>, <kind item>)) AND (lower(<client_id>) = `c`) AND (`t`.`d_variable` = 1))'.replace(
        'lower',
        parser === mysqlParser ? 'LOWER' : 'lower',
      ),
    );
    expect((await parser.select(text)).variables).toEqual(['client_id', 'Region', 'kind']);
  });

  test('an expression over columns, with their original names', async () => {
    const written = async (text: string): Promise<string> => {
      const { template, isAggregate } = await parser.expression(text);
      return `${isAggregate} ${fill<ExpressionHole>(template, ({ path }) => `<${path.join('.')}>`)}`;
    };
    expect(await written('delay')).toBe('false <delay>');
    expect(await written('a.b + c.d.e * 2')).toBe('false (<a.b> + (<c.d.e> * 2))');
    expect(await written('x_variable')).toBe('false <x_variable>');
    expect((await written('sum(a.b) / count(*)')).toLowerCase()).toBe('true (sum(<a.b>) / count(*))');
    expect((await written('count(*)')).toLowerCase()).toBe('true count(*)');
    expect((await written('100 * sum(case when a > 1 then 1 else 0 end)')).toLowerCase()).toContain(
      'true (100 * sum((case',
    );
  });

  test('very long texts are accepted up to the limit', async () => {
    const long: readonly (readonly [string, string, string, string])[] = [
      ['select x from t where y in (', "'a'", ', ', ')'],
      ['select x from t where ', 't.a = 1', ' and ', ''],
      ['select x from t where ', 'not a', ' or ', ''],
      ['select ', '1', ' + ', ' as x'],
      ['select x from t where y in (select ', 't.a', ', ', ' from t)'],
      ['', 'select x from t', ' union all ', ''],
      ['select case ', 'when a then b', ' ', ' end as x from t'],
      ['select concat(', 'a', ', ', ') as x from t'],
      ['select x from t ', '/* b */', ' ', ''],
      ['select x from t ', '-- b', '\n', ''],
      ['select x from t where y = ', "'", '', ''],
      ['select x from t where ', 'a in (1)', ' and ', ''],
      ['select x from t where ', 'exists (select 1 from u)', ' or ', ''],
    ];
    for (const [start, item, between, end] of long) {
      const count = 2 * Math.ceil(20_000 / (item.length + between.length) / 2);
      const text = `${start}${Array.from({ length: count }, () => item).join(between)}${end}`;
      expect((await shown(parser, text)).length).toBeGreaterThan(20);
    }
  });

  test('a refusal names the problem and its position, and repeats only names', async () => {
    const { message } = await refusalOf(() =>
      parser.select("select x from t\nwhere y = 'secret'\n  and sleep('secret') > 'secret'"),
    );
    expect(message).toBe(
      'The SQL has function sleep, which is not among the allowed ones, at line 3, column 7; that cannot be run here.',
    );
    const cut = await refusalOf(() => parser.select("select x from t where y = 'a' 'secret'"));
    expect(cut.message).toBe(
      'The SQL has a text where its end is expected at line 1, column 31; that cannot be run here.',
    );
  });
});

describe('MySQL', () => {
  test('names in MySQL ignore case', async () => {
    expect(mysqlParser.isSameName('Delay', 'dELAY')).toBe(true);
    expect(await shown(mysqlParser, 'with C as (select 1 as x) select c.X from c')).toContain(
      'SELECT `c`.`X` AS `X` FROM (SELECT 1 AS `x`) AS `c`',
    );
    expect(await shown(mysqlParser, 'select F.x from flights f')).toContain('SELECT `f`.`x` AS `x`');
    expect(await refusalOf(() => mysqlParser.select('select x from a t, b T'))).toMatchObject({ reason: 'sql-name' });
  });

  test('text has the same meaning in every SQL mode of the server', async () => {
    const shownText = async (text: string): Promise<string> => shown(mysqlParser, `select ${text} as x`);
    expect(await shownText("'it''s'")).toBe("SELECT 'it''s' AS `x`");
    expect(await shownText('"a ""b"" \'c\'"')).toBe("SELECT 'a \"b\" ''c''' AS `x`");
    expect(await shownText("'a\\'")).toBe("SELECT _utf8mb4 X'615c' AS `x`");
    expect(await shownText("'a\\' /* ' */")).toBe("SELECT _utf8mb4 X'615c' AS `x`");
    expect(await shownText("'#--/*'")).toBe("SELECT '#--/*' AS `x`");
  });

  test('comments are removed, as the server does', async () => {
    expect(await shown(mysqlParser, 'select 1 -- a\n as /* b */ x # c')).toBe('SELECT 1 AS `x`');
    expect(await shown(mysqlParser, 'select 5--1 as x')).toBe('SELECT (5 - (-1)) AS `x`');
    expect(await shown(mysqlParser, 'select 5 --\tx\n as x')).toBe('SELECT 5 AS `x`');
  });
});

describe('ClickHouse', () => {
  test('names in ClickHouse are case-sensitive', async () => {
    expect(clickhouseParser.isSameName('Delay', 'delay')).toBe(false);
    expect(await shown(clickhouseParser, 'with C as (select 1 as x) select x from c')).toContain('FROM <c c>');
    expect(await refusalOf(() => clickhouseParser.select('select F.x from flights f'))).toMatchObject({
      reason: 'sql-name',
    });
  });

  test('text is written with backslashes', async () => {
    const shownText = async (text: string): Promise<string> => shown(clickhouseParser, `select ${text} as x`);
    expect(await shownText("'it''s'")).toBe("SELECT 'it\\'s' AS `x`");
    expect(await shownText("'it\\'s'")).toBe("SELECT 'it\\'s' AS `x`");
    expect(await shownText("'a\\\\'")).toBe("SELECT 'a\\\\' AS `x`");
    expect(await shownText("'10\\% \\\\d'")).toBe("SELECT '10\\\\% \\\\d' AS `x`");
    expect(await shownText('"a" || \'b\'')).toBe("SELECT (`a` || 'b') AS `x`");
  });

  test('two dashes start a comment, whatever follows', async () => {
    expect(await shown(clickhouseParser, 'select 5--1 as x\n as x')).toBe('SELECT 5 AS `x`');
  });

  test("an alias with a table's name could be taken for it in WHERE", async () => {
    for (const text of ['select y as t from t', 'select t.t from t', 'select t from t', 'select x, y as f from t f'])
      expect((await clickhouseParser.select(text)).block).toBeNull();
    expect((await mysqlParser.select('select y as t from t')).block).not.toBeNull();
  });
});
