/** Flows from each dimension's values to the next dimension's. Pure. */
import type { Cell } from '../../../model/query/engine.js';
import { numberOf, numbersOf, titleOf } from '../../base/format.js';
import { columnsOf, labelOf, type Row } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  ellipsis,
  type Mark,
  type Picture,
  slotsOf,
} from '../model/drawing.js';
import { fromStart, isRightToLeft } from '../model/mirror.js';
import { type Slot, slotOf, valueKey } from '../model/slots.js';
import { say } from '../model/summary.js';

/** `level` is the dimension's place: the same name in two dimensions is two nodes, so that no flow leads back. */
type Node = {
  readonly id: string;
  readonly label: string;
  readonly level: number;
  readonly slot: Slot;
  /** Undefined: several values together. */
  readonly cell?: Cell | undefined;
  value: number;
};
type Link = { readonly source: string; readonly target: string; value: number };
type Flows = { readonly nodes: readonly Node[]; readonly links: readonly Link[]; readonly notes: readonly string[] };

/** Nodes of one level that are drawn at most; the others are joined as “Other”. */
const maxNodes = 12;

/** No value has this key. */
const otherKey = 'other';

const flowsOf = (drawing: Drawing): Flows => {
  const { answer, chart, format, theme } = drawing;
  const slots = slotsOf(drawing);
  const { dimensions, measures } = columnsOf(answer, chart);
  const measure = measures[0]?.name ?? '';
  const rows = answer.rows.map((row) => ({
    row,
    keys: dimensions.map(({ name }) => valueKey(row[name])),
    value: numberOf(row[measure]) ?? 0,
  }));
  const drawn = rows.filter(({ value }) => value > 0);
  const kept = dimensions.map((_, level) => largestAt(drawn, level));
  const nodes = new Map<string, Node>();
  const links = new Map<string, Link>();
  const nodeOf = (id: string, level: number, row: Row): Node => {
    const column = dimensions[level];
    if (column === undefined || id.endsWith(`:${otherKey}`))
      return { id, label: format.text('Other'), level, slot: null, value: 0 };
    const cell = row[column.name] ?? null;
    const label = labelOf(cell, column, chart, format);
    return { id, label, level, slot: slotOf(slots, column, cell, theme.series), cell, value: 0 };
  };
  for (const { row, keys, value } of drawn) {
    const ids = keys.map((key, level) => `${level}:${kept[level]?.has(key) ? key : otherKey}`);
    ids.forEach((id, level) => {
      const node = nodes.get(id) ?? nodeOf(id, level, row);
      node.value += value;
      nodes.set(id, node);
      const next = ids[level + 1];
      if (next === undefined) return;
      const link = links.get(`${id}>${next}`) ?? { source: id, target: next, value: 0 };
      link.value += value;
      links.set(`${id}>${next}`, link);
    });
  }
  const joined = dimensions.some((_, level) => new Set(drawn.map(({ keys }) => keys[level])).size > maxNodes);
  return {
    nodes: [...nodes.values()],
    links: [...links.values()],
    notes: [
      ...(joined ? [format.text('“Other” combines the smaller ones')] : []),
      ...(drawn.length < rows.length
        ? [format.text('{n} values of zero or less not drawn', { n: rows.length - drawn.length })]
        : []),
    ],
  };
};

const largestAt = (rows: readonly { readonly keys: readonly string[]; readonly value: number }[], level: number) => {
  const sums = new Map<string, number>();
  for (const { keys, value } of rows) sums.set(keys[level] ?? '', (sums.get(keys[level] ?? '') ?? 0) + value);
  const ranked = [...sums].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  return new Set(ranked.length <= maxNodes ? ranked : ranked.slice(0, maxNodes - 1));
};

export const draw: Draw = (drawing) => {
  const { answer, chart } = drawing;
  const { dimensions, measures } = columnsOf(answer, chart);
  const { text } = drawing.format;
  if (dimensions.length < 2 || measures.length === 0) return text('A flow chart needs two dimensions and a measure.');
  const flows = flowsOf(drawing);
  if (flows.links.length === 0) return text('A flow chart needs values above zero.');
  return pictureOf(drawing, flows);
};

