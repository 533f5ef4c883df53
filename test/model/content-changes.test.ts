/** What changed between two contents is said in words, and nothing that changed is left out. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameJson } from '../../src/model/canonical-json.js';
import { ambiguities, contentChanges } from '../../src/model/dashboard/changes.js';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import { columnRef, metric } from '../engine/world.js';

const count = metric('sales', { measures: [{ name: 'Sales', aggregate: 'COUNT' }] });
const one = (metricId: string, name: string) => ({
  metricId,
  name,
  lineage: [],
  placement: 'METRIC' as const,
  definition: count,
});
const filter = {
  name: 'State',
  dataType: 'string' as const,
  applyOnTables: [{ ...columnRef('shops.state'), dataType: 'string' }],
};
const base: DashboardContent = {
  layout: [
    { metricId: 'a', x: 0, y: 0, w: 6, h: 4 },
    { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
  ],
  filters: [filter, { ...filter, name: 'Shop' }],
  metrics: [one('a', 'Sales'), one('b', 'Visits')],
  gridMargin: [8, 8],
  isAllowPrivateMetricsByDefault: false,
  metadata: null,
};
const [a, b] = [one('a', 'Sales'), one('b', 'Visits')];
const [cardA, cardB] = [
  { metricId: 'a', x: 0, y: 0, w: 6, h: 4 },
  { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
];
const words = (change: Partial<DashboardContent>) =>
  contentChanges(base, { ...base, ...change }).map(({ kind, text }) => `${kind}: ${text}`);

describe('each change is one sentence', () => {
  const redefined = { ...a, definition: { ...count, chart: { type: 'bar' as const }, limit: 5 } };
  test.each<[string, Partial<DashboardContent>, readonly string[]]>([
    ['nothing', {}, []],
    ['an added metric', { metrics: [a, b, one('c', 'Shops')] }, ['metricAdded: Metric "Shops" was added.']],
    [
      'a removed metric, with its card',
      { metrics: [a], layout: [cardA] },
      ['metricRemoved: Metric "Visits" was removed.'],
    ],
    [
      'a new name',
      { metrics: [{ ...a, name: 'Turnover' }, b] },
      ['metricRenamed: Metric "Sales" is now called "Turnover".'],
    ],
    [
      'another definition',
      { metrics: [redefined, b] },
      [`metricRedefined: Metric "Sales" has another definition: chart (${count.chart.type} to bar), limit.`],
    ],
    [
      'another lineage',
      { metrics: [{ ...a, lineage: ['z'] }, b] },
      ['metricRedefined: Metric "Sales" names other metrics that it was copied from.'],
    ],
    [
      'a move and a new size',
      { layout: [{ ...cardA, y: 4, w: 12 }, cardB] },
      [
        'metricMoved: Metric "Sales" moved from column 0, row 0 to column 0, row 4 and changed its size from 6 by 4 to 12 by 4.',
      ],
    ],
    ['a lost card', { layout: [cardB] }, ['metricMoved: Metric "Sales" lost its card.']],
    [
      'a second card',
      { layout: [cardA, cardB, cardA] },
      ['metricMoved: Metric "Sales" has other cards.', 'dashboardChanged: The order of the cards changed.'],
    ],
    [
      'to the gallery',
      { metrics: [{ ...a, placement: 'GALLERY' }, b] },
      ['metricMoved: Metric "Sales" moved from the dashboard to the gallery.'],
    ],
    ['a removed filter', { filters: [filter] }, ['filterRemoved: Filter "Shop" was removed.']],
    [
      'another filter of a name',
      {
        filters: [
          { ...filter, applyOnTables: [] },
          { ...filter, name: 'Shop' },
        ],
      },
      ['filterChanged: Filter "State" changed: columns that it applies to.'],
    ],
    ['metadata', { metadata: { plan: 'pro' } }, ["dashboardChanged: The dashboard's metadata changed."]],
    ['margins', { gridMargin: [4, 4] }, ["dashboardChanged: The dashboard's grid margin changed."]],
    ['the order', { metrics: [b, a] }, ['dashboardChanged: The order of the metrics changed.']],
  ])('each change is one sentence: %s', (_, change, expected) => {
    expect(words(change)).toEqual(expected);
  });

  test('a value that became null is a change', () => {
    const [before, after] = [{ ...base, metadata: undefined }, base];
    expect(contentChanges(before, after).map(({ text }) => text)).toEqual(["The dashboard's metadata changed."]);
  });

  test('an added filter is one sentence', () => {
    const before = { ...base, filters: [] };
    expect(contentChanges(before, { ...base, filters: [filter] }).map(({ text }) => text)).toEqual([
      'Filter "State" was added.',
    ]);
  });
});

test('names and cards that a comparison could confuse are named', () => {
  const confused = {
    ...base,
    metrics: [a, a],
    filters: [filter, { ...filter, name: 'STATE' }],
    layout: [{ ...cardA, metricId: 'z' }],
  };
  expect(ambiguities(base)).toEqual([]);
  expect(ambiguities(confused)).toEqual([
    'metrics: "a" occurs twice',
    'filters: "STATE" occurs twice',
    'layout: a card names "z", which is not among the metrics',
  ]);
});

const metrics = fc.uniqueArray(
  fc.record({
    metricId: fc.constantFrom('a', 'b', 'c'),
    name: fc.constantFrom('Sales', 'Visits'),
    lineage: fc.constantFrom<readonly string[]>([], ['z']),
    placement: fc.constantFrom('METRIC' as const, 'GALLERY' as const),
    definition: fc.constantFrom(count, { ...count, limit: 5 }),
  }),
  { selector: ({ metricId }) => metricId },
);
const filters = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('State', 'STATE', 'Shop'),
    dataType: fc.constant('string' as const),
    applyOnTables: fc.constantFrom(filter.applyOnTables, []),
  }),
  { selector: ({ name }) => name.toLowerCase() },
);
const contents: fc.Arbitrary<DashboardContent> = metrics.chain((made) => {
  const card = fc.record({
    metricId: fc.constantFrom(...made.map(({ metricId }) => metricId), 'none'),
    x: fc.constantFrom(0, 6),
    y: fc.constant(0),
    w: fc.constantFrom(6, 12),
    h: fc.constant(4),
  });
  return fc.record({
    metrics: fc.constant(made),
    layout: fc.array(card, { maxLength: 3 }).map((all) => all.filter(({ metricId }) => metricId !== 'none')),
    filters,
    gridMargin: fc.constantFrom([8, 8], [4]),
    isAllowPrivateMetricsByDefault: fc.boolean(),
    metadata: fc.constantFrom(null, { plan: 'pro' }),
  });
});

test('a difference in one field of one metric is a change', () => {
  const other = { name: 'Visits', lineage: ['z'], placement: 'GALLERY', definition: { ...count, limit: 5 } };
  for (const [field, value] of Object.entries(other)) {
    const after = { ...base, metrics: [{ ...a, [field]: value }, b] };
    expect([field, contentChanges(base, after).length]).toEqual([field, 1]);
  }
});

test('there is a change exactly if the contents differ', () => {
  fc.assert(
    fc.property(contents, contents, fc.constantFrom(...Object.keys(base)), (before, other, field) => {
      // Contents that differ in one field alone, as far as both still name their own metrics.
      const near = { ...before, [field]: other[field as keyof DashboardContent] };
      for (const after of [before, other, ...(ambiguities(near).length === 0 ? [near] : [])])
        expect(contentChanges(before, after).length === 0).toBe(isSameJson(before, after));
    }),
    { numRuns: 400 },
  );
});
