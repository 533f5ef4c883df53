/**
 * What a chart family gets, and what it returns. A family is a pure function of a drawing: the same answer, metric, theme
 * and language give the same picture. It knows neither the page nor the service.
 */
import type { EChartsCoreOption } from 'echarts/core';
import type { GuestChart } from '../../../model/guest/view.js';
import type { Cell, MetricAnswer } from '../../../model/query/engine.js';
import type { ChartTheme } from '../../../model/theme/palette.js';
import type { Format } from '../../base/format.js';
import type { Choice, Offered } from './plot.js';
import type { Slot, SlotMemory } from './slots.js';

export type Drawing = {
  /** The metric's name. */
  readonly name: string;
  readonly answer: MetricAnswer;
  readonly chart: GuestChart;
  readonly format: Format;
  readonly theme: ChartTheme;
  readonly isReducedMotion: boolean;
  readonly choice: Choice;
  /** The colours of values, which the charts of a dashboard share. Left out: this drawing's own. */
  readonly slots?: SlotMemory | undefined;
  /** Size of the card's drawing area in CSS pixels. */
  readonly width: number;
  readonly height: number;
};

/** A place in a picture: an item of a series, or for axis charts the position on the axis. `kind`: edge of a sankey. */
export type Mark = { readonly series: number; readonly index: number; readonly kind?: string | undefined };

/** One line of a tooltip: a name, its colour and its value as text. */
export type TipLine = { readonly name: string; readonly colour: string | null; readonly value: string };
export type Tip = { readonly title: string; readonly lines: readonly TipLine[] };

/** `key` identifies the series, `name` with `note` is what the legend shows. `isHidden`: undefined if the reader cannot hide this entry. */
export type LegendItem = {
  readonly key: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly colour: string;
  readonly hasPattern: boolean;
  readonly isHidden?: boolean | undefined;
};

/** How the pointer finds marks: along an axis, where one tooltip shows all series, or item by item. */
export type Pointing =
  | {
      readonly by: 'item';
      /** All marks, in the order of the keyboard. */
      readonly marks: () => readonly Mark[];
      /** A mark's values on the axes; left out if the chart has none. */
      readonly at?: (mark: Mark) => readonly [number, number] | null;
    }
  | { readonly by: 'x' | 'y'; readonly count: number; readonly times: readonly number[] | null };

export type Picture = {
  readonly option: EChartsCoreOption;
  readonly pointing: Pointing;
  readonly tip: (mark: Mark) => Tip | null;
  /** The cell that a click on the mark drills into; undefined if a click does nothing. */
  readonly valueAt: (mark: Mark) => Cell | undefined;
  /** Minimum height in CSS pixels; null if the chart fits any height. */
  readonly height: number | null;
  /** Empty for a single series. */
  readonly legend: readonly LegendItem[];
  /** The series of which the reader may choose; undefined if all are shown. */
  readonly offered?: Offered | undefined;
  /** For charts over time: the dimension, and the first and last moment of each point's period. Null otherwise. */
  readonly periods?: Periods | null;
  /** What the chart shows, in sentences, for readers who do not see it. */
  readonly summary: string;
  /** What the chart leaves out or combines, in short sentences below it. */
  readonly notes: readonly string[];
};

export type Periods = {
  readonly column: string;
  readonly spans: readonly { readonly from: number; readonly to: number }[];
};

/** Returns the picture, or a sentence that says what the answer lacks for this type. */
export type Draw = (drawing: Drawing) => Picture | string;

type Colours = Pick<ChartTheme, 'series' | 'other'>;

export const colourAt = ({ series, other }: Colours, slot: Slot): string =>
  typeof slot === 'string' ? slot : slot === null ? other : (series[slot % Math.max(1, series.length)] ?? other);

/** How often the palette was used up before this slot. */
const roundOf = ({ series }: Colours, slot: Slot): number =>
  typeof slot === 'number' ? Math.floor(slot / Math.max(1, series.length)) : 0;

/** Whether the series needs a pattern because its colour is that of another place. */
export const needsPattern = (theme: Colours, slot: Slot): boolean => roundOf(theme, slot) > 0;

/** One of several, so that values of equal colour differ. Undefined within the palette. */
const ofRound = <Of>(all: readonly Of[], theme: Colours, slot: Slot): Of | undefined => {
  const round = roundOf(theme, slot);
  return round === 0 ? undefined : all[(round - 1) % all.length];
};

const hatches = [
  { dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4 },
  {
    dashArrayX: [
      [4, 4],
      [0, 4, 4, 0],
    ],
    dashArrayY: [4, 0],
    symbol: 'circle',
    rotation: 0,
  },
  { dashArrayX: [1, 0], dashArrayY: [3, 4], rotation: 0 },
  { dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 },
] as const;

/** The pattern of a filled mark, to be spread into its style. */
export const hatchAt = (theme: ChartTheme, slot: Slot): { readonly decal?: Readonly<Record<string, unknown>> } => {
  const hatch = ofRound(hatches, theme, slot);
  return hatch === undefined ? {} : { decal: { color: theme.surface, symbolSize: 1, ...hatch } };
};

export const dashAt = (theme: Colours, slot: Slot): string | readonly number[] =>
  ofRound(['dashed', 'dotted', [9, 3, 2, 3]], theme, slot) ?? 'solid';

export const symbolAt = (theme: Colours, slot: Slot): string =>
  ofRound(['triangle', 'rect', 'diamond'], theme, slot) ?? 'circle';

export const slotsOf = ({ slots }: Drawing): SlotMemory => slots ?? {};

/** Height in CSS pixels that a chart takes at most: browsers refuse larger canvases, at three times the density too. */
export const mostHeight = 5000;

/** Options that all charts have. ECharts' own tooltip is off: it writes HTML, which strict pages refuse. */
export const commonOption = ({ theme, isReducedMotion }: Drawing): EChartsCoreOption => ({
  color: [...theme.series],
  useUTC: true,
  textStyle: { fontFamily: theme.fontFamily, color: theme.text },
  animation: !isReducedMotion,
  animationDuration: 350,
  animationDurationUpdate: 250,
  ...(theme.isForced === true ? { aria: { enabled: true, label: { enabled: false }, decal: { show: true } } } : {}),
});

export const axisText = ({ theme }: Drawing) => ({
  color: theme.muted,
  fontSize: 11,
  // ECharts measures a Chinese character for the line height. Without a font that has it, text is cut at the foot.
  lineHeight: 14,
});

/** Approximate width of text in CSS pixels. Full-width characters take the whole size. */
export const textWidth = (text: string, size = 11): number =>
  [...text].reduce(
    (sum, letter) => sum + size * (/[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uff60]/.test(letter) ? 1.05 : 0.6),
    0,
  );

/** Ends a name that is cut. The mark keeps it after a Latin name in text from right to left. */
export const ellipsis = '…\u200e';

/** A name beside numbers. A name from right to left is isolated, so that the numbers after it stay after it. */
export const isolated = (text: string): string =>
  /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
