import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listSql, replaceSql } from '../../src/model/dashboard/content-sql.js';
import type {
  Dashboard,
  DashboardContent,
  DashboardFilter,
  PlacedMetric,
} from '../../src/model/dashboard/dashboard.js';
import { findPlaced, mapFilters } from '../../src/model/dashboard/dashboard.js';
import { columnRef, datamart, metric, table } from '../engine/world.js';

const columns = ['region', 'product', 'seller'];
const mart = datamart({ tables: [table('sales', Object.fromEntries(columns.map((name) => [name, 'VARCHAR'])))] });
const on = (name: string) => ({ ...columnRef(`sales.${name}`), dataType: 'string' });
const filter = (name: string, column: string): DashboardFilter => ({
  name,
  dataType: 'string',
  applyOnTables: [on(column)],
});
const dashboard = (filters: readonly DashboardFilter[]) => ({ filters }) as Dashboard;

const name = fc.stringMatching(/^[a-z]{1,4}$/);
const named = fc.uniqueArray(name, { minLength: 1, maxLength: 5 });
const column = fc.constantFrom(...columns);

describe('mapFilters', () => {
  test('changes the named filters’ columns, and nothing else of any filter', () => {
    fc.assert(
      fc.property(
        named,
        fc.array(column, { minLength: 5, maxLength: 5 }),
        fc.array(column, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (names, before, after, pick) => {
          const filters = names.map((one, index) => filter(one, before[index] ?? 'region'));
          const chosen = names[pick % names.length] ?? '';
          const mapping = { name: chosen.toUpperCase(), applyOnTables: after.map(on) };
          const mapped = mapFilters(dashboard(filters), [mapping], [mart]);
          expect(mapped).toEqual({
            filters: filters.map((one) =>
              one.name === chosen ? { ...one, applyOnTables: mapping.applyOnTables } : one,
            ),
          });
        },
      ),
    );
  });

  test('names every unknown filter and column', () => {
    const mappings = [
      { name: 'nowhere', applyOnTables: [on('region')] },
      { name: 'a', applyOnTables: [on('region'), on('gone')] },
    ];
    expect(mapFilters(dashboard([filter('a', 'region')]), mappings, [mart])).toEqual({
      faults: ['the dashboard has no filter "nowhere"', '"a": the workspace has no column main.sales.gone'],
    });
    expect(mapFilters(dashboard([filter('a', 'region')]), mappings.slice(1), [])).toHaveProperty('faults');
  });
});

test('an id names the metric itself before a copy of it, and no copy of a copy', () => {
  const placed = (metricId: string, lineage: readonly string[]) =>
    ({ metric: { metricId, lineage }, placement: 'METRIC', placedAt: new Date(0) }) as unknown as PlacedMetric;
  const all = [placed('copy', ['m']), placed('m', []), placed('grandchild', ['copy', 'm', 'far'])];
  expect(findPlaced(all, 'm')).toBe(all[1]);
  expect(findPlaced(all.slice(0, 1), 'm')).toBe(all[0]);
  expect(findPlaced(all, 'far')).toBeUndefined();
});

test('every SQL of a content is found by its place, and replaced there alone', () => {
  const value = fc.option(fc.oneof(fc.string(), fc.record({ sql: fc.string(), columnName: fc.constant('c') })), {
    nil: undefined,
  });
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 4 }),
      fc.array(fc.array(value, { maxLength: 3 }), { maxLength: 3 }),
      (own, ofMetrics) => {
        const withDefault = (defaultValue: (typeof own)[number], index: number) => ({
          ...filter(`f${index}`, 'region'),
          defaultValue,
        });
        const content: DashboardContent = {
          layout: [],
          gridMargin: [],
          filters: own.map(withDefault),
          metrics: ofMetrics.map((values, index) => ({
            metricId: `m${index}`,
            name: 'M',
            lineage: [],
            placement: 'GALLERY',
            definition: metric('sales', {
              filters: values.map((defaultValue, at) => ({
                name: `f${at}`,
                label: `f${at}`,
                column: columnRef('sales.region'),
                dataType: 'string',
                defaultValue,
              })),
            }),
          })),
        };
        const found = listSql(content);
        const queries = [...own, ...ofMetrics.flat()].filter((one) => typeof one === 'object');
        expect(found.size).toBe(queries.length);
        expect(replaceSql(content, found)).toEqual(content);
        const marked = replaceSql(content, new Map([...found].map(([place]) => [place, place])));
        expect([...listSql(marked)].every(([place, sql]) => place === sql)).toBe(true);
        expect(replaceSql(marked, found)).toEqual(content);
      },
    ),
  );
});
