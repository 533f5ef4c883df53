/** Loaded when a card first draws points. */
import { ScatterChart } from 'echarts/charts';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/scatter.js';
export const start = startWith([ScatterChart]);
