/** Charts with two axes for readers of right-to-left languages. Pure. */
import type { EChartsCoreOption } from 'echarts/core';
import { directionOf } from '../../../model/texts/language.js';
import type { Axis } from './axes.js';
import type { Drawing } from './drawing.js';

export const isRightToLeft = ({ language }: Pick<Drawing['format'], 'language'>): boolean =>
  directionOf(language) === 'rtl';

/** Two names with an arrow from the first to the second, in the direction of reading. */
export const fromStart = (format: Pick<Drawing['format'], 'language'>, first: string, second: string): string =>
  isRightToLeft(format) ? `\u2068${first}\u2069 ← \u2068${second}\u2069` : `${first} → ${second}`;

/** A place from the left in a drawing of that width, or from the right for readers of right-to-left languages. */
export const fromEdge = ({ format, width }: Pick<Drawing, 'format' | 'width'>, x: number, size = 0): number =>
  isRightToLeft(format) ? width - x - size : x;

const other = (side: unknown): unknown => (side === 'left' ? 'right' : side === 'right' ? 'left' : side);

const part = (value: unknown): Axis => (typeof value === 'object' && value !== null ? { ...value } : {});

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** `radius`: of the corners from the top left, clockwise. */
const mirroredBox = (box: Axis): Axis => {
  const { borderRadius: radius } = box;
  return Array.isArray(radius) ? { ...box, borderRadius: [radius[1], radius[0], radius[3], radius[2]] } : box;
};

/** A series or one of its values. */
const mirroredItem = (item: unknown): unknown => {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const { label, itemStyle, data } = part(item);
  const at = part(label);
  return {
    ...item,
    ...(label === undefined ? {} : { label: { ...at, position: other(at.position) } }),
    ...(itemStyle === undefined ? {} : { itemStyle: mirroredBox(part(itemStyle)) }),
    ...(Array.isArray(data) ? { data: data.map(mirroredItem) } : {}),
  };
};

/** A centred label at the end of an axis of time that is turned around would make ECharts narrow the plot many times over. */
const turned = (axis: unknown): Axis => {
  const given = part(axis);
  const ends = { axisLabel: { ...part(given.axisLabel), alignMinLabel: 'right', alignMaxLabel: 'left' } };
  return { ...given, ...(given.type === 'time' ? ends : {}), inverse: true };
};

/** The first axis of a grid is at the reader's start, the second at the end. */
const mirroredUpright = (axis: unknown, at: number, all: readonly unknown[]): Axis => {
  const { gridIndex = 0 } = part(axis);
  const isFirst = all.slice(0, at).every((each) => (part(each).gridIndex ?? 0) !== gridIndex);
  const { nameTextStyle, ...more } = part(axis);
  const style = part(nameTextStyle);
  const name = nameTextStyle === undefined ? {} : { nameTextStyle: { ...style, align: other(style.align) } };
  return { ...more, ...name, position: isFirst ? 'right' : 'left' };
};

/** One for each panel, or the only one. */
const eachOf = (value: unknown, mirrored: (value: unknown) => Axis): unknown =>
  Array.isArray(value) ? value.map(mirrored) : mirrored(value);

const mirroredGrid = (grid: unknown): Axis => {
  const { left, right, ...edges } = part(grid);
  return { ...edges, left: right, right: left };
};

/**
 * The option as its reader expects it: in a right-to-left language the first value axis or the names are on the right, and
 * categories, periods and horizontal bars start there.
 */
export const forReader = ({ format }: Pick<Drawing, 'format'>, option: EChartsCoreOption): EChartsCoreOption => {
  if (!isRightToLeft(format)) return option;
  const { grid, xAxis, yAxis, series } = option;
  return {
    ...option,
    grid: eachOf(grid, mirroredGrid),
    xAxis: eachOf(xAxis, turned),
    yAxis: list(yAxis).map(mirroredUpright),
    series: list(series).map(mirroredItem),
  };
};
