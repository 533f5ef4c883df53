/** Contents of dashboards for tests of merging. They have few names and values, so that changes often conflict. */
import fc from 'fast-check';
import type { DashboardContent } from '../../src/model/dashboard/dashboard.js';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';

const column = (columnName: string) => ({ schemaName: 'main', tableName: 'sales', columnName });

export const definition = (parts: Partial<VisualDefinition> = {}): VisualDefinition => ({
  kind: 'visual',
  chart: { type: 'bar' },
  from: { schemaName: 'main', tableName: 'sales' },
  dimensions: [{ name: 'By', column: column('shop') }],
  measures: [{ name: 'Count', aggregate: 'COUNT' }],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
  ...parts,
});

type Metric = DashboardContent['metrics'][number];

export const metric = (metricId: string, parts: Partial<Metric> = {}): Metric => ({
  metricId,
  name: metricId,
  lineage: [],
  placement: 'METRIC',
  definition: definition(),
  ...parts,
});

export const board = (parts: Partial<DashboardContent> = {}): DashboardContent => ({
  layout: [],
  filters: [],
  metrics: [],
  gridMargin: [],
  ...parts,
});

/** Returns the service's copy of a template: every metric has another id. */
export const copyOf = (template: DashboardContent, prefix = 'copy-'): DashboardContent => ({
  ...template,
  metrics: template.metrics.map((one) => ({
    ...one,
    metricId: `${prefix}${one.metricId}`,
    lineage: [one.metricId, ...one.lineage],
  })),
  layout: template.layout.map((card) => ({ ...card, metricId: `${prefix}${card.metricId}` })),
});

const definitions = fc
  .record({
    type: fc.constantFrom('bar' as const, 'line' as const),
    unit: fc.constantFrom(undefined, 'EUR', 'USD'),
    dimension: fc.constantFrom('By', 'Per'),
    measures: fc.subarray(['Count', 'Total'], { minLength: 1 }),
    sort: fc.constantFrom(undefined, 'By', 'Per', 'Count'),
    limit: fc.constantFrom(null, 10, 20),
  })
  .map(({ type, unit, dimension, measures, sort, limit }) =>
    definition({
      chart: { type, ...(unit === undefined ? {} : { unit }) },
      dimensions: [{ name: dimension, column: column('shop') }],
      measures: measures.map((name) => ({ name, aggregate: 'COUNT' as const })),
      sort: sort !== undefined && [dimension, ...measures].includes(sort) ? [{ name: sort, direction: 'ASC' }] : [],
      limit,
    }),
  );

const cell = fc.record({
  x: fc.constantFrom(0, 6),
  y: fc.constantFrom(0, 4, 8),
  w: fc.constantFrom(6, 12),
  h: fc.constant(4),
});

const filters = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom('State', 'Shop', 'Day'),
      dataType: fc.constantFrom('string' as const, 'number' as const),
      columnName: fc.constantFrom('state', 'shop'),
      defaultValue: fc.constantFrom(undefined, 'CA', 'NV'),
    }),
    { selector: ({ name }) => name },
  )
  .map((all) =>
    all.map(({ name, dataType, columnName, defaultValue }) => ({
      name,
      dataType,
      applyOnTables: [{ ...column(columnName), dataType }],
      ...(defaultValue === undefined ? {} : { defaultValue }),
    })),
  );

/** Any content with the metrics `a` to `e`. */
export const contents: fc.Arbitrary<DashboardContent> = fc
  .record({
    metrics: fc.uniqueArray(
      fc.record({
        metricId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        name: fc.constantFrom('One', 'Two'),
        definition: definitions,
        card: fc.option(cell),
        isSecond: fc.boolean(),
      }),
      { selector: ({ metricId }) => metricId, maxLength: 4 },
    ),
    filters,
    gridMargin: fc.constantFrom([], [8], [8, 8]),
  })
  .map(({ metrics, ...rest }) => ({
    ...rest,
    metrics: metrics.map(({ metricId, name, definition: own, card }) =>
      metric(metricId, { name, definition: own, placement: card === null ? 'GALLERY' : 'METRIC' }),
    ),
    layout: metrics.flatMap(({ metricId, card, isSecond }) =>
      card === null ? [] : [{ metricId, ...card }, ...(isSecond ? [{ metricId, ...card, y: card.y + 20 }] : [])],
    ),
  }));

/** A content that differs in a few places: each metric, the filters and the margin come from one of two contents. */
export const mixed = (
  base: DashboardContent,
  other: DashboardContent,
  changed: readonly string[],
): DashboardContent => {
  const isOther = (key: string): boolean => changed.includes(key);
  const pick = <T>(own: readonly T[], others: readonly T[], keyOf: (item: T) => string): readonly T[] => [
    ...own.flatMap((item) => {
      if (!isOther(keyOf(item))) return [item];
      return others.filter((one) => keyOf(one) === keyOf(item));
    }),
    ...others.filter((one) => isOther(keyOf(one)) && !own.some((item) => keyOf(item) === keyOf(one))),
  ];
  const metrics = pick(base.metrics, other.metrics, ({ metricId }) => metricId);
  return {
    metrics,
    filters: pick(base.filters, other.filters, ({ name }) => name),
    gridMargin: isOther('margin') ? other.gridMargin : base.gridMargin,
    layout: metrics.flatMap(({ metricId }) =>
      (isOther(metricId) ? other : base).layout.filter((card) => card.metricId === metricId),
    ),
  };
};

/** A base, and a template and a tenant's content that both changed it in random places, sometimes the same. */
export const histories = fc
  .record({
    base: contents,
    one: contents,
    other: contents,
    templates: fc.subarray(['a', 'b', 'c', 'State', 'margin']),
    tenants: fc.subarray(['c', 'd', 'e', 'Shop', 'Day']),
  })
  .map(({ base, one, other, templates, tenants }) => {
    const ordered = mixed(base, base, []);
    return { base: ordered, template: mixed(base, one, templates), tenant: copyOf(mixed(base, other, tenants)) };
  });

/** Returns every value of a content as text, under the template's ids. It does not use code of the merge. */
export const leavesOf = (content: DashboardContent): ReadonlyMap<string, string> => {
  const nameOf = (metricId: string): string => {
    const lineage = content.metrics.find((one) => one.metricId === metricId)?.lineage ?? [];
    return lineage.at(-1) ?? metricId;
  };
  const leaves = new Map<string, string>();
  const put = (path: string, value: unknown) => {
    if (value !== undefined) leaves.set(path, JSON.stringify(value));
  };
  for (const { metricId, name, placement, definition: own } of content.metrics) {
    const at = `metric ${nameOf(metricId)}`;
    put(`${at} name`, name);
    put(`${at} placement`, placement);
    const { chart, ...rest } = own;
    for (const [part, value] of Object.entries(rest)) put(`${at} ${part}`, value);
    for (const [part, value] of Object.entries(chart)) put(`${at} chart ${part}`, value);
    const cards = content.layout.filter((card) => card.metricId === metricId);
    put(
      `${at} cards`,
      cards.map(({ x, y, w, h }) => [x, y, w, h]),
    );
  }
  for (const { name, dataType, applyOnTables, defaultValue } of content.filters) {
    put(`filter ${name} type`, dataType);
    put(`filter ${name} columns`, applyOnTables);
    put(`filter ${name} default`, defaultValue);
  }
  put('margin', content.gridMargin);
  return leaves;
};
