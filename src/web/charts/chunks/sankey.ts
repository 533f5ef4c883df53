/** Loaded when a card first draws flows. */
import { SankeyChart } from 'echarts/charts';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/sankey.js';
export const start = startWith([SankeyChart]);
