/** Places of the tables of a diagram, and the lines between them. Pure: equal graphs have equal places. */
import { Graph as DagreGraph, layout } from '@dagrejs/dagre';
import type { End } from './cardinality.js';
import type { Graph, GraphLine, GraphTable } from './model-graph.js';

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
export type Point = { readonly x: number; readonly y: number };
export type Line = {
  readonly line: GraphLine;
  readonly path: string;
  readonly fromMark: Point;
  readonly toMark: Point;
};
export type Layout = { readonly boxes: ReadonlyMap<string, Box>; readonly width: number; readonly height: number };

/** Measures in pixels; the style sheet has the same. */
export const measures = { width: 224, head: 50, row: 26, gap: 24, between: 88, margin: 24 } as const;

type Placed = readonly [string, Box];

const heightOf = ({ columns, folded }: GraphTable): number =>
  measures.head + measures.row * (columns.length + (folded > 0 ? 1 : 0)) + 2;

const rowOfBoxes = 5;

/** Tables without lines stand in rows below the others. */
const placeLoose = (tables: readonly GraphTable[], top: number, width: number): ReadonlyMap<string, Box> => {
  const { width: one, gap, margin } = measures;
  const inRow = Math.max(rowOfBoxes, Math.floor((width - margin) / (one + gap)));
  const placed = new Map<string, Box>();
  let y = top;
  for (let at = 0; at < tables.length; at += inRow) {
    const row = tables.slice(at, at + inRow);
    for (const [index, table] of row.entries())
      placed.set(table.key, { x: margin + index * (one + gap), y, width: one, height: heightOf(table) });
    y += Math.max(...row.map(heightOf)) + gap;
  }
  return placed;
};

