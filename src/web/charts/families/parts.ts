/** Parts of a whole: pie, doughnut and funnel. Pure. */
import type { Cell } from '../../../model/query/engine.js';
import { numberOf, titleOf } from '../../base/format.js';
import { isOthers } from '../../base/others.js';
import { asMeasure, columnsOf, combineOf, labelOf, overlapOf } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  ellipsis,
  hatchAt,
  isolated,
  mostHeight,
  needsPattern,
  type Picture,
  slotsOf,
  textWidth,
} from '../model/drawing.js';
import { fromEdge, isRightToLeft } from '../model/mirror.js';
import { maxSeries, together } from '../model/plot.js';
import { rowKey, type Slot, slotOfRow } from '../model/slots.js';
import { inSentences, say } from '../model/summary.js';

/** `key` identifies the part, `slot` chooses its colour. */
type Part = {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  readonly cell: Cell | undefined;
  /** Whether it combines other parts. */
  readonly isOther: boolean;
  readonly slot: Slot;
};
/** A row or measure before it is known to have a size. */
type Measured = Omit<Part, 'value'> & { readonly value: number | null };
type Parts = { readonly parts: readonly Part[]; readonly notes: readonly string[] };

/** One part for each row; without a dimension, one for each measure. Parts have a size, so they are above zero. */
const partsOf = (drawing: Drawing): Parts => {
  const { answer, chart, format, theme } = drawing;
  const slots = slotsOf(drawing);
  const { dimensions, measures } = columnsOf(answer, chart);
  const measure = measures[0]?.name ?? '';
  const all: readonly Measured[] =
    dimensions.length === 0
      ? measures.map((column, slot) => ({
          ...{ key: column.name, slot },
          label: titleOf(column),
          value: numberOf(answer.rows[0]?.[column.name]),
          cell: undefined,
          isOther: false,
        }))
      : answer.rows.map((row) => ({
          key: rowKey(row, dimensions),
          // Only what is drawn takes a place of the palette.
          get slot() {
            return slotOfRow(slots, row, dimensions, theme.series);
          },
          label: dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · '),
          value: numberOf(row[measure]),
          cell: row[dimensions[0]?.name ?? ''] ?? null,
          isOther: dimensions.some(({ name }) => isOthers(row[name])),
        }));
  const parts = all.filter((part): part is Part => part.value !== null && part.value > 0);
  const dropped = all.length - parts.length;
  return {
    parts,
    notes: dropped === 0 ? [] : [format.text('{n} values of zero or less not drawn', { n: dropped })],
  };
};

/** The largest parts first. The rest becomes “Other” if the measure can be added up, and else is left out. */
const largestOf = ({ parts, notes }: Parts, { answer, chart, format }: Drawing): Parts => {
  const ranked = parts.toSorted((a, b) => Number(a.isOther) - Number(b.isOther) || b.value - a.value);
  // A copy reads the slots, in this order.
  if (ranked.length <= maxSeries) return { parts: ranked.map((part) => ({ ...part })), notes };
  const adds = combineOf(chart, columnsOf(answer, chart).measures[0]) === 'sum';
  const kept = ranked.slice(0, adds ? maxSeries - 1 : maxSeries).map((part) => ({ ...part }));
  const rest = ranked.slice(kept.length);
  const n = rest.length;
  if (!adds) return { parts: kept, notes: [...notes, format.text('{n} smaller parts are not drawn', { n })] };
  const value =
    together(
      rest.map((part) => part.value),
      'sum',
    ) ?? 0;
  return {
    parts: [...kept, { key: 'other', label: format.text('Other'), value, cell: undefined, slot: null, isOther: true }],
    notes: [...notes, format.text('“Other” combines {n} smaller parts', { n })],
  };
};

export const draw: Draw = (given) => {
  const [measure] = columnsOf(given.answer, given.chart).measures;
  const overlap = measure?.currencyColumn === undefined ? null : overlapOf(measure, given.format);
  if (overlap !== null) return inSentences([overlap], given.format);
  const all = partsOf(given);
  if (all.parts.length === 0) return given.format.text('This chart needs values above zero.');
  const { answer, chart } = given;
  const drawing = { ...given, chart: asMeasure(chart, columnsOf(answer, chart).measures[0]?.name ?? '') };
  return drawing.chart.type === 'funnel'
    ? funnel(drawing, boundedStages(all, drawing))
    : pie(drawing, largestOf(all, drawing));
};

/** Height in CSS pixels of one stage of a funnel. */
const stageHeight = ({ width }: Drawing): number => (isStageNarrow(width) ? 40 : 30);

/** As many stages as fit into the highest chart, the first ones. */
const boundedStages = ({ parts, notes }: Parts, drawing: Drawing): Parts => {
  const [n, total] = [Math.floor((mostHeight - 8) / stageHeight(drawing)), parts.length];
  if (total <= n) return { parts, notes };
  const note = drawing.format.text('First {n} of {total} drawn, the table has all', { n, total });
  return { parts: parts.slice(0, n), notes: [...notes, note] };
};

