/** Marks that the page gives a dashboard before any card has an answer, in the words of their cards. A chunk of its own. */
import type { CrossFilter, GuestDashboard } from '../../model/guest/view.js';
import type { AnswerColumn, Cell } from '../../model/query/engine.js';
import { isRecord } from '../base/client.js';
import type { Format } from '../base/format.js';
import { grainOf } from '../charts/model/columns.js';
import { type Mark, markOf, periodOf } from './marks.js';

const isMark = (value: unknown): value is CrossFilter =>
  isRecord(value) && typeof value.metricId === 'string' && typeof value.columnName === 'string';

const typeOf = (value: Cell): AnswerColumn['dataType'] =>
  typeof value === 'number' || typeof value === 'boolean' ? (typeof value as 'number' | 'boolean') : 'string';

/** Leaves out what is no mark of the dashboard's metrics. */
export const givenMarks = (given: unknown, { metrics }: GuestDashboard, format: Format): readonly Mark[] => {
  const filters: readonly unknown[] = Array.isArray(given) ? given : [];
  return filters.filter(isMark).flatMap((filter) => {
    const metric = metrics.find(({ metricId }) => metricId === filter.metricId);
    if (metric === undefined) return [];
    const { columnName: name } = filter;
    const isDate = grainOf(metric.chart, name) !== undefined;
    const columnFor = (value: Cell): AnswerColumn => ({ name, dataType: isDate ? 'date' : typeOf(value) });
    if ('value' in filter) return [markOf(metric, columnFor(filter.value), filter.value, format)];
    const [from, last] = [String(filter.from), String(filter.to)];
    const { label } = periodOf(metric, columnFor(filter.from), { column: name, from, last }, format);
    return [{ filter, label }];
  });
};
