/**
 * On real servers: the SQL written from the tree has the same meaning as the given SQL, and reads tables only where the
 * engine puts them.
 */
import fc from 'fast-check';
import type { Connection } from 'mysql2/promise';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickhouseGrammar, clickhouseParser } from '../../src/engine/databases/clickhouse/parser.js';
import { mysqlGrammar, mysqlParser } from '../../src/engine/databases/mysql/parser.js';
import type { SelectHole, SqlParser } from '../../src/engine/parsing/sql-parser.js';
import { createOwnClickHouseDatabase, isClickHouseThere, onClickHouse } from '../suites/clickhouse.js';
import { createOwnMysqlDatabase, isMysqlThere, mysqlServer } from '../suites/mysql.js';
import { common, forClickHouse, forMysql, tables } from './grammar-corpus.js';
import { hostileSelects, hostileToClickHouse, hostileToMysql } from './grammar-hostile.js';
import { fill } from './grammar-world.js';

type Answer = { readonly names: readonly string[]; readonly rows: readonly unknown[] };
type Server = {
  readonly ask: (sql: string) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

const secret = 424_242_424;

const openMysql = async (): Promise<Server> => {
  const { name, drop } = await createOwnMysqlDatabase();
  const { host, port, username: user, password } = mysqlServer;
  const connection: Connection = await createConnection({
    host,
    port,
    user,
    password,
    database: name,
    rowsAsArray: true,
    dateStrings: true,
  });
  const statements = [
    `SET sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'`,
    'CREATE TABLE flights (id INT, carrier VARCHAR(20), origin VARCHAR(20), delay INT, fare DECIMAL(10,2), day DATE, doc TEXT)',
    'CREATE TABLE airports (code VARCHAR(20), state VARCHAR(20))',
    'CREATE TABLE secret (id INT, code INT, x INT)',
    `INSERT INTO secret VALUES (${secret}, ${secret}, ${secret})`,
    `CREATE FUNCTION leak() RETURNS INT READS SQL DATA RETURN (SELECT max(x) FROM secret)`,
    ...inserts((value) => `'${value.replaceAll("'", "''")}'`),
  ];
  for (const statement of statements) await connection.query(statement);
  return {
    ask: async (sql) => {
      const [rows, fields] = await connection.query(sql);
      return { names: fields.map(({ name: field }) => field), rows: rows as unknown[] };
    },
    close: async () => {
      await connection.end();
      await drop();
    },
  };
};

const openClickHouse = async (): Promise<Server> => {
  const { name, drop } = await createOwnClickHouseDatabase();
  const statements = [
    'CREATE TABLE flights (id Int32, carrier String, origin String, delay Int32, fare Decimal(10,2), day Date, doc String) ENGINE = Memory',
    'CREATE TABLE airports (code String, state String) ENGINE = Memory',
    'CREATE TABLE secret (id Int32, code Int32, x Int32) ENGINE = Memory',
    `INSERT INTO secret VALUES (${secret}, ${secret}, ${secret})`,
    ...inserts((value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`),
  ];
  for (const statement of statements) await onClickHouse(statement, name);
  return {
    ask: async (sql) => {
      const [names = [], , ...rows] = await onClickHouse(`${sql} FORMAT JSONCompactEachRowWithNamesAndTypes`, name);
      return { names: names.map(String), rows };
    },
    close: drop,
  };
};

const inserts = (quote: (value: string) => string): readonly string[] =>
  Object.entries(tables).map(([name, { rows }]) => {
    const tuples = rows.map(
      (row) => `(${row.map((value) => (typeof value === 'number' ? value : quote(value))).join(', ')})`,
    );
    return `INSERT INTO ${name} VALUES ${tuples.join(', ')}`;
  });

/**
 * Fills the template as the engine does: tables of the datamart become leaves. A table that the engine would refuse has
 * no rows here.
 */
const written = async (parser: SqlParser, text: string): Promise<string> => {
  const { template, tables: read } = await parser.select(text);
  return fill<SelectHole>(template, (hole) => {
    if (hole.kind === 'variable') return hole.name === 'client_id' ? "'AA'" : '1';
    if (hole.kind === 'conditions') return ' AND (1 = 1)';
    const name = read[hole.table]?.at(-1)?.toLowerCase() ?? '';
    const leaf = name in tables ? `SELECT * FROM ${name}` : 'SELECT 1 AS id, 1 AS x, 1 AS code WHERE 1 = 0';
    return `(${leaf}) AS \`${hole.alias}\``;
  });
};

/** The server would look for an unknown function name among functions of the database. */
const unknownToMariaDb = async (server: Server, names: readonly string[]): Promise<readonly string[]> => {
  const unknown: string[] = [];
  for (const name of names) {
    await server.ask(`SELECT ${name}()`).catch((cause: { errno?: number }) => {
      if (cause.errno === 1305) unknown.push(name);
    });
  }
  return unknown;
};

const unknownToClickHouse = async (server: Server, names: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await server.ask(
    "SELECT name, case_insensitive, is_aggregate FROM system.functions WHERE origin = 'System'",
  );
  const known = rows as readonly (readonly [string, number, number])[];
  const isKnown = (name: string): boolean =>
    known.some(([own, isLoose]) => own === name || (isLoose === 1 && own.toLowerCase() === name.toLowerCase()));
  return names.filter((name) => !isKnown(name) && !(name.endsWith('If') && isKnown(name.slice(0, -2))));
};

const servers = [
  {
    name: 'MariaDB',
    isThere: await isMysqlThere(),
    open: openMysql,
    parser: mysqlParser,
    grammar: mysqlGrammar,
    unknownFunctions: unknownToMariaDb,
    ordinary: [...common, ...forMysql],
    hostile: [...hostileSelects, ...hostileToMysql],
    runs: 800,
  },
  {
    name: 'ClickHouse',
    isThere: await isClickHouseThere(),
    open: openClickHouse,
    parser: clickhouseParser,
    grammar: clickhouseGrammar,
    unknownFunctions: unknownToClickHouse,
    ordinary: [...common, ...forClickHouse],
    hostile: [...hostileSelects, ...hostileToClickHouse],
    runs: 400,
  },
];

describe.each(servers.filter(({ isThere }) => isThere))(
  '$name',
  ({ open, parser, grammar, unknownFunctions, ordinary, hostile, runs }) => {
    let server: Server;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server.close());

    test.each(ordinary.map((text) => [text]))('gives the same answer: %s', async (text) => {
      const given = await server.ask(text);
      expect(given.names.length).toBeGreaterThan(0);
      expect(await server.ask(await written(parser, text))).toEqual(given);
    });

    test('the server accepts the maximum nesting', async () => {
      const nests = [
        ['(1 + ', ')'],
        ['(NOT ', ')'],
        ['coalesce(1, ', ')'],
        ['case when 1 = 1 then ', ' end'],
        ['(select ', ')'],
      ] as const;
      for (const [start, end] of nests) {
        const text = `SELECT ${start.repeat(30)}1${end.repeat(30)} AS x`;
        await expect(server.ask(await written(parser, text))).resolves.toMatchObject({ names: ['x'] });
      }
    });

    test('every allowed function is built into the server, so no stored function can replace it', async () => {
      const names = [...grammar.functions.values()].map(({ name }) => name);
      expect(await unknownFunctions(server, names)).toEqual([]);
    });

    test('no mixture of ordinary and hostile texts reads the secret', async () => {
      const count = { accepted: 0, answered: 0 };
      await fc.assert(
        fc.asyncProperty(mangled([...ordinary, ...ordinary, ...hostile]), async (text) => {
          const sql = await written(parser, text).catch(() => undefined);
          if (sql === undefined) return;
          count.accepted += 1;
          const answer = await server.ask(sql).catch(() => undefined);
          if (answer === undefined) return;
          count.answered += 1;
          expect(JSON.stringify(answer)).not.toContain(String(secret));
        }),
        { seed: 11, numRuns: runs },
      );
      expect(count.accepted).toBeGreaterThan(runs / 10);
      expect(count.answered).toBeGreaterThan(runs / 40);
    });
  },
);

/** Words that could lead to the secret table, inserted into texts at random places. */
const pool = [
  'secret',
  '`secret`',
  '(secret)',
  '(select x from secret)',
  'secret.x',
  'as secret',
  'from secret',
  'join secret on 1 = 1',
  ', secret',
  'in (secret)',
  'in secret',
  'leak()',
  'with secret as (select 1 as x)',
  'table secret',
  'union select x from secret',
  "'",
  '"',
  '`',
  '\\',
  '/*',
  '*/',
  '--',
  '#',
  ';',
  '(',
  ')',
  ',',
  '.',
  'flights',
  'x',
  '1',
  'and',
  'or',
  'not',
  'exists',
  '*',
];

const mangled = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...texts),
      fc.array(
        fc.record({
          at: fc.nat(60),
          word: fc.constantFrom(...pool),
          how: fc.constantFrom('put', 'instead', 'swap', 'name', 'name'),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    )
    .map(([text, changes]) => {
      const parts = text.match(/\w+|\s+|[^\w\s]/g) ?? [];
      for (const { at, word, how } of changes) {
        const place = parts.length === 0 ? 0 : at % parts.length;
        if (how === 'put') parts.splice(place, 0, ` ${word} `);
        else if (how === 'name') replaceName(parts, at);
        else if (how === 'instead') parts[place] = ` ${word} `;
        else parts.splice(place, 2, ...parts.slice(place, place + 2).reverse());
      }
      return parts.join('');
    });

/** Replaces one name by the table's name, so that the text usually remains a valid statement. */
const replaceName = (parts: string[], at: number): void => {
  const names = parts.flatMap((part, index) => (/^[a-z]+$/.test(part) ? [index] : []));
  const place = names[at % Math.max(names.length, 1)];
  if (place !== undefined) parts[place] = 'secret';
};
