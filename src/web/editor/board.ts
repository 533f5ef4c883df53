/**
 * A dashboard's layout: tabs of tiles on 12 columns. Tiles never overlap and rise as far as they can; a tile that is
 * moved pushes others down. Pure.
 */
export const columns = 12;
const greatestHeight = 50;
/** So many tiles of the greatest height end before the last row that the service takes. */
const greatestTiles = 200;

export type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

export type Tile = Place & {
  readonly id: string;
  readonly content:
    | { readonly kind: 'metric'; readonly metricId: string }
    | { readonly kind: 'heading' | 'text'; readonly text: string };
};

export type Tab = { readonly id: string; readonly name: string; readonly tiles: readonly Tile[] };
/** At least one tab. */
export type Board = { readonly tabs: readonly Tab[] };

export type BoardAction =
  | { readonly kind: 'addTile'; readonly tab: string; readonly tile: Tile }
  | { readonly kind: 'removeTile'; readonly id: string }
  | { readonly kind: 'place'; readonly id: string; readonly place: Place }
  | { readonly kind: 'toTab'; readonly id: string; readonly tab: string }
  | { readonly kind: 'addTab'; readonly id: string; readonly name: string }
  | { readonly kind: 'renameTab'; readonly id: string; readonly name: string }
  /** Its tiles go to the tab before it, or after it. */
  | { readonly kind: 'removeTab'; readonly id: string };

const bounded = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Number.isFinite(value) ? Math.round(value) : least));

/** Returns the place inside the grid. */
export const inGrid = ({ x, y, w, h }: Place): Place => {
  const width = bounded(w, 1, columns);
  return {
    x: bounded(x, 0, columns - width),
    y: bounded(y, 0, greatestTiles * greatestHeight),
    w: width,
    h: bounded(h, 1, greatestHeight),
  };
};

const overlap = (a: Place, b: Place): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

const risen = (tile: Tile, settled: readonly Tile[]): Tile => {
  const above = settled.filter(({ x, w }) => x < tile.x + tile.w && tile.x < x + w);
  const free = (y: number): boolean => !above.some((other) => overlap({ ...tile, y }, other));
  const stops = [0, ...above.map(({ y, h }) => y + h)].toSorted((a, b) => a - b);
  // A tile does not rise over another one: it stays below each that is above it.
  const least = Math.max(0, ...above.filter(({ y }) => y <= tile.y).map(({ y, h }) => y + h));
  return { ...tile, y: stops.find((y) => y >= least && free(y)) ?? least };
};

/** Returns the tiles without overlaps or gaps above them. Where two want one place, `first` has it. */
export const settle = (tiles: readonly Tile[], first: string | null = null): readonly Tile[] => {
  const isFirst = ({ id }: Tile): number => (id === first ? 0 : 1);
  const sorted = tiles
    .map((tile) => ({ ...tile, ...inGrid(tile) }))
    .toSorted((a, b) => a.y - b.y || isFirst(a) - isFirst(b) || a.x - b.x);
  const settled: Tile[] = [];
  for (const tile of sorted) settled.push(risen(tile, settled));
  const byId = new Map(settled.map((tile) => [tile.id, tile]));
  return tiles.map((tile) => byId.get(tile.id) ?? tile);
};

const bottomOf = (tiles: readonly Place[]): number => Math.max(0, ...tiles.map(({ y, h }) => y + h));

const inTab = (board: Board, id: string, change: (tab: Tab) => Tab): Board => ({
  tabs: board.tabs.map((tab) => (tab.id === id ? change(tab) : tab)),
});

export const findTile = ({ tabs }: Board, id: string): { readonly tab: Tab; readonly tile: Tile } | undefined => {
  for (const tab of tabs) {
    const tile = tab.tiles.find((one) => one.id === id);
    if (tile !== undefined) return { tab, tile };
  }
  return undefined;
};

const countTiles = ({ tabs }: Board): number => tabs.reduce((sum, { tiles }) => sum + tiles.length, 0);

const withTile = (board: Board, tabId: string, tile: Tile): Board =>
  inTab(board, tabId, (tab) => ({ ...tab, tiles: settle([...tab.tiles, tile], tile.id) }));

const without = (board: Board, id: string): Board => ({
  tabs: board.tabs.map((tab) => {
    const left = tab.tiles.filter((tile) => tile.id !== id);
    return left.length === tab.tiles.length ? tab : { ...tab, tiles: settle(left) };
  }),
});