const placeLinked = (tables: readonly GraphTable[], lines: readonly GraphLine[]): ReadonlyMap<string, Box> => {
  const { margin, gap, between } = measures;
  const graph = new DagreGraph({ multigraph: true });
  graph.setGraph({
    rankdir: 'RL',
    ranker: 'tight-tree',
    nodesep: gap,
    ranksep: between,
    marginx: margin,
    marginy: margin,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const table of tables) graph.setNode(table.key, { width: measures.width, height: heightOf(table) });
  // From one to many: the tables that others lead to stand on the left.
  for (const [index, { from, to, isToMany }] of lines.entries()) {
    const [one, other] = isToMany === true ? [to, from] : [from, to];
    if (one.table !== other.table) graph.setEdge(one.table, other.table, {}, String(index));
  }
  layout(graph);
  return new Map(
    tables.map(({ key }) => {
      const { x, y, width, height } = graph.node(key) as Box;
      return [key, { x: Math.round(x - width / 2), y: Math.round(y - height / 2), width, height }];
    }),
  );
};

/** Columns of boxes higher than this are split, so that a star of many tables is no thread. */
const mostHeight = 1200;

/** Boxes of one rank in the order of their places, in columns that are not much higher than `most`. */
const columnsOf = (rank: readonly Placed[], most: number): readonly (readonly Placed[])[] => {
  const columns: Placed[][] = [];
  let height = Number.POSITIVE_INFINITY;
  for (const one of rank) {
    if (height + one[1].height > most) {
      columns.push([]);
      height = 0;
    }
    columns.at(-1)?.push(one);
    height += one[1].height + measures.gap;
  }
  return columns;
};

const stackedHeight = (column: readonly Placed[]): number =>
  column.reduce((sum, [, { height }]) => sum + height + measures.gap, -measures.gap);

/** The places with each high rank in several columns, all of them centred. Without a high rank nothing changes. */
const withoutThreads = (placed: ReadonlyMap<string, Box>): ReadonlyMap<string, Box> => {
  const { margin, gap, between, width } = measures;
  const height = endOf(placed.values(), (box) => box.y + box.height) - margin;
  if (height <= mostHeight) return placed;
  const ranks = new Map<number, Placed[]>();
  for (const one of placed) ranks.set(one[1].x, [...(ranks.get(one[1].x) ?? []), one]);
  const inOrder = [...ranks].toSorted(([a], [b]) => a - b).map(([, rank]) => rank.toSorted((a, b) => a[1].y - b[1].y));
  const split = inOrder.map((rank) => columnsOf(rank, mostHeight));
  const highest = Math.max(...split.flat().map(stackedHeight));
  const found = new Map<string, Box>();
  let x: number = margin;
  for (const columns of split) {
    for (const column of columns) {
      let y = margin + Math.round((highest - stackedHeight(column)) / 2);
      for (const [key, box] of column) {
        found.set(key, { ...box, x, y });
        y += box.height + gap;
      }
      x += width + gap;
    }
    x += between - gap;
  }
  return found;
};

const endOf = (boxes: Iterable<Box>, side: (box: Box) => number): number => {
  let end = 0;
  for (const box of boxes) end = Math.max(end, side(box));
  return end;
};

export const layOut = ({ tables, lines }: Graph): Layout => {
  const known = new Set(tables.map(({ key }) => key));
  const drawn = lines.filter(({ from, to }) => known.has(from.table) && known.has(to.table));
  const linked = new Set(drawn.flatMap(({ from, to }) => (from.table === to.table ? [] : [from.table, to.table])));
  const placed = withoutThreads(
    placeLinked(
      tables.filter(({ key }) => linked.has(key)),
      drawn,
    ),
  );
  const { margin, gap } = measures;
  const bottom = endOf(placed.values(), ({ y, height }) => y + height);
  const right = endOf(placed.values(), ({ x, width }) => x + width);
  const loose = tables.filter(({ key }) => !linked.has(key));
  const boxes = new Map([...placed, ...placeLoose(loose, bottom === 0 ? margin : bottom + gap * 2, right)]);
  return {
    boxes,
    width: endOf(boxes.values(), (box) => box.x + box.width) + margin,
    height: endOf(boxes.values(), (box) => box.y + box.height) + margin,
  };
};

/** The middle of a column's row. Undefined: the diagram has no such column. */
const rowAt = (
  { tables }: Graph,
  boxes: Layout['boxes'],
  { table, column }: End,
): (Box & { middle: number }) | undefined => {
  const box = boxes.get(table);
  const index = tables.find(({ key }) => key === table)?.columns.findIndex(({ name }) => name === column) ?? -1;
  if (box === undefined || index < 0) return undefined;
  return { ...box, middle: box.y + measures.head + measures.row * (index + 0.5) };
};

/** Where a line leaves or meets a box, and which way it looks there. */
type Anchor = Point & { readonly way: 1 | -1 };

const anchors = (a: Box & { middle: number }, b: Box & { middle: number }): readonly [Anchor, Anchor] => {
  const right = (box: typeof a): Anchor => ({ x: box.x + box.width, y: box.middle, way: 1 });
  const left = (box: typeof a): Anchor => ({ x: box.x, y: box.middle, way: -1 });
  if (a.x + a.width < b.x) return [right(a), left(b)];
  if (b.x + b.width < a.x) return [left(a), right(b)];
  return [right(a), right(b)];
};

const markOf = ({ x, y, way }: Anchor): Point => ({ x: x + way * 12, y: y - 6 });

/** A line that leaves and meets its boxes at the rows of its columns. */
const lineOf = (line: GraphLine, [from, to]: readonly [Anchor, Anchor]): Line => {
  const bend = Math.max(40, Math.abs(to.x - from.x) / 2);
  const path = `M${from.x} ${from.y} C${from.x + from.way * bend} ${from.y} ${to.x + to.way * bend} ${to.y} ${to.x} ${to.y}`;
  return { line, path, fromMark: markOf(from), toMark: markOf(to) };
};

export const linesIn = (graph: Graph, boxes: Layout['boxes']): readonly Line[] =>
  graph.lines.flatMap((line) => {
    const [a, b] = [rowAt(graph, boxes, line.from), rowAt(graph, boxes, line.to)];
    return a === undefined || b === undefined ? [] : [lineOf(line, anchors(a, b))];
  });

/** The table that an arrow key leads to: the nearest one on that side. Undefined: there is none. */
export const neighbour = (boxes: Layout['boxes'], key: string, way: 1 | -1): string | undefined => {
  const here = boxes.get(key);
  if (here === undefined) return undefined;
  const ahead = [...boxes].filter(([, { x }]) => (x - here.x) * way > here.width / 2);
  const distance = ({ x, y }: Box): number => Math.abs(x - here.x) + Math.abs(y - here.y) * 2;
  return ahead.toSorted(([, a], [, b]) => distance(a) - distance(b))[0]?.[0];
};
