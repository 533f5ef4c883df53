/** Numbers that floats cannot represent are exact in rows, in sums and in comparisons, on every database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  table,
} from './world.js';

const greatest = 2n ** 63n - 1n;
const unsigned = 2n ** 64n - 1n;
/** The values of three rows, by column. Three times `0.1` is 0.3 only in decimals. */
const columns = {
  big: 'BIGINT',
  least: 'BIGINT',
  huge: 'HUGEINT',
  unsigned: 'UBIGINT',
  exact: 'DECIMAL(38,10)',
  tenth: 'DECIMAL(10,2)',
} as const;
const row = [
  `${greatest}`,
  `${-greatest - 1n}`,
  '12345678901234567890123456789012345678',
  `${unsigned}`,
  '1234567890123456789.0123456789',
  '0.1',
] as const;

const types = {
  POSTGRES: { UBIGINT: 'NUMERIC(20,0)' },
  MYSQL: { UBIGINT: 'BIGINT UNSIGNED' },
  CLICKHOUSE: { UBIGINT: 'UInt64' },
};
const mart = datamart({
  tenancy: null,
  tables: [table('numbers', columns), table('widest', { n: 'HUGEINT' })],
});
/** The widest number. DuckDB refuses numbers beyond 128 bits; the other databases accept them. */
const widest: Readonly<Record<Kind, string | null>> = {
  DUCKDB: null,
  POSTGRES: '340282366920938463463374607431768211454',
  MYSQL: '340282366920938463463374607431768211454',
  CLICKHOUSE: '340282366920938463463374607431768211454',
  SQLITE: null,
};

/** SQLite holds decimals as floats of 15 digits, and whole numbers of 64 bits. */
const ofOwnTypes = (await findKinds()).filter((kind) => kind !== 'SQLITE');

describe.each(ofOwnTypes)('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind, types);
    const most = String(2n ** 127n - 1n);
    place = await builder.build('exact', [
      { name: 'numbers', columns, rows: [row, row, row] },
      { name: 'widest', columns: { n: 'HUGEINT' }, rows: [[most], [most]] },
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const names = Object.keys(columns);
  const ask = (parts: Parameters<typeof metric>[1], more: Partial<MetricQuestion> = {}) =>
    engine.query(question(place, mart, 'None', metric('numbers', parts), more));
  const measured = (aggregate: 'SUM' | 'MIN' | 'MAX') => ({
    measures: names.map((name) => ({ name, aggregate, column: columnRef(`numbers.${name}`) })),
  });

  it('rows, and their minimum and maximum, have every digit', async () => {
    const expected = Object.fromEntries(names.map((name, index) => [name, name === 'tenth' ? 0.1 : row[index]]));
    const dimensions = names.map((name) => ({ name, column: columnRef(`numbers.${name}`) }));
    expect((await ask({ dimensions })).rows).toEqual([expected]);
    expect((await ask(measured('MIN'))).rows).toEqual([expected]);
    expect((await ask(measured('MAX'))).rows).toEqual([expected]);
  });

  it('sums have every digit, also beyond 64 bits', async () => {
    expect((await ask(measured('SUM'))).rows).toEqual([
      {
        big: String(3n * greatest),
        least: String(3n * (-greatest - 1n)),
        huge: '37037036703703703670370370367037037034',
        unsigned: String(3n * unsigned),
        exact: '3703703670370370367.0370370367',
        tenth: 0.3,
      },
    ]);
  });

  // duckdb#24081: a sum beyond 128 bits was a negative number.
  it("a sum that is too large for the database's types is refused, never rounded", async () => {
    const definition = metric('widest', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('widest.n') }] });
    const asked = question(place, mart, 'None', definition);
    const expected = widest[kind];
    if (expected !== null) expect((await engine.query(asked)).rows).toEqual([{ n: expected }]);
    else expect(await refusalOf(() => engine.query(asked))).toMatchObject({ reason: 'datasource-failed' });
  });

  // duckdb#6829: an average of decimals was rounded to a floating number. Here it is one on every database.
  it('an average is a floating number, the same on every database', async () => {
    const { rows } = await ask({ measures: [{ name: 'exact', aggregate: 'AVG', column: columnRef('numbers.exact') }] });
    expect(rows).toEqual([{ exact: 1234567890123456800 }]);
  });

  it.each(names.map((name, index) => [name, row[index] ?? ''] as const))(
    '%s is found by the value that was answered',
    async (name, value) => {
      const of = (predicate: Parameters<typeof condition>[1]) => ({
        conditions: [condition(`numbers.${name}`, predicate)],
      });
      const counted = { measures: [{ name: 'n', aggregate: 'COUNT' as const }] };
      expect((await ask(counted, of({ kind: 'oneOf', values: [value] }))).rows).toEqual([{ n: 3 }]);
      expect((await ask(counted, of({ kind: 'compare', operator: '>', value }))).rows).toEqual([{ n: 0 }]);
    },
  );
});

