/** Parts of a whole: pie, doughnut and funnel. Pure. */
import type { Cell } from '../../../domain/query/engine.js';
import { humanise, numberOf } from '../../base/format.js';
import { columnsOf, combineOf, labelOf } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  needsPattern,
  type Picture,
  textWidth,
} from '../model/drawing.js';
import { maxSeries, together } from '../model/plot.js';
import { say } from '../model/summary.js';

type Part = { readonly label: string; readonly value: number; readonly cell: Cell | undefined };
type Parts = { readonly parts: readonly Part[]; readonly notes: readonly string[] };

/** One part for each row; without a dimension, one for each measure. Parts have a size, so they are above zero. */
const partsOf = ({ answer, chart, format }: Drawing): Parts => {
  const { dimensions, measures } = columnsOf(answer, chart);
  const measure = measures[0]?.name ?? '';
  const all =
    dimensions.length === 0
      ? measures.map(({ name }) => ({
          label: humanise(name),
          value: numberOf(answer.rows[0]?.[name]),
          cell: undefined,
        }))
      : answer.rows.map((row) => ({
          label: dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · '),
          value: numberOf(row[measure]),
          cell: row[dimensions[0]?.name ?? ''] ?? null,
        }));
  const parts = all.flatMap(({ label, value, cell }) => (value === null || value <= 0 ? [] : [{ label, value, cell }]));
  const dropped = all.length - parts.length;
  return {
    parts,
    notes:
      dropped === 0 ? [] : [`${format.count(dropped)} ${dropped === 1 ? 'value' : 'values'} of zero or less not drawn`],
  };
};

/** The largest parts first. The rest becomes “Other” if the measure can be added up, and else is left out. */
const largestOf = ({ parts, notes }: Parts, { answer, chart, format }: Drawing): Parts => {
  const ranked = [...parts].sort((a, b) => b.value - a.value);
  if (ranked.length <= maxSeries) return { parts: ranked, notes };
  const measure = columnsOf(answer, chart).measures[0]?.name ?? '';
  const adds = combineOf(chart, measure) === 'sum';
  const kept = ranked.slice(0, adds ? maxSeries - 1 : maxSeries);
  const rest = ranked.slice(kept.length);
  const count = format.count(rest.length);
  if (!adds) return { parts: kept, notes: [...notes, `${count} smaller parts are not drawn`] };
  const value =
    together(
      rest.map((part) => part.value),
      'sum',
    ) ?? 0;
  return {
    parts: [...kept, { label: 'Other', value, cell: undefined }],
    notes: [...notes, `“Other” combines ${count} smaller parts`],
  };
};

export const draw: Draw = (drawing) => {
  const all = partsOf(drawing);
  if (all.parts.length === 0) return 'This chart needs values above zero.';
  return drawing.chart.type === 'funnel' ? funnel(drawing, all) : pie(drawing, largestOf(all, drawing));
};

const common = (
  drawing: Drawing,
  { parts, notes }: Parts,
  shareOf: (part: Part) => number,
): Omit<Picture, 'option' | 'summary'> => ({
  pointing: { by: 'item' },
  tip: ({ index }) => {
    const part = parts[index];
    if (part === undefined) return null;
    const value = `${drawing.format.measure(part.value, drawing.chart)} (${percent(drawing, shareOf(part))})`;
    return {
      title: part.label,
      lines: [{ name: measureName(drawing), colour: colourAt(drawing.theme, index), value }],
    };
  },
  valueAt: ({ index }) => parts[index]?.cell,
  height: null,
  legend: [],
  notes,
});

const measureName = ({ answer, chart }: Drawing): string => humanise(columnsOf(answer, chart).measures[0]?.name ?? '');
const percent = ({ format }: Drawing, share: number): string => format.measure(share, { format: 'percent' });

const pie = (drawing: Drawing, whole: Parts): Picture => {
  const { chart, format, theme } = drawing;
  const { parts } = whole;
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const shareOf = (part: Part) => part.value / total;
  const textOf = (part: Part) => `${part.label}  ${percent(drawing, shareOf(part))}`;
  const { isLabelled } = ringOf(drawing);
  const told = parts.map(
    (part) => `${part.label} ${format.measure(part.value, chart)} (${percent(drawing, shareOf(part))})`,
  );
  return {
    ...common(drawing, whole, shareOf),
    legend: isLabelled
      ? []
      : parts.map((part, at) => ({
          name: textOf(part),
          colour: colourAt(theme, at),
          hasPattern: needsPattern(theme, at),
        })),
    option: {
      ...commonOption(drawing, parts.length > theme.series.length),
      tooltip: { show: false },
      ...middle(drawing, total),
      series: [ring(drawing, parts, textOf)],
    },
    summary: say(drawing, `${format.count(parts.length)} parts`, [told.join(', ')]),
  };
};

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
  const adds = chart.combine?.[columnsOf(answer, chart).measures[0]?.name ?? ''] === 'sum';
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
    data: parts.map(({ label: name, value }) => ({ name, value })),
    itemStyle: { borderColor: theme.surface, borderWidth: 2 },
    label: {
      show: isLabelled,
      color: theme.text,
      fontSize: 11,
      lineHeight: 14,
      width: Math.max(50, width / 2 - radius - 34),
      overflow: 'truncate',
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
  const { chart, format, theme, width } = drawing;
  const { parts } = whole;
  const [first] = parts;
  const shareOf = (part: Part) => part.value / (first?.value ?? part.value);
  const textOf = (part: Part) =>
    `${part.label}  ${format.measure(part.value, chart)}  ${percent(drawing, shareOf(part))}`;
  // Beside the shape, since the last stages are narrower than their text.
  const beside = Math.min(width * 0.52, Math.max(...parts.map((part) => textWidth(textOf(part), 12))) + 34);
  return {
    ...common(drawing, whole, shareOf),
    height: parts.length * 30 + 8,
    option: {
      ...commonOption(drawing, parts.length > theme.series.length),
      tooltip: { show: false },
      series: [
        {
          type: 'funnel',
          sort: 'none',
          left: 4,
          right: beside,
          top: 4,
          bottom: 4,
          gap: 2,
          minSize: '2%',
          data: parts.map(({ label: name, value }, at) => ({ name, value, itemStyle: { color: colourAt(theme, at) } })),
          itemStyle: { borderWidth: 0 },
          label: {
            position: 'right',
            show: true,
            color: theme.text,
            fontSize: 12,
            lineHeight: 15,
            width: beside - 28,
            overflow: 'truncate',
            formatter: ({ dataIndex }: { dataIndex: number }) => {
              const part = parts[dataIndex];
              return part === undefined ? '' : textOf(part);
            },
          },
          labelLine: { show: true, length: 10, lineStyle: { color: theme.grid } },
        },
      ],
    },
    summary: say(drawing, `${format.count(parts.length)} stages`, [parts.map(textOf).join(', ')]),
  };
};
