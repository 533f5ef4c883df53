/** Which marks of a chart the reader chose as a filter of the other charts: the others fade. Pure. */
import type { CrossFilter } from '../../../model/guest/view.js';
import type { Cell } from '../../../model/query/engine.js';
import { timeOf } from '../../base/format.js';
import type { Picture } from './drawing.js';

type Series = Readonly<Record<string, unknown>> & { readonly data: readonly unknown[] };
type Item = Readonly<Record<string, unknown>>;

const faded = 0.25;

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);
const asItem = (value: unknown): Item => (isItem(value) ? value : { value });
const styled = (item: Item, name: string, style: Item): Item => ({
  ...item,
  [name]: { ...(isItem(item[name]) ? item[name] : {}), ...style },
});

/** Whether the value is one of those chosen. */
export const isChosen = (cell: Cell, chosen: CrossFilter): boolean => {
  if ('value' in chosen) return JSON.stringify(cell) === JSON.stringify(chosen.value);
  const [time, from, to] = [cell, chosen.from, chosen.to].map((each) => timeOf(each));
  return time != null && from != null && to != null && time >= from && time <= to;
};

/** A line is one mark, so its chosen part is drawn again over the faded whole. */
const chosenLine = (line: Series, isKept: (index: number) => boolean): readonly Series[] => {
  const areaStyle = isItem(line.areaStyle) ? line.areaStyle : undefined;
  const whole = {
    ...styled(line, 'lineStyle', { opacity: faded }),
    ...(areaStyle === undefined
      ? {}
      : { areaStyle: { ...areaStyle, opacity: Number(areaStyle.opacity ?? 1) * faded } }),
    data: line.data,
  };
  if (line.stack !== undefined) return [whole];
  const isAlone = line.data.filter((_, index) => isKept(index)).length === 1;
  const part = line.data.map((given, index) => {
    const item = asItem(given);
    if (isKept(index)) return isAlone ? { ...item, symbol: 'circle' } : item;
    const { value } = item;
    return { ...item, value: Array.isArray(value) ? [value[0], '-'] : '-', symbol: 'none' };
  });
  return [whole, { ...line, data: part, silent: true }];
};

const fadedSeries = (series: Series, at: number, picture: Picture, chosen: CrossFilter): readonly Series[] => {
  const cellAt = (index: number) => picture.valueAt({ series: at, index });
  const isKept = (index: number): boolean => {
    const cell = cellAt(index);
    return cell === undefined || isChosen(cell, chosen);
  };
  if (series.type === 'line') return chosenLine(series, isKept);
  const fade = (given: unknown, index: number): unknown =>
    isKept(index) ? given : styled(asItem(given), 'itemStyle', { opacity: faded });
  return [{ ...series, data: series.data.map(fade) }];
};

/** The picture with the chosen marks before faded ones; unchanged if none of its marks is chosen. */
export const withChosen = (picture: Picture, chosen: CrossFilter | undefined): Picture => {
  const given = picture.option.series;
  if (chosen === undefined || !Array.isArray(given)) return picture;
  const hasData = (series: unknown): series is Series => isItem(series) && Array.isArray(series.data);
  const isAnyChosen = given.some(
    (series, at) =>
      hasData(series) &&
      series.data.some((_, index) => {
        const cell = picture.valueAt({ series: at, index });
        return cell !== undefined && isChosen(cell, chosen);
      }),
  );
  if (!isAnyChosen) return picture;
  const drawn = given.map((series, at) => (hasData(series) ? fadedSeries(series, at, picture, chosen) : [series]));
  // Marks name a series by its place: what is added stands behind all others.
  const series = [...drawn.map(([first]) => first), ...drawn.flatMap(([, ...added]) => added)];
  return { ...picture, option: { ...picture.option, series } };
};
