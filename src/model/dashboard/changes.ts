/** What changed between two contents of a dashboard, in words. */
import { differing, isSameJson } from '../canonical-json.js';
import { wordsOf } from '../datamart/column-names.js';
import { type DashboardContent, type DashboardFilter, type LayoutCard, sameName } from './dashboard.js';
import type { GridCard, MetricDefinition } from './metric.js';
import { settingsChanges } from './setting-words.js';
import { type Tile, tileFaults } from './tile.js';

export const contentChangeKinds = [
  'metricAdded',
  'metricRemoved',
  'metricRenamed',
  'metricRedefined',
  'metricMoved',
  'filterAdded',
  'filterRemoved',
  'filterChanged',
  'dashboardChanged',
] as const;

export type ContentChange = {
  readonly kind: (typeof contentChangeKinds)[number];
  /** Null for a change of a filter or of the dashboard. */
  readonly metricId: string | null;
  /** One sentence. */
  readonly text: string;
};

type ContentMetric = DashboardContent['metrics'][number];

const quote = (name: string): string => JSON.stringify(name);

/** The words for the fields of a definition. A field that is not listed is called by its own name. */
const words: Readonly<Record<string, string>> = {
  from: 'table',
  where: 'conditions',
  having: 'conditions on measures',
  rlsVariables: 'RLS variables',
  underlying: 'underlying columns',
  drillPath: 'drill path',
  sql: 'SQL',
  applyOnTables: 'columns that it applies to',
  type: 'kind',
  datatype: 'kind of value',
  w: 'width',
  h: 'height',
  x: 'column',
  y: 'row',
  alt: 'text for the picture',
  src: 'picture',
};

/** A name of a field or a type as words: `singleValue` is `single value`. */
const inWords = (name: string): string => words[name] ?? wordsOf(name).join(' ');

const redefined = (before: MetricDefinition, after: MetricDefinition): string => {
  const chart =
    before.chart.type === after.chart.type
      ? 'chart'
      : `chart (${inWords(before.chart.type)} to ${inWords(after.chart.type)})`;
  return differing(before, after)
    .map((name) => (name === 'chart' ? chart : inWords(name)))
    .join(', ');
};

const cardsOf = ({ layout }: DashboardContent, id: string): readonly LayoutCard[] =>
  layout.filter(({ metricId }) => metricId === id);

const place = ({ x, y }: GridCard): string => `column ${x}, row ${y}`;
const size = ({ w, h }: GridCard): string => `${w} by ${h}`;

const movedCard = (before: GridCard, after: GridCard): string =>
  [
    ...(place(before) === place(after) ? [] : [`moved from ${place(before)} to ${place(after)}`]),
    ...(size(before) === size(after) ? [] : [`changed its size from ${size(before)} to ${size(after)}`]),
  ].join(' and ');

const moved = (before: readonly LayoutCard[], after: readonly LayoutCard[]): string => {
  const [old, now] = [before[0], after[0]];
  if (old === undefined) return 'got a card';
  if (now === undefined) return 'lost its card';
  const isOneEach = before.length === 1 && after.length === 1;
  return (isOneEach && movedCard(old, now)) || 'has other cards';
};

const placed: Readonly<Record<ContentMetric['placement'], string>> = {
  METRIC: 'moved from the gallery to the dashboard',
  GALLERY: 'moved from the dashboard to the gallery',
};

type Sides<T> = { readonly before: T; readonly after: T };

const metricChanges = (contents: Sides<DashboardContent>, { before, after }: Sides<ContentMetric>) => {
  const { metricId } = after;
  const metric = `Metric ${quote(after.name)}`;
  const cards = { before: cardsOf(contents.before, metricId), after: cardsOf(contents.after, metricId) };
  const changes: ContentChange[] = [];
  const add = (kind: ContentChange['kind'], text: string) => changes.push({ kind, metricId, text });
  if (before.name !== after.name)
    add('metricRenamed', `Metric ${quote(before.name)} is now called ${quote(after.name)}.`);
  if (!isSameJson(before.definition, after.definition))
    add('metricRedefined', `${metric} has another definition: ${redefined(before.definition, after.definition)}.`);
  if (!isSameJson(before.lineage, after.lineage))
    add('metricRedefined', `${metric} names other metrics that it was copied from.`);
  if (before.placement !== after.placement) add('metricMoved', `${metric} ${placed[after.placement]}.`);
  else if (!isSameJson(cards.before, cards.after)) add('metricMoved', `${metric} ${moved(cards.before, cards.after)}.`);
  return changes;
};

const findFilter = (filters: readonly DashboardFilter[], name: string) =>
  filters.find((filter) => sameName(filter.name, name));

const filterChanges = ({ before, after }: Sides<DashboardContent>): readonly ContentChange[] => {
  const change = (kind: ContentChange['kind'], text: string): ContentChange => ({ kind, metricId: null, text });
  return [
    ...after.filters.flatMap((filter) => {
      const old = findFilter(before.filters, filter.name);
      if (old === undefined) return [change('filterAdded', `Filter ${quote(filter.name)} was added.`)];
      const fields = differing(old, filter);
      const text = `Filter ${quote(filter.name)} changed: ${fields.map(inWords).join(', ')}.`;
      return fields.length === 0 ? [] : [change('filterChanged', text)];
    }),
    ...before.filters
      .filter(({ name }) => findFilter(after.filters, name) === undefined)
      .map(({ name }) => change('filterRemoved', `Filter ${quote(name)} was removed.`)),
  ];
};

