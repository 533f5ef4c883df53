/** Loaded when a card first draws distributions. */
import { BoxplotChart } from 'echarts/charts';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/boxplot.js';
export const start = startWith([BoxplotChart]);
