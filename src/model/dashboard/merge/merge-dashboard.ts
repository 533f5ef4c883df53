/**
 * Merges a changed template into a tenant's copy, three-way and field by field. The result takes changes that only the
 * template made and keeps changes that only the tenant made. If both changed a field, it keeps the tenant's value and
 * reports a conflict. Pure.
 */
import { isSameJson } from '../../canonical-json.js';
import type { DashboardContent, DashboardFilter } from '../dashboard.js';
import type { CopySettings } from '../embed.js';
import { type GridCard, type MetricDefinition, outputNames } from '../metric.js';
import type { Tile } from '../tile.js';
import { type Choices, undecided, valueAt, withChoices } from './choices.js';
import {
  type Conflict,
  type Keyed,
  type Merged,
  mergeFields,
  mergeKeyed,
  mergeOrder,
  mergeWhole,
  type Versions,
} from './three-way.js';

type ContentMetric = DashboardContent['metrics'][number];

/** A metric with its cards. A merge removes both together. */
type Piece = Pick<ContentMetric, 'name' | 'placement' | 'definition'> & { readonly cards: readonly GridCard[] };

/** A dashboard's content under keys that all its versions share: the template's metric ids, and the filters' names. */
type KeyedContent = {
  readonly pieces: Keyed<Piece>;
  readonly filters: Keyed<DashboardFilter>;
  readonly tiles: Keyed<Tile>;
  readonly gridMargin: readonly number[];
  readonly settings: CopySettings | undefined;
  /** The order of the cards. Each entry has the metric's key and the card's number among that metric's cards. */
  readonly cardOrder: readonly string[];
  readonly sources: ReadonlyMap<string, ContentMetric>;
};

export type DashboardMerge = {
  /**
   * The merged content for the tenant's copy. The tenant's metrics keep their own ids; new metrics have the template's.
   * In a conflict that nobody decided it has the tenant's value.
   */
  readonly content: DashboardContent;
  readonly conflicts: readonly Conflict[];
  /** Whether the tenant's copy differs from the template version that it was made from. */
  readonly isEdited: boolean;
  /** Whether `content` differs from the tenant's copy. */
  readonly isChanged: boolean;
};

const idsOf = (...contents: readonly DashboardContent[]): ReadonlySet<string> =>
  new Set(contents.flatMap(({ metrics }) => metrics.map(({ metricId }) => metricId)));

/**
 * Returns each metric's key: its own id if a template has that id, else its nearest ancestor's id in a template. A
 * second copy of the same metric keeps its own id as its key.
 */
const metricKeys = ({ metrics }: DashboardContent, templateIds: ReadonlySet<string>): ReadonlyMap<string, string> => {
  const own = idsOf({ metrics } as DashboardContent);
  const taken = new Set<string>();
  const keys = new Map<string, string>();
  for (const { metricId, lineage } of metrics) {
    const ancestor = templateIds.has(metricId)
      ? metricId
      : lineage.find((id) => templateIds.has(id) && !own.has(id) && !taken.has(id));
    const key = ancestor ?? metricId;
    taken.add(key);
    keys.set(metricId, key);
  }
  return keys;
};

const cardOf = ({ x, y, w, h }: GridCard): GridCard => ({ x, y, w, h });

const keyed = (content: DashboardContent, templateIds: ReadonlySet<string>): KeyedContent => {
  const keys = metricKeys(content, templateIds);
  const cards = new Map<string, GridCard[]>();
  const cardOrder: string[] = [];
  for (const card of content.layout) {
    const key = keys.get(card.metricId);
    if (key === undefined) continue;
    const before = cards.get(key) ?? [];
    cardOrder.push(JSON.stringify([key, before.length]));
    cards.set(key, [...before, cardOf(card)]);
  }
  const keyOf = ({ metricId }: ContentMetric): string => keys.get(metricId) ?? metricId;
  const pieceOf = (metric: ContentMetric): Piece => {
    const { name, placement, definition } = metric;
    return { name, placement, definition, cards: cards.get(keyOf(metric)) ?? [] };
  };
  return {
    pieces: new Map(content.metrics.map((metric) => [keyOf(metric), pieceOf(metric)])),
    filters: new Map(content.filters.map((filter) => [filter.name.toLowerCase(), filter])),
    tiles: new Map((content.tiles ?? []).map((tile) => [tile.tileId, tile])),
    gridMargin: content.gridMargin,
    settings: content.settings,
    cardOrder,
    sources: new Map(content.metrics.map((metric) => [keyOf(metric), metric])),
  };
};

const hiddenNames = (definition: MetricDefinition): readonly string[] =>
  definition.kind === 'sql'
    ? []
    : definition.measures.filter(({ isHidden }) => isHidden === true).map(({ name }) => name);

/**
 * Whether a merged definition is valid. A merge by parts can make column names repeat, or leave a sort on a missing
 * column.
 */