const settings = ({ gridMargin, isAllowPrivateMetricsByDefault, metadata }: DashboardContent) => ({
  gridMargin,
  isAllowPrivateMetricsByDefault,
  metadata,
});

const kinds: Readonly<Record<Tile['kind'], string>> = {
  heading: 'Heading',
  text: 'Text',
  image: 'Picture',
  tab: 'Tab',
};

const tileName = (tile: Tile): string => {
  const text = tile.kind === 'image' ? tile.alt : tile.text;
  return `${kinds[tile.kind]} ${quote(text.length > 60 ? `${text.slice(0, 59)}…` : text)}`;
};

const tileChanges = ({ before, after }: Sides<DashboardContent>): readonly ContentChange[] => {
  const find = ({ tiles = [] }: DashboardContent, id: string) => tiles.find(({ tileId }) => tileId === id);
  const texts = [
    ...(after.tiles ?? []).flatMap((tile) => {
      const old = find(before, tile.tileId);
      if (old === undefined) return [`${tileName(tile)} was added.`];
      const fields = differing(old, tile);
      const isMoved = fields.every((name) => ['x', 'y', 'w', 'h'].includes(name));
      if (fields.length === 0) return [];
      return [`${tileName(tile)} ${isMoved ? movedCard(old, tile) : `changed: ${fields.map(inWords).join(', ')}`}.`];
    }),
    ...(before.tiles ?? [])
      .filter(({ tileId }) => find(after, tileId) === undefined)
      .map((tile) => `${tileName(tile)} was removed.`),
  ];
  return texts.map((text) => ({ kind: 'dashboardChanged', metricId: null, text }));
};

/** The order of everything that has one. Parts that only one side has are left out. */
const orderOf = ({ metrics, filters, layout, tiles = [] }: DashboardContent, other: DashboardContent) => ({
  metrics: metrics.map(({ metricId }) => metricId).filter((id) => other.metrics.some((one) => one.metricId === id)),
  filters: filters.map(({ name }) => name.toLowerCase()).filter((name) => findFilter(other.filters, name)),
  cards: layout.map(({ metricId }) => metricId).filter((id) => cardsOf(other, id).length > 0),
  tiles: tiles.map(({ tileId }) => tileId).filter((id) => (other.tiles ?? []).some(({ tileId }) => tileId === id)),
});

const dashboardChanges = ({ before, after }: Sides<DashboardContent>): readonly ContentChange[] => {
  const old = orderOf(before, after);
  const now = orderOf(after, before);
  const texts = [
    ...differing(settings(before), settings(after)).map((name) => `The dashboard's ${inWords(name)} changed.`),
    ...differing(old, now).map((name) => `The order of the ${name} changed.`),
  ];
  return texts.map((text) => ({ kind: 'dashboardChanged', metricId: null, text }));
};

/**
 * Returns what changed from one content to the other, each change as one sentence. Empty exactly if the contents are
 * equal as JSON, but for settings that one of them does not tell. Metrics are matched by id, and filters by name. Both contents must name each metric and filter once.
 */
export const contentChanges = (before: DashboardContent, after: DashboardContent): readonly ContentChange[] => {
  const contents = { before, after };
  const find = (metrics: DashboardContent['metrics'], id: string) => metrics.find(({ metricId }) => metricId === id);
  return [
    ...after.metrics.flatMap((metric): readonly ContentChange[] => {
      const old = find(before.metrics, metric.metricId);
      if (old !== undefined) return metricChanges(contents, { before: old, after: metric });
      return [{ kind: 'metricAdded', metricId: metric.metricId, text: `Metric ${quote(metric.name)} was added.` }];
    }),
    ...before.metrics
      .filter(({ metricId }) => find(after.metrics, metricId) === undefined)
      .map(
        ({ metricId, name }): ContentChange => ({
          kind: 'metricRemoved',
          metricId,
          text: `Metric ${quote(name)} was removed.`,
        }),
      ),
    ...filterChanges(contents),
    ...tileChanges(contents),
    ...dashboardChanges(contents),
    ...settingsChanges(before.settings, after.settings).map(
      (text): ContentChange => ({ kind: 'dashboardChanged', metricId: null, text }),
    ),
  ];
};

/** Returns what would make a comparison ambiguous, each with its place: names that occur twice, cards without a metric. */
export const ambiguities = ({ metrics, filters, layout, tiles = [] }: DashboardContent): readonly string[] => {
  const ids = metrics.map(({ metricId }) => metricId);
  const names = filters.map(({ name }) => name.toLowerCase());
  return [
    ...tileFaults(tiles),
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `metrics: ${quote(id)} occurs twice`),
    ...filters
      .filter((_, index) => names.indexOf(names[index] ?? '') < index)
      .map(({ name }) => `filters: ${quote(name)} occurs twice`),
    ...layout
      .filter(({ metricId }) => !ids.includes(metricId))
      .map(({ metricId }) => `layout: a card names ${quote(metricId)}, which is not among the metrics`),
  ];
};
