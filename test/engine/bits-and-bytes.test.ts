/** MariaDB and MySQL send bits and bytes as bytes. A metric and SQL write both alike. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const mart = datamart({ tenancy: null, tables: [table('t', { flags: 'BIT(64)', raw: 'VARBINARY(8)' })] });
const dimensions = ['flags', 'raw'].map((name) => ({ name, column: columnRef(`t.${name}`) }));

describe.runIf((await findKinds()).includes('MYSQL'))('bits and bytes', () => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder('MYSQL');
    place = await builder.build('bits', [
      'CREATE TABLE t (flags BIT(64), raw VARBINARY(8))',
      "INSERT INTO t VALUES (b'101', x'aa00'), (NULL, NULL)",
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.each<[string, MetricDefinition]>([
    ['a metric', metric('t', { dimensions })],
    [
      'SQL',
      {
        ...{ kind: 'sql', chart: { type: 'table' }, sql: 'SELECT flags, raw FROM t', filters: [], rlsVariables: [] },
        ...{ dimensions: [{ name: 'flags' }, { name: 'raw' }], measures: [], sort: [], limit: null },
      },
    ],
  ])('are a number and hexadecimal text in %s', async (_, definition) => {
    const { rows, columns } = await engine.query(question(place, mart, 'None', definition));
    expect(rows.map(({ flags, raw }) => [flags, raw])).toEqual(
      expect.arrayContaining([
        [5, '\\xaa00'],
        [null, null],
      ]),
    );
    expect(columns.map(({ dataType }) => dataType)).toEqual(['number', 'string']);
  });
});
