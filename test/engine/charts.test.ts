/**
 * Every chart type of the interface has a metric with everything that it draws. The metric is read from an export file
 * and answered completely on every database.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import { definitionFaults } from '../../src/model/dashboard/definition.js';
import type { Cell, Engine } from '../../src/model/query/engine.js';
import { dashboardData } from '../../src/service/dashboards/contract/export.js';
import { areAlike } from '../isolation/judge.js';
import { type Case, charts, definitionOf } from './chart-cases.js';
import { columns, mart, rows, type TableName } from './metrics.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { createLoggedEngine, type Place, question } from './world.js';

/** The definition inside a dashboard's export file. */
const fileOf = (definition: unknown) => ({
  layout: [],
  filters: [],
  gridMargin: [],
  metrics: [{ metricId: 'm', name: 'm', lineage: [], placement: 'METRIC', definition }],
});

it('the interface has 21 charts', () => {
  expect(chartTypes).toHaveLength(21);
  expect(Object.keys(charts).toSorted()).toEqual([...chartTypes].toSorted());
});

it.each(chartTypes)('%s: a file may contain it, and it has no faults', (type) => {
  const definition = definitionOf(type);
  expect(definition.chart.type).toBe(type);
  const written = JSON.parse(JSON.stringify(fileOf(definition)));
  expect(dashboardData.parse(written).metrics.map((item) => item.definition)).toEqual([definition]);
  expect(definitionFaults(definition, mart)).toEqual([]);
});

it('the examples of docs/reference/metrics.md are valid in a file', async () => {
  const text = await readFile(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
  const examples = [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => JSON.parse(json));
  expect(examples.map(({ kind }) => kind)).toEqual(['visual', 'sql']);
  for (const example of examples) expect(dashboardData.safeParse(fileOf(example)).error).toBeUndefined();
});

const isAlike = (cells: readonly (readonly (Cell | undefined)[])[], wanted: Case['rows']): boolean =>
  cells.length === wanted.length &&
  cells.every(
    (row, index) =>
      row.length === wanted[index]?.length && row.every((cell, column) => areAlike(cell, wanted[index]?.[column])),
  );

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    const tables = (Object.keys(rows) as TableName[]).map((name) => ({
      name,
      columns: Object.fromEntries(
        Object.entries(columns[name]).map(([column, type]) => [column.replace('@', ''), type]),
      ),
      rows: rows[name],
    }));
    place = await builder.build('charts', tables);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it.each(chartTypes)('a chart of type %s has the rows of its sample', async (type) => {
    const answer = await engine.query(question(place, mart, 'None', definitionOf(type)));
    const cells = answer.rows.map((row) => answer.columns.map(({ name }) => row[name]));
    expect(isAlike(cells, charts[type].rows), JSON.stringify(cells)).toBe(true);
  });
});