const isSound = (definition: MetricDefinition): boolean => {
  const { sort, filters } = definition;
  const shown = outputNames(definition);
  const names = [...shown, ...hiddenNames(definition)].map((name) => name.toLowerCase());
  const filterNames = filters.map(({ name }) => name.toLowerCase());
  return (
    shown.length > 0 &&
    new Set(names).size === names.length &&
    new Set(filterNames).size === filterNames.length &&
    sort.every(({ name }) => names.includes(name.toLowerCase()))
  );
};

const mergeDefinition = (versions: Versions<unknown>, path: string): Merged<unknown> => {
  const at = versions as Versions<MetricDefinition | undefined>;
  const kinds = [at.base, at.template, at.tenant].flatMap((definition) => definition?.kind ?? []);
  // A metric in SQL and a metric of another kind have no fields to merge.
  if (new Set(kinds).size > 1) return mergeWhole(versions, path);
  const merged = mergeFields(at, path, (part, where, name) =>
    name === 'chart' ? mergeFields(part as Versions<object | undefined>, where) : mergeWhole(part, where),
  );
  const { value } = merged;
  const isMixed = value !== undefined && !isSameJson(value, at.template) && !isSameJson(value, at.tenant);
  return isMixed && !isSound(value) ? { value: at.tenant, conflicts: [{ path, kind: 'changed-by-both' }] } : merged;
};

const mergePiece = (versions: Versions<Piece | undefined>, key: string): Merged<Piece | undefined> =>
  mergeFields(versions, `metrics[${JSON.stringify(key)}]`, (part, path, name) =>
    name === 'definition' ? mergeDefinition(part, path) : mergeWhole(part, path),
  );

/**
 * Merges a filter field by field. If the data type changed, it merges the filter as a whole, since the columns and the
 * default must have that type.
 */
const mergeFilter = (
  versions: Versions<DashboardFilter | undefined>,
  key: string,
): Merged<DashboardFilter | undefined> => {
  const path = `filters[${JSON.stringify(key)}]`;
  const { base, template, tenant } = versions;
  const isOfOneType = template?.dataType === tenant?.dataType && (base ?? template)?.dataType === template?.dataType;
  return isOfOneType ? mergeFields(versions, path) : mergeWhole(versions, path);
};

/** Merges a tile field by field, or as a whole if it shows something of another kind now. */
const mergeTile = (versions: Versions<Tile | undefined>, key: string): Merged<Tile | undefined> => {
  const path = `tiles[${JSON.stringify(key)}]`;
  const { base, template, tenant } = versions;
  const kinds = [base, template, tenant].flatMap((tile) => tile?.kind ?? []);
  return new Set(kinds).size > 1 ? mergeWhole(versions, path) : mergeFields(versions, path);
};

/** A version without settings says nothing about them: a copy whose settings or target are not known keeps its own. */
const mergeSettings = (versions: Versions<CopySettings | undefined>): Merged<CopySettings | undefined> => {
  const { template, tenant } = versions;
  if (template === undefined || tenant === undefined) return { value: tenant, conflicts: [] };
  return mergeFields(versions, 'settings', (part, path, name) =>
    name === 'accessSettings' ? mergeFields(part as Versions<object | undefined>, path) : mergeWhole(part, path),
  );
};

const overlaps = (a: GridCard, b: GridCard): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** The highest `y` that a card may have. */
const lastRow = 10_000;

/** Moves a card from the template below all others if it overlaps a card that the tenant arranged. */
const withoutOverlaps = (merged: Keyed<Piece>, { base, tenant }: Versions<KeyedContent>): Keyed<Piece> => {
  const isTenants = (key: string, { cards }: Piece): boolean => isSameJson(cards, tenant.pieces.get(key)?.cards);
  const isArranged = ([key, piece]: readonly [string, Piece]): boolean =>
    isTenants(key, piece) && !isSameJson(piece.cards, base.pieces.get(key)?.cards);
  const arranged = [...merged].filter(isArranged).flatMap(([, { cards }]) => cards);
  let bottom = Math.max(0, ...[...merged.values()].flatMap(({ cards }) => cards.map(({ y, h }) => y + h)));
  const settle = (card: GridCard): GridCard => {
    if (!arranged.some((other) => overlaps(card, other))) return card;
    const moved = { ...card, y: Math.min(lastRow, bottom) };
    bottom += card.h;
    return moved;
  };
  return new Map(
    [...merged].map(([key, piece]) => [
      key,
      isTenants(key, piece) ? piece : { ...piece, cards: piece.cards.map(settle) },
    ]),
  );
};

type Board = Pick<KeyedContent, 'pieces' | 'filters' | 'tiles' | 'gridMargin' | 'settings' | 'cardOrder'>;

/**
 * Converts the merged board to dashboard content. Metrics of the tenant's copy have its ids; new metrics have the
 * template's.
 */