/** Marks are of the first dimension: a flow is chosen by where it begins. */
const cellOf = ({ index, kind }: Mark, { nodes, links }: Pick<Flows, 'nodes' | 'links'>): Cell | undefined => {
  const node = kind === 'edge' ? nodes.find(({ id }) => id === links[index]?.source) : nodes[index];
  return node?.level === 0 ? node.cell : undefined;
};

const pictureOf = (drawing: Drawing, { nodes, links, notes }: Flows): Picture => {
  const { answer, chart, format, theme } = drawing;
  const column = columnsOf(answer, chart).measures[0] ?? { name: '' };
  const [measure, hint] = [titleOf(column), numbersOf(chart, column.name)];
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const name = ({ source, target }: Link) => fromStart(format, labels.get(source) ?? '', labels.get(target) ?? '');
  const ranked = [...links].sort((a, b) => b.value - a.value);
  const tall = Math.max(
    ...[...new Set(nodes.map(({ level }) => level))].map(
      (level) => nodes.filter((node) => node.level === level).length,
    ),
  );
  return {
    option: optionOf(drawing, { nodes, links, notes }),
    pointing: {
      by: 'item',
      marks: () => [
        ...nodes.map((_, index) => ({ series: 0, index, kind: 'node' })),
        ...links.map((_, index) => ({ series: 0, index, kind: 'edge' })),
      ],
    },
    tip: ({ index, kind }) => {
      const link = kind === 'edge' ? links[index] : undefined;
      const node = kind === 'edge' ? undefined : nodes[index];
      const value = link?.value ?? node?.value;
      if (value === undefined) return null;
      const title = link === undefined ? (node?.label ?? '') : name(link);
      const colour = node === undefined ? null : colourAt(theme, node.slot);
      return { title, lines: [{ name: measure, colour, value: format.measure(value, hint) }] };
    },
    valueAt: (mark) => cellOf(mark, { nodes, links }),
    height: tall * 20 + 12,
    legend: [],
    summary: say(drawing, format.text('{n} flows between {places} places', { n: links.length, places: nodes.length }), [
      format.text('Largest: {list}', {
        list: ranked
          .slice(0, 3)
          .map((link) => `${name(link)} ${format.measure(link.value, hint)}`)
          .join(', '),
      }),
    ]),
    notes,
  };
};

const optionOf = (drawing: Drawing, { nodes, links }: Flows) => {
  const { theme, width, format } = drawing;
  const isMirrored = isRightToLeft(format);
  const last = Math.max(...nodes.map(({ level }) => level));
  const room = Math.max(60, width / (last + 1) - 36);
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  return {
    ...commonOption(drawing),
    tooltip: { show: false },
    series: [
      {
        type: 'sankey',
        left: 4,
        right: 4,
        top: 6,
        bottom: 6,
        nodeWidth: 10,
        nodeGap: 8,
        draggable: false,
        data: nodes.map(({ id, level, slot }) => ({
          name: id,
          depth: isMirrored ? last - level : level,
          itemStyle: { color: colourAt(theme, slot), borderWidth: 0 },
          label: { position: (level === last) === isMirrored ? 'right' : 'left' },
        })),
        // Drawn backwards, flows begin on the right.
        links: links.map(({ source, target, value }) =>
          isMirrored ? { source: target, target: source, value } : { source, target, value },
        ),
        label: {
          color: theme.text,
          fontSize: 11,
          lineHeight: 14,
          width: room,
          overflow: 'truncate',
          ellipsis,
          fontFamily: theme.fontFamily,
          formatter: ({ name }: { name: string }) => labels.get(name) ?? '',
        },
        labelLayout: { hideOverlap: true },
        lineStyle: { color: isMirrored ? 'target' : 'source', opacity: 0.28, curveness: 0.5 },
        emphasis: { focus: 'adjacency' },
      },
    ],
  };
};