it('unsigned 128-bit integers are summed exactly, although DuckDB itself would round', async () => {
  const builder = await createBuilder('DUCKDB');
  const place = await builder.build('unsigned', [
    { name: 'u', columns: { n: 'UHUGEINT' }, rows: [['9007199254740993'], [2]] },
  ]);
  const { engine } = createLoggedEngine();
  const of = datamart({ tenancy: null, tables: [table('u', { n: 'UHUGEINT' })] });
  const definition = metric('u', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('u.n') }] });
  expect((await engine.query(question(place, of, 'None', definition))).rows).toEqual([{ n: '9007199254740995' }]);
  await engine.close();
  await builder.remove();
});

describe.each(ofOwnTypes)('on %s, in views whose client column is in no table', (kind) => {
  const columns = { owner: 'VARCHAR', big: 'BIGINT', huge: 'HUGEINT', price: 'DECIMAL(10,2)' };
  const views = {
    joined:
      'SELECT o.owner AS owner, n.big AS big, n.huge AS huge, n.price AS price FROM numbers n JOIN owners o ON o.id = n.id',
    windowed:
      'SELECT max(owner) OVER (PARTITION BY big, huge, price) AS owner, big, huge, price FROM (SELECT owner, big, huge, price FROM numbers n JOIN owners o ON o.id = n.id) x',
  };
  const tenanted = datamart({
    tenancy: byClients(),
    tables: [
      ...Object.keys(views).map((name) => table(name, columns, 'owner')),
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    ],
  });
  const { engine } = createLoggedEngine();
  let builder: Builder;
  let all: Place;
  let own: Place;

  /** Tenant b has the greatest possible numbers. */
  const build = (name: string, owners: readonly string[]): Promise<Place> =>
    builder.build(name, [
      { name: 'owners', columns: { id: 'BIGINT', owner: 'VARCHAR' }, rows: owners.map((owner, id) => [id, owner]) },
      {
        name: 'numbers',
        columns: { id: 'BIGINT', big: 'BIGINT', huge: 'HUGEINT', price: 'DECIMAL(10,2)' },
        rows: owners.map((owner, id) => (owner === 'a' ? [id, 1, 1, 1] : [id, row[0], row[2], '99999999.99'])),
      },
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      ...Object.entries(views).map(([view, sql]) => `CREATE VIEW ${view} AS ${sql}`),
    ]);

  beforeAll(async () => {
    builder = await createBuilder(kind, types);
    all = await build('all', ['a', 'b', 'a', 'b']);
    own = await build('own', ['a', 'a']);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const outcome = async (place: Place, view: string, column: string, from: string): Promise<unknown> => {
    const count = metric(view, { measures: [{ name: 'n', aggregate: 'COUNT' }] });
    const conditions = [condition(`${view}.${column}`, { kind: 'range', from, to: null, toIsExclusive: false })];
    const asked = question(place, tenanted, 'a', count, { conditions });
    return engine.query(asked).then(
      ({ rows }) => rows,
      ({ reason }) => reason,
    );
  };

  const places = [1, 3, 18, 19, 20, 28, 30, 31, 36];
  it.each(['joined', 'windowed'].flatMap((view) => ['big', 'huge', 'price'].map((column) => [view, column] as const)))(
    '%s: comparing a number of many decimal places with %s reveals nothing of another tenant',
    async (view, column) => {
      for (const count of places) {
        const from = `0.${'0'.repeat(count - 1)}1`;
        expect([from, await outcome(all, view, column, from)]).toEqual([from, await outcome(own, view, column, from)]);
      }
      if (column !== 'huge') expect(await outcome(all, view, column, '0.001')).toEqual([{ n: 2 }]);
    },
  );
});
