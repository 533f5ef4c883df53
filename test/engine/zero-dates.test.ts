/** Dates of MariaDB without a month or day are no dates (metabase#1420), and conditions still use an index of the column. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Predicate } from '../../src/model/filter/filter.js';
import type { Engine } from '../../src/model/query/engine.js';
import { isMysqlThere } from '../suites/mysql.js';
import { type Builder, createBuilder } from './test-databases.js';
import {
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  stays,
  table,
} from './world.js';

const mart = datamart({ tenancy: null, tables: [table('t', { id: 'BIGINT', day: 'DATE' })] });
const counted = metric('t', { measures: [{ name: 'n', aggregate: 'COUNT' }] });

describe.runIf(await isMysqlThere())('dates of MariaDB', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder('MYSQL');
    place = await builder.build('zeros', [
      "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,ALLOW_INVALID_DATES'",
      'CREATE TABLE t (id BIGINT, day DATE, KEY (day))',
      `INSERT INTO t VALUES (1, '0000-00-00'), (2, '2023-00-00'), (3, '2023-05-00'), (4, NULL), (5, '2023-05-01'), (6, '2024-01-01')`,
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (predicate: Predicate) =>
    question(place, mart, 'None', counted, { conditions: [condition('t.day', predicate)] });
  const countOf = async (predicate: Predicate) => (await engine.query(asked(predicate))).rows[0]?.n;

  it('without a month or a day are one group, with those that are NULL', async () => {
    const byDay = metric('t', {
      dimensions: [{ name: 'd', column: columnRef('t.day') }],
      measures: [{ name: 'n', aggregate: 'COUNT' }],
    });
    expect((await engine.query(question(place, mart, 'None', byDay))).rows).toEqual([
      { d: '2023-05-01', n: 1 },
      { d: '2024-01-01', n: 1 },
      { d: null, n: 4 },
    ]);
  });

  it.each<[Predicate, number]>([
    [{ kind: 'isNull' }, 4],
    [{ kind: 'isNotNull' }, 2],
    [{ kind: 'compare', operator: '<', value: '2024-01-01' }, 1],
    [{ kind: 'compare', operator: '<>', value: '2024-01-01' }, 1],
    [{ kind: 'noneOf', values: ['2024-01-01'] }, 1],
    [{ kind: 'range', from: '2023-01-01', to: '2024-01-01', toIsExclusive: true }, 1],
    [{ kind: 'range', from: null, to: '2024-01-01', toIsExclusive: false }, 2],
  ])('pass %o in as many rows as they are shown in', async (predicate, rows) => {
    expect(await countOf(predicate)).toBe(rows);
  });

  it('are compared as they are stored too, so that an index serves a range', async () => {
    const { sql: text } = await engine.statement(
      asked({ kind: 'range', from: '2023-01-01', to: '2024-01-01', toIsExclusive: true }),
      stays,
    );
    expect(text).toContain('`gl_leaf_0`.`day` >= CAST(? AS DATE)');
  });
});
