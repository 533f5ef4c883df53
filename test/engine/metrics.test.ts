/**
 * The same metrics have the same answers on every database, counted by hand and by the evaluator. A missing capability
 * is refused with a clear message.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { evaluate } from '../isolation/evaluator.js';
import type { Source } from '../isolation/evaluator-joins.js';
import { areAlike, isRight } from '../isolation/judge.js';
import { columns, type Item, items, mart, rows, type TableName } from './metrics.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place, question, refusalOf } from './world.js';

const namesOf = (name: TableName): readonly string[] =>
  Object.keys(columns[name]).map((column) => column.replace('@', ''));

const sourceOf = (item: Item): Source => {
  const stored = new Map(
    (Object.keys(rows) as TableName[]).map((name) => [
      name as string,
      rows[name].map((row) => Object.fromEntries(namesOf(name).map((column, index) => [column, row[index] ?? null]))),
    ]),
  );
  return {
    mart: item.mart ?? mart,
    timezone: item.timezone ?? null,
    rowsOf: ({ tableName }) => stored.get(tableName) ?? [],
  };
};

const askedOf = ({ definition, conditions = [], limit, offset = 0 }: Item) => ({
  definition,
  conditions,
  isWorksheet: false,
  sort: null,
  limit: limit ?? null,
  offset,
});

it.each(items)("the evaluator's answer equals the one counted by hand: $name", (item) => {
  const answer = evaluate(sourceOf(item), askedOf(item));
  expect(answer.rows).toHaveLength(item.rows.length);
  const isAsCounted = answer.rows.every(
    (row, index) =>
      row.length === item.rows[index]?.length &&
      row.every((value, column) => isRight(item.rows[index]?.[column] ?? null, value, true)),
  );
  expect(
    isAsCounted,
    JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  ).toBe(true);
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build(
      'metrics',
      (Object.keys(rows) as TableName[]).map((name) => ({
        name,
        columns: Object.fromEntries(
          Object.entries(columns[name]).map(([column, type]) => [column.replace('@', ''), type]),
        ),
        rows: rows[name],
      })),
    );
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = ({ definition, conditions = [], timezone, limit, offset = 0, mart: own = mart }: Item) => {
    const page = { timezone: timezone ?? null, limit: limit ?? null, offset };
    return engine.query(question(place, own, 'None', definition, { conditions, ...page }));
  };

  it.each(items.filter(({ absent }) => absent?.[kind] === undefined))(
    'a metric answers as its own SQL does: $name',
    async (item) => {
      const answer = await ask(item);
      const cells = answer.rows.map((row) => Object.values(row));
      const isAlike =
        cells.length === item.rows.length &&
        cells.every(
          (row, index) =>
            row.length === item.rows[index]?.length &&
            row.every((cell, column) => areAlike(cell, item.rows[index]?.[column])),
        );
      // Only floats may differ, in their last digits.
      expect(isAlike, JSON.stringify(cells)).toBe(true);
    },
  );

  const lacking = items.flatMap((item) => {
    const reason = item.absent?.[kind];
    return reason === undefined ? [] : [{ ...item, reason }];
  });
  it('refuses what the database lacks, with a message', async () => {
    for (const item of lacking) {
      const refusal = await refusalOf(() => ask(item));
      expect(refusal, item.name).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: item.reason });
      expect(refusal.message, item.name).toMatch(/(MariaDB|MySQL|ClickHouse|DuckDB|PostgreSQL) has no /);
    }
    expect(lacking.length > 0).toBe(kind === 'MYSQL');
  });
});
