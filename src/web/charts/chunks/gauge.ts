/** Loaded when a card first draws a gauge. */
import { GaugeChart } from 'echarts/charts';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/gauge.js';
export const start = startWith([GaugeChart]);
