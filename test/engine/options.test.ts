/** Options of a filter with very many values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  table,
} from './world.js';

const count = 100_000;
const numbers: Readonly<Record<Kind, string>> = {
  DUCKDB: `range(0, ${count}) AS s(n)`,
  POSTGRES: `generate_series(0, ${count - 1}) AS s(n)`,
  MYSQL: `(SELECT seq AS n FROM seq_0_to_${count - 1}) AS s`,
  CLICKHOUSE: `(SELECT number AS n FROM numbers(${count})) AS s`,
  SQLITE: `(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s LIMIT ${count}) SELECT n FROM s) AS s`,
};
/** 100,000 values of client a. Client b also has the odd ones, and ten values of its own. */
const rowsOf = (kind: Kind): string => {
  const text = kind === 'MYSQL' ? 'CHAR' : kind === 'CLICKHOUSE' ? 'String' : 'VARCHAR(20)';
  const value = (of: string): string => `CAST(concat('Value ', CAST(${of} AS ${text})) AS ${text})`;
  return `SELECT CAST('a' AS ${text}) AS client, ${value('n')} AS name FROM ${numbers[kind]}
    UNION ALL SELECT CAST('b' AS ${text}) AS client, ${value(`n + ${count}`)} AS name FROM ${numbers[kind]} WHERE n < 10`;
};

const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('many', { client: 'VARCHAR', name: 'VARCHAR' }, 'client'),
  ],
});
const counted = metric('many', { measures: [{ name: 'n', aggregate: 'COUNT' }] });
const oddNames = ['100%', '100x', 'a_b', 'axb', 'back\\slash', 'ÄRGER', "it's", 'Value 7 more'];

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const text = kind === 'CLICKHOUSE' ? ' ENGINE = MergeTree ORDER BY tuple()' : '';
    const odd = oddNames.map(
      (name) => `('a', '${name.replaceAll("'", "''").replaceAll('\\', kind === 'CLICKHOUSE' ? '\\\\' : '\\')}')`,
    );
    place = await builder.build('options', [
      {
        name: 'clients',
        columns: { id: 'VARCHAR', name: 'VARCHAR' },
        rows: [
          ['a', 'A'],
          ['b', 'B'],
        ],
      },
      `CREATE TABLE many${text} AS ${rowsOf(kind)}`,
      `INSERT INTO many VALUES ${odd.join(', ')}`,
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const options = (search: string | null, client = 'a') => {
    const { sort: _, offset: __, ...asked } = question(place, mart, client, counted);
    return engine.options({ ...asked, column: at(place, columnRef('many.name')), search });
  };

  it('returns the first hundred values, and those that a search finds, ignoring case', async () => {
    expect(await options(null)).toHaveLength(100);
    expect(await options('VALUE 9999')).toEqual(
      ['Value 9999', ...Array.from({ length: 10 }, (_, digit) => `Value 9999${digit}`)].sort(),
    );
    expect(await options('nothing')).toEqual([]);
    expect(await options('ärger')).toEqual(['ÄRGER']);
  });

  it('treats wildcards, quotes and backslashes as plain characters', async () => {
    expect(await options('100%')).toEqual(['100%']);
    expect(await options('a_b')).toEqual(['a_b']);
    expect(await options('k\\s')).toEqual(['back\\slash']);
    expect(await options("t's")).toEqual(["it's"]);
    expect(await options('%')).toEqual(['100%']);
  });

  it('shows no value that only another client has', async () => {
    expect(await options(String(count))).toEqual([]);
    expect(await options(null, 'b')).toEqual(Array.from({ length: 10 }, (_, digit) => `Value ${count + digit}`));
    expect(await options('more', 'b')).toEqual([]);
  });
});
