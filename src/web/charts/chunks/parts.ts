/** Loaded when a card first draws parts of a whole. */
import { CustomChart, PieChart } from 'echarts/charts';
import { TitleComponent } from 'echarts/components';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/parts.js';
export const start = startWith([CustomChart, PieChart, TitleComponent]);