const removeTab = (board: Board, id: string): Board => {
  const at = board.tabs.findIndex((tab) => tab.id === id);
  const gone = board.tabs[at];
  const heir = board.tabs[at - 1] ?? board.tabs[at + 1];
  if (gone === undefined || heir === undefined) return board;
  const below = bottomOf(heir.tiles);
  const tiles = settle([...heir.tiles, ...gone.tiles.map((tile) => ({ ...tile, y: tile.y + below }))]);
  return inTab({ tabs: board.tabs.toSpliced(at, 1) }, heir.id, (tab) => ({ ...tab, tiles }));
};

const changeTab = (
  board: Board,
  action: Extract<BoardAction, { kind: 'addTab' | 'renameTab' | 'removeTab' }>,
): Board => {
  if (action.kind === 'removeTab') return removeTab(board, action.id);
  const name = action.name.trim().slice(0, 255);
  if (name === '') return board;
  if (action.kind === 'renameTab') return inTab(board, action.id, (tab) => ({ ...tab, name }));
  const isTaken = board.tabs.some(({ id }) => id === action.id);
  return isTaken ? board : { tabs: [...board.tabs, { id: action.id, name, tiles: [] }] };
};

/** Returns the board after the action; the same board if the action is not possible. */
export const arrange = (board: Board, action: BoardAction): Board => {
  if (action.kind === 'addTab' || action.kind === 'renameTab' || action.kind === 'removeTab')
    return changeTab(board, action);
  if (action.kind === 'addTile') {
    const isFull = countTiles(board) >= greatestTiles;
    const isKnown = findTile(board, action.tile.id) !== undefined;
    return isFull || isKnown ? board : withTile(board, action.tab, action.tile);
  }
  const found = findTile(board, action.id);
  if (found === undefined) return board;
  const { tab, tile } = found;
  if (action.kind === 'removeTile') return without(board, tile.id);
  if (action.kind === 'place') {
    const placed = tab.tiles.map((one) => (one === tile ? { ...tile, ...inGrid(action.place) } : one));
    return inTab(board, tab.id, (of) => ({ ...of, tiles: settle(placed, tile.id) }));
  }
  const target = board.tabs.find(({ id }) => id === action.tab);
  if (target === undefined || target === tab) return board;
  return withTile(without(board, tile.id), target.id, { ...tile, y: bottomOf(target.tiles) });
};

export type Key = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';
const steps: Readonly<Record<Key, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Tiles rise, so a tile moves down by changing places with the next one below it, and up with the one above it. */
const neighbour = (tiles: readonly Tile[], tile: Tile, isDown: boolean): Tile | undefined => {
  const beside = tiles.filter(
    (other) => other.id !== tile.id && other.x < tile.x + tile.w && tile.x < other.x + other.w,
  );
  return isDown
    ? beside.filter(({ y }) => y >= tile.y + tile.h).toSorted((a, b) => a.y - b.y)[0]
    : beside.filter(({ y }) => y < tile.y).toSorted((a, b) => b.y - a.y)[0];
};

/** Returns what an arrow key does with a tile: moves it, or changes its size (`isResize`). */
export const keyAction = (board: Board, id: string, key: Key, isResize: boolean): BoardAction | undefined => {
  const found = findTile(board, id);
  if (found === undefined) return undefined;
  const { tile, tab } = found;
  const [dx, dy] = steps[key];
  if (isResize) return { kind: 'place', id, place: inGrid({ ...tile, w: tile.w + dx, h: tile.h + dy }) };
  if (dy === 0) return { kind: 'place', id, place: inGrid({ ...tile, x: tile.x + dx }) };
  const other = neighbour(tab.tiles, tile, dy > 0);
  if (other === undefined) return undefined;
  return { kind: 'place', id, place: { ...tile, y: dy > 0 ? other.y + other.h : other.y } };
};

/** A card as the service keeps it: the service has no tabs and no texts, so tabs are one below the other. */
export type Card = Place & { readonly metricId: string };

export const cardsOf = ({ tabs }: Board): readonly Card[] => {
  let below = 0;
  return tabs.flatMap(({ tiles }) => {
    const cards = tiles.flatMap(({ content, x, y, w, h }) =>
      content.kind === 'metric' ? [{ metricId: content.metricId, x, y: y + below, w, h }] : [],
    );
    below += bottomOf(tiles);
    return cards;
  });
};

/** Returns a board with one tab of these cards. */
export const boardOf = (name: string, cards: readonly Card[]): Board => {
  const tiles = cards.map(
    ({ metricId, x, y, w, h }): Tile => ({ id: metricId, x, y, w, h, content: { kind: 'metric', metricId } }),
  );
  return { tabs: [{ id: 'first', name, tiles: settle(tiles) }] };
};