const common = (
  drawing: Drawing,
  { parts, notes }: Parts,
  shareOf: (part: Part) => number,
): Omit<Picture, 'option' | 'summary'> => ({
  pointing: { by: 'item', marks: () => parts.map((_, index) => ({ series: 0, index })) },
  tip: ({ index }) => {
    const part = parts[index];
    if (part === undefined) return null;
    const value = `${drawing.format.measure(part.value, drawing.chart)} (${percent(drawing, shareOf(part))})`;
    return {
      title: part.label,
      lines: [{ name: measureName(drawing), colour: colourAt(drawing.theme, part.slot), value }],
    };
  },
  valueAt: ({ index }) => parts[index]?.cell,
  height: null,
  legend: [],
  notes,
});

const measureName = ({ answer, chart }: Drawing): string =>
  titleOf(columnsOf(answer, chart).measures[0] ?? { name: '' });
const percent = ({ format }: Drawing, share: number): string => format.measure(share, { format: 'percent' });

const pie = (drawing: Drawing, whole: Parts): Picture => {
  const { chart, choice, format } = drawing;
  const kept = whole.parts.filter(({ key }) => !choice.hidden.has(key));
  const parts = kept.length === 0 ? whole.parts : kept;
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const shareOf = (part: Part) => part.value / total;
  const textOf = (part: Part) => `${nameOf(format, part)}  ${percent(drawing, shareOf(part))}`;
  const { isLabelled } = ringOf(drawing);
  const told = parts.map(
    (part) => `${part.label} ${format.measure(part.value, chart)} (${percent(drawing, shareOf(part))})`,
  );
  return {
    ...common(drawing, { ...whole, parts }, shareOf),
    legend:
      isLabelled && parts.length === whole.parts.length
        ? []
        : whole.parts.map((part) => entry(drawing, part, parts, shareOf)),
    option: {
      ...commonOption(drawing),
      tooltip: { show: false },
      ...middle(drawing, total),
      series: [ring(drawing, parts, textOf)],
    },
    summary: say(drawing, format.text('{n} parts', { n: parts.length }), [told.join(', ')]),
  };
};

const entry = (drawing: Drawing, part: Part, shown: readonly Part[], shareOf: (part: Part) => number) => {
  const isHidden = !shown.includes(part);
  return {
    ...{ key: part.key, name: part.label },
    note: isHidden ? undefined : percent(drawing, shareOf(part)),
    colour: colourAt(drawing.theme, part.slot),
    hasPattern: needsPattern(drawing.theme, part.slot),
    isHidden,
  };
};

/** Beside a number, for readers from right to left, any name is isolated: a Latin one would take the number along. */
const nameOf = (format: Drawing['format'], { label }: Part): string =>
  isRightToLeft(format) ? `\u2068${label}\u2069` : isolated(label);

/** Narrow cards have no room beside the ring: their labels are in the legend. */
const ringOf = ({ width, height }: Drawing): { readonly radius: number; readonly isLabelled: boolean } => {
  const isLabelled = width >= 420 && height >= 150;
  const room = isLabelled ? Math.min(height / 2 - 22, width / 4.4) : Math.min(height / 2 - 6, width / 2 - 8);
  return { radius: Math.max(20, room), isLabelled };
};

/** The total in the middle of a doughnut, if the measure can be added up. */
const middle = (drawing: Drawing, total: number) => {
  const { answer, chart, format, theme } = drawing;
  const text = format.measure(total, { ...chart, notation: 'compact' });
  const adds = combineOf(chart, columnsOf(answer, chart).measures[0]) === 'sum';
  if (chart.type !== 'doughnut' || !adds || textWidth(text, 18) > ringOf(drawing).radius * 1.15) return {};
  const textStyle = { color: theme.text, fontSize: 18, fontWeight: 600, fontFamily: theme.fontFamily };
  return { title: { text, left: 'center', top: 'middle', textStyle } };
};

const ring = (drawing: Drawing, parts: readonly Part[], textOf: (part: Part) => string) => {
  const { chart, theme, width } = drawing;
  const { radius, isLabelled } = ringOf(drawing);
  return {
    type: 'pie',
    radius: [chart.type === 'doughnut' ? radius * 0.62 : 0, radius],
    center: ['50%', '50%'],
    data: parts.map(({ label: name, value, slot }) => ({
      ...{ name, value },
      itemStyle: { color: colourAt(theme, slot), ...hatchAt(theme, slot) },
    })),
    itemStyle: { borderColor: theme.surface, borderWidth: 2 },
    label: {
      show: isLabelled,
      color: theme.text,
      fontSize: 11,
      lineHeight: 14,
      width: Math.max(50, width / 2 - radius - 34),
      overflow: 'truncate',
      ellipsis,
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const part = parts[dataIndex];
        return part === undefined ? '' : textOf(part);
      },
    },
    labelLine: { show: isLabelled, length: 8, length2: 8, lineStyle: { color: theme.muted } },
    labelLayout: { hideOverlap: true },
    emphasis: { scaleSize: 3 },
  };
};

