/** The chart whose mark filters the others shows which mark that is. */
import { describe, expect, it } from 'vitest';
import type { CrossFilter } from '../../src/model/guest/view.js';
import type { Cell } from '../../src/model/query/engine.js';
import { withChosen } from '../../src/web/charts/model/chosen.js';
import type { Picture } from '../../src/web/charts/model/drawing.js';

const pictureOf = (type: string, data: readonly unknown[], cells: readonly Cell[], more: object = {}): Picture => ({
  option: { series: [{ type, data, ...more }] },
  pointing: { by: 'x', count: cells.length, times: null },
  tip: () => null,
  valueAt: ({ index }) => cells[index],
  height: null,
  legend: [],
  summary: '',
  notes: [],
});
const value = (of: Cell): CrossFilter => ({ metricId: 'flights', columnName: 'State', value: of });
const period = (from: string, to: string): CrossFilter => ({ metricId: 'flights', columnName: 'Day', from, to });

describe('a mark that filters the other charts', () => {
  it('stays as it is, and the others fade', () => {
    const bars = pictureOf('bar', [1, { value: 2, itemStyle: { borderRadius: 3 } }, 3], ['CA', 'NV', null]);
    expect(withChosen(bars, value('CA')).option.series).toEqual([
      {
        type: 'bar',
        data: [
          1,
          { value: 2, itemStyle: { borderRadius: 3, opacity: 0.25 } },
          { value: 3, itemStyle: { opacity: 0.25 } },
        ],
      },
    ]);
    expect(withChosen(bars, value(null)).option.series).toMatchObject([
      { data: [{ itemStyle: { opacity: 0.25 } }, { itemStyle: { opacity: 0.25 } }, 3] },
    ]);
  });

  it('changes nothing if the chart does not show it', () => {
    const bars = pictureOf('bar', [1, 2], ['CA', 'NV']);
    expect(withChosen(bars, value('TX'))).toBe(bars);
    expect(withChosen(bars, undefined)).toBe(bars);
  });

  it('is drawn again over a faded line, after all series', () => {
    const days = ['2001-01-01', '2001-01-02', '2001-01-03'];
    const line = pictureOf(
      'line',
      days.map((day, at) => [day, at]),
      days,
      { areaStyle: { opacity: 0.4 } },
    );
    const [whole, part] = withChosen(line, period('2001-01-02', '2001-01-03')).option.series as readonly object[];
    expect(whole).toMatchObject({ lineStyle: { opacity: 0.25 }, areaStyle: { opacity: 0.1 } });
    expect(part).toMatchObject({
      silent: true,
      data: [{ value: ['2001-01-01', '-'] }, { value: ['2001-01-02', 1] }, { value: ['2001-01-03', 2] }],
    });
    const [, alone] = withChosen(line, period('2001-01-02', '2001-01-02')).option.series as readonly object[];
    expect(alone).toMatchObject({ data: [{}, { symbol: 'circle' }, {}] });
  });

  it('leaves a stack whole', () => {
    const stacked = pictureOf('line', [1, 2], ['CA', 'NV'], { stack: 'all' });
    expect(withChosen(stacked, value('CA')).option.series).toHaveLength(1);
  });
});
