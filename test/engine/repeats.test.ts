/** Counting values that repeat, on each database: what it counts, where it stops, and that it answers nothing but counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place, refusalOf, stays } from './world.js';

const secret = 'tenant-b-secret';
const rows = [
  [1, 'a', '2024-01-01', 1.5],
  [2, 'a', '2024-01-01', 1.5],
  [3, 'A', '2024-01-02', 2.5],
  [4, secret, '2024-01-02', 2.5],
  [5, secret, '2024-01-03', 3.5],
  [6, null, null, null],
  [7, null, null, null],
] as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('repeats', [
      {
        name: 'odd; name',
        columns: { id: 'BIGINT', code: 'VARCHAR', day: 'DATE', amount: 'DOUBLE' },
        rows,
      },
      { name: 'empty', columns: { id: 'BIGINT' }, rows: [] },
    ]);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const count = (columnNames: readonly string[], maxRows = 1000, tableName = 'odd; name') =>
    engine.countRepeats(
      {
        datasource: place.datasource,
        columns: columnNames.map((columnName) => ({ schemaName: place.schemaName, tableName, columnName })),
        maxRows,
      },
      stays,
    );

  it('counts rows with a value, and values of several rows, byte by byte', async () => {
    expect(await count(['id', 'code', 'day', 'amount'])).toEqual([
      { rows: 7, repeated: 0, isWhole: true },
      { rows: 5, repeated: 2, isWhole: true },
      { rows: 5, repeated: 2, isWhole: true },
      { rows: 5, repeated: 2, isWhole: true },
    ]);
    expect(await count(['id'], 1000, 'empty')).toEqual([{ rows: 0, repeated: 0, isWhole: true }]);
  });

  it('reads no more rows than it may, and says that others are left', async () => {
    expect(await count(['id'], 3)).toEqual([{ rows: 3, repeated: 0, isWhole: false }]);
  });

  it('answers three figures of a column and nothing that is in its rows', async () => {
    const answered = await count(['code']);
    expect(answered.flatMap(Object.keys).toSorted()).toEqual(['isWhole', 'repeated', 'rows']);
    expect(JSON.stringify(answered)).not.toContain(secret);
  });

  it('refuses a column or table that is not there, and SQL in a name', async () => {
    for (const [column, table] of [
      ['nothing', 'empty'],
      ['id', 'nothing'],
      ['id) FROM empty --', 'empty'],
    ] as const) {
      expect((await refusalOf(() => count([column], 10, table))).code).toBe('INVALID_REQUEST_BODY');
    }
  });

  it('runs one at a time, in the order in which it was asked', async () => {
    const ended: string[] = [];
    const long = count(['id', 'code', 'day', 'amount', 'id', 'code']).then(() => ended.push('long'));
    const short = count(['id'], 10, 'empty').then(() => ended.push('short'));
    await Promise.all([long, short]);
    expect(ended).toEqual(['long', 'short']);
  });

  it('goes on after a person who left', async () => {
    const gone = new AbortController();
    const column = { schemaName: place.schemaName, tableName: 'odd; name', columnName: 'id' };
    const asked = { datasource: place.datasource, columns: [column], maxRows: 10 };
    const first = engine.countRepeats(asked, stays);
    const left = engine.countRepeats(asked, gone.signal);
    const last = engine.countRepeats(asked, stays);
    gone.abort();
    expect((await refusalOf(() => left)).reason).toBe('caller-gone');
    expect((await first)[0]?.rows).toBe(7);
    expect((await last)[0]?.rows).toBe(7);
  });
});
