/** Loaded when a card first draws lines, areas or bars. */
import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomSliderComponent, MarkLineComponent } from 'echarts/components';
import { startWith } from '../model/echarts.js';

export { draw } from '../families/cartesian.js';
export const start = startWith([BarChart, LineChart, ScatterChart, DataZoomSliderComponent, MarkLineComponent]);
