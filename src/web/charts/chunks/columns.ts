/** Loaded when a card first draws a histogram or a waterfall. */
import { BarChart, CustomChart } from 'echarts/charts';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/columns.js';
export const start = startWith([BarChart, CustomChart]);