const funnel = (drawing: Drawing, whole: Parts): Picture => {
  const { chart, format, width } = drawing;
  const { parts } = whole;
  const [first] = parts;
  const shareOf = (part: Part) => part.value / (first?.value ?? part.value);
  const valueText = (part: Part) => `${format.measure(part.value, chart)}  ${percent(drawing, shareOf(part))}`;
  const textOf = (part: Part) => `${part.label}  ${valueText(part)}`;
  // Beside the shape, since the last stages are narrower than their text.
  const widest = (textFor: (part: Part) => string) =>
    parts.reduce((most, part) => Math.max(most, textWidth(textFor(part), 12)), 0);
  const beside = Math.min(width * 0.55, widest(textOf) + 40);
  const values = widest(valueText);
  return {
    ...common(drawing, whole, shareOf),
    height: parts.length * stageHeight(drawing) + 8,
    option: {
      ...commonOption(drawing),
      tooltip: { show: false },
      series: [
        {
          type: 'custom',
          coordinateSystem: 'none',
          data: parts.map(({ value }) => value),
          renderItem: (params: { readonly dataIndex: number }, api: StageApi) =>
            stage(drawing, parts, { at: params.dataIndex, beside, values, high: api.getHeight() }, valueText),
        },
      ],
    },
    summary: say(drawing, format.text('{n} stages', { n: parts.length }), [parts.map(textOf).join(', ')]),
  };
};

const isStageNarrow = (width: number): boolean => width < 420;

type StageApi = { readonly getHeight: () => number };
/** `beside`: width for a stage's text, of which its value takes `values`. */
type Stage = { readonly at: number; readonly beside: number; readonly values: number; readonly high: number };

/** A bar of the stage's size in the middle, its text beside it, and a pale neck to the next stage. */
const stage = (
  drawing: Drawing,
  parts: readonly Part[],
  { at, beside, values, high }: Stage,
  valueText: (part: Part) => string,
) => {
  const [part, next] = [parts[at], parts[at + 1]];
  if (part === undefined) return null;
  const { theme, width } = drawing;
  const room = width - beside - 8;
  const pitch = Math.min(72, (high - 8) / parts.length);
  const [top, tall] = [(high - pitch * parts.length) / 2 + at * pitch, pitch * 0.72];
  const most = parts.reduce((largest, { value }) => Math.max(largest, value), 0);
  const sizeOf = ({ value }: Part) => Math.max(2, (room * value) / most);
  const [size, middle] = [sizeOf(part), fromEdge(drawing, 4 + room / 2)];
  const fill = colourAt(theme, part.slot);
  const neck = next === undefined ? [] : [neckBetween(middle, [size, sizeOf(next)], [top + tall, top + pitch], fill)];
  const style = {
    y: top + tall / 2,
    verticalAlign: 'middle',
    fill: theme.text,
    fontSize: 12,
    lineHeight: 15,
    fontFamily: theme.fontFamily,
  };
  // On a narrow card the value stands below the name.
  const isBelow = isStageNarrow(width);
  const nameWidth = beside - (isBelow ? 12 : values + 24);
  const [start, end] = isRightToLeft(drawing.format) ? ['right', 'left'] : ['left', 'right'];
  const cut = { width: nameWidth, overflow: 'truncate', ellipsis };
  const name = { ...style, ...cut, text: part.label, x: fromEdge(drawing, room + 16), align: start };
  const value = { ...style, text: valueText(part), x: fromEdge(drawing, width - 4), align: end };
  const texts = isBelow
    ? [
        { ...name, y: style.y - 8 },
        { ...value, x: name.x, y: style.y + 8, align: start, fill: theme.muted },
      ]
    : [name, value];
  const shape = { x: middle - size / 2, y: top, width: size, height: tall, r: 3 };
  return {
    type: 'group',
    children: [
      { type: 'rect', shape, style: { fill } },
      ...neck,
      ...texts.map((each) => ({ type: 'text', style: each })),
    ],
  };
};

const neckBetween = (
  middle: number,
  [upper, lower]: readonly [number, number],
  [top, bottom]: readonly [number, number],
  fill: string,
) => ({
  type: 'polygon',
  shape: {
    points: [
      [middle - upper / 2, top],
      [middle + upper / 2, top],
      [middle + lower / 2, bottom],
      [middle - lower / 2, bottom],
    ],
  },
  style: { fill, opacity: 0.22 },
});