const contentFrom = (board: Board, versions: Versions<KeyedContent>, tenant: DashboardContent): DashboardContent => {
  const { pieces } = board;
  const sourceOf = (key: string): ContentMetric | undefined =>
    versions.tenant.sources.get(key) ?? versions.template.sources.get(key);
  return {
    ...tenant,
    gridMargin: board.gridMargin,
    ...(board.settings === undefined ? {} : { settings: board.settings }),
    filters: [...board.filters.values()],
    ...(tenant.tiles === undefined && board.tiles.size === 0 ? {} : { tiles: [...board.tiles.values()] }),
    metrics: [...pieces].flatMap(([key, { cards: _, ...piece }]) => {
      const source = sourceOf(key);
      return source === undefined ? [] : [{ metricId: source.metricId, lineage: source.lineage, ...piece }];
    }),
    layout: board.cardOrder.flatMap((place) => {
      const [key, index]: [string, number] = JSON.parse(place);
      const card = pieces.get(key)?.cards[index];
      const source = sourceOf(key);
      return card === undefined || source === undefined ? [] : [{ metricId: source.metricId, ...card }];
    }),
  };
};

const boardOf = ({ pieces, filters, tiles, gridMargin, cardOrder }: Omit<Board, 'settings'>): unknown => [
  [...pieces],
  [...filters],
  [...tiles],
  gridMargin,
  cardOrder,
];

/**
 * Whether two contents show the same board although each has its own metric ids. `templates` tell which ids correspond.
 * Ignores settings, metadata and all else that is not seen on the board.
 */
export const isSameBoard = (
  a: DashboardContent,
  b: DashboardContent,
  ...templates: readonly DashboardContent[]
): boolean => {
  const ids = idsOf(...templates);
  return isSameJson(boardOf(keyed(a, ids)), boardOf(keyed(b, ids)));
};

type Parts = Pick<DashboardMerge, 'conflicts'> & { readonly board: Board };

const mergeParts = (versions: Versions<KeyedContent>): Parts => {
  const pick = <Name extends keyof KeyedContent>(name: Name): Versions<KeyedContent[Name]> => ({
    base: versions.base[name],
    template: versions.template[name],
    tenant: versions.tenant[name],
  });
  const pieces = mergeKeyed(pick('pieces'), mergePiece);
  const filters = mergeKeyed(pick('filters'), mergeFilter);
  const tiles = mergeKeyed(pick('tiles'), mergeTile);
  const gridMargin = mergeWhole(pick('gridMargin'), 'gridMargin');
  const settings = mergeSettings(pick('settings'));
  const board: Board = {
    pieces: withoutOverlaps(pieces.value, versions),
    filters: filters.value,
    tiles: tiles.value,
    gridMargin: gridMargin.value,
    settings: settings.value,
    cardOrder: mergeOrder(pick('cardOrder')),
  };
  const conflicts = [pieces, filters, tiles, gridMargin, settings].flatMap((merged) => merged.conflicts);
  return { board, conflicts };
};

/** Values that were chosen can be inconsistent together, which is a conflict of its own. So this ends when none is chosen. */
const mergeChosen = (versions: Versions<KeyedContent>, choices: Choices): Parts => {
  const merged = mergeParts(versions);
  const tenant = withChoices(versions, merged.conflicts, choices);
  return tenant === versions.tenant ? merged : mergeChosen({ ...versions, tenant }, choices);
};

const keyedVersions = ({ base, template, tenant }: Versions<DashboardContent>): Versions<KeyedContent> => {
  const ids = idsOf(base, template);
  return { base: keyed(base, ids), template: keyed(template, ids), tenant: keyed(tenant, ids) };
};

const isOtherwiseSet = (before: CopySettings | undefined, after: CopySettings | undefined): boolean =>
  before !== undefined && after !== undefined && !isSameJson(before, after);

/**
 * Merges `template` (the target version) into `tenant` (the copy). `base` is the version that the copy was made from.
 * `choices` decide conflicts; those that are left are reported.
 */
export const mergeDashboard = (given: Versions<DashboardContent>, choices: Choices = {}): DashboardMerge => {
  const versions = keyedVersions(given);
  const { board, conflicts } = mergeChosen(versions, choices);
  const { base, tenant } = versions;
  const content = contentFrom(board, versions, given.tenant);
  return {
    content,
    conflicts: undecided(conflicts, choices),
    isEdited: !isSameJson(boardOf(tenant), boardOf(base)) || isOtherwiseSet(base.settings, tenant.settings),
    isChanged:
      !isSameJson(boardOf(tenant), boardOf(keyed(content, idsOf(given.base, given.template)))) ||
      isOtherwiseSet(tenant.settings, content.settings),
  };
};

/** A conflict with the three values at its path. An absent value is null. */
export type ShownConflict = Conflict & Readonly<Record<keyof Versions<unknown>, unknown>>;

/** Returns the conflicts with what each side has there, for a person who decides. */
export const showConflicts = (
  given: Versions<DashboardContent>,
  conflicts: readonly Conflict[],
): readonly ShownConflict[] => {
  const { base, template, tenant } = keyedVersions(given);
  const at = (content: KeyedContent, path: string): unknown => valueAt(content, path) ?? null;
  return conflicts.map((conflict) => ({
    ...conflict,
    base: at(base, conflict.path),
    template: at(template, conflict.path),
    tenant: at(tenant, conflict.path),
  }));
};
