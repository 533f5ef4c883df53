/** Charts with two axes for readers of right-to-left languages. Pure. */
import type { EChartsCoreOption } from 'echarts/core';
import { directionOf, languageOf } from '../../languages/load.js';
import type { Axis } from './axes.js';
import type { Drawing } from './drawing.js';

export const isRightToLeft = ({ language }: Pick<Drawing['format'], 'language'>): boolean =>
  directionOf(languageOf(language)) === 'rtl';

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

/** The first axis is at the reader's start, the second at the end. */
const mirroredUpright = (axis: unknown, at: number): Axis => {
  const { nameTextStyle, ...more } = part(axis);
  const style = part(nameTextStyle);
  const name = nameTextStyle === undefined ? {} : { nameTextStyle: { ...style, align: other(style.align) } };
  return { ...more, ...name, position: at === 0 ? 'right' : 'left' };
};

/**
 * The option as its reader expects it: in a right-to-left language the first value axis or the names are on the right, and
 * categories, periods and horizontal bars start there.
 */
export const forReader = ({ format }: Pick<Drawing, 'format'>, option: EChartsCoreOption): EChartsCoreOption => {
  if (!isRightToLeft(format)) return option;
  const { grid, xAxis, yAxis, series } = option;
  const { left, right, ...edges } = part(grid);
  return {
    ...option,
    grid: { ...edges, left: right, right: left },
    xAxis: { ...part(xAxis), inverse: true },
    yAxis: list(yAxis).map(mirroredUpright),
    series: list(series).map(mirroredItem),
  };
};
