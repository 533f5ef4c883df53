/** Numbers that no float holds, on every database: exact in rows, in sums, and as what is compared with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine, MetricQuestion } from '../../src/domain/ports.js';
import { type Builder, createBuilder, findKinds, type Kind } from './places.js';
import {
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
/** What three rows hold, by column; `0.1` three times is 0.3 in decimals alone. */
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
/** What 128 bits cannot hold, DuckDB refuses; the others have room for it. */
const widest: Readonly<Record<Kind, string | null>> = {
  DUCKDB: null,
  POSTGRES: '340282366920938463463374607431768211454',
  MYSQL: '340282366920938463463374607431768211454',
  CLICKHOUSE: '340282366920938463463374607431768211454',
};

describe.each(await findKinds())('on %s', (kind) => {
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

  it('rows, and the least and the greatest of them, have every digit', async () => {
    const expected = Object.fromEntries(names.map((name, index) => [name, name === 'tenth' ? 0.1 : row[index]]));
    const dimensions = names.map((name) => ({ name, column: columnRef(`numbers.${name}`) }));
    expect((await ask({ dimensions })).rows).toEqual([expected]);
    expect((await ask(measured('MIN'))).rows).toEqual([expected]);
    expect((await ask(measured('MAX'))).rows).toEqual([expected]);
  });

  it('sums have every digit, beyond 64 bits too', async () => {
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

  it('a sum that the database has no type for is refused, and never another number', async () => {
    const definition = metric('widest', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('widest.n') }] });
    const asked = question(place, mart, 'None', definition);
    const expected = widest[kind];
    if (expected !== null) expect((await engine.query(asked)).rows).toEqual([{ n: expected }]);
    else expect(await refusalOf(() => engine.query(asked))).toMatchObject({ reason: 'datasource-failed' });
  });

  it.each(names.map((name, index) => [name, row[index] ?? ''] as const))(
    '%s is found by what it was answered as',
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

it('128 bits without a sign are summed exactly too, where DuckDB itself would round', async () => {
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
