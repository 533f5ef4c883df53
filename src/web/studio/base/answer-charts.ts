/** The answers of the last day as metrics with their rows, which the cards of the elements draw. */
import type { GuestChart, GuestMetric } from '../../../model/guest/view.js';
import type { Cell, MetricAnswer } from '../../../model/query/engine.js';
import { dayIn } from '../../filters/days.js';
import type { Answer } from './api.js';
import type { Drawn } from './drawn-metrics.js';

export type AnswerHistory = Answer<'answer-history'>;
type Figures = AnswerHistory['steps'][number];
export type NamedFigures = Omit<Figures, 'at'> & { readonly name: string };

type Row = Readonly<Record<string, Cell>>;
type Column = MetricAnswer['columns'][number];

const time = 'Time';

/** A moment in the reader's zone, as the rows of a source write one. */
const localText = (iso: string): string => {
  const at = new Date(iso);
  return `${dayIn(at)}T${at.toTimeString().slice(0, 8)}`;
};

export const drawnOf = (
  name: string,
  chart: Pick<GuestChart, 'type' | 'unit' | 'series'>,
  split: Column,
  measures: readonly string[],
  rows: readonly Row[],
): Drawn => {
  const metric: GuestMetric = {
    ...{ metricId: name, name, filters: [] },
    chart: { ...chart, dimensions: [split.name], measures, isDrillable: false, isWithoutRows: true },
  };
  const answer: MetricAnswer = {
    rows,
    columns: [split, ...measures.map((of) => ({ name: of, dataType: 'number' as const }))],
    groupbyColumnList: [split.name],
    totalRecords: rows.length,
  };
  return { key: JSON.stringify([name, rows]), metric, ask: async () => answer };
};

const half = 'Half of them within';
const most = '95 % of them within';

const overTime = { name: time, dataType: 'date' } as const;

const answerTimes = ({ steps }: AnswerHistory): Drawn => {
  const rows = steps.map(({ at, p50, p95 }) => ({ [time]: localText(at), [half]: p50, [most]: p95 }));
  return drawnOf('How long answers took', { type: 'line', unit: 'ms' }, overTime, [half, most], rows);
};

const answerKinds = ({ steps }: AnswerHistory): Drawn => {
  const measures = ['From kept answers', 'Read from a database', 'Failed'];
  const rows = steps.map(({ at, answers, kept, failed }) => ({
    [time]: localText(at),
    ...{ 'From kept answers': kept, 'Read from a database': answers - kept, Failed: failed },
  }));
  return drawnOf('Where answers came from', { type: 'stack' }, overTime, measures, rows);
};

const mostBars = 10;

/** The slowest of the named, the slowest first. */
const slowestOf = (name: string, what: string, named: readonly NamedFigures[]): Drawn => {
  const rows = named
    .filter(({ p95 }) => p95 !== null)
    .toSorted((one, other) => (other.p95 ?? 0) - (one.p95 ?? 0))
    .slice(0, mostBars)
    .map(({ name: of, p95 }) => ({ [what]: of, [most]: p95 }));
  return drawnOf(name, { type: 'row', unit: 'ms' }, { name: what, dataType: 'string' }, [most], rows);
};

/** The charts of a history. A list of one name needs no chart. */
export const answerCharts = (
  history: AnswerHistory,
  tenants: readonly NamedFigures[],
  dashboards: readonly NamedFigures[],
): readonly Drawn[] => [
  answerTimes(history),
  answerKinds(history),
  ...(tenants.length > 1 ? [slowestOf('Slowest tenants', 'Tenant', tenants)] : []),
  ...(dashboards.length > 1 ? [slowestOf('Slowest dashboards', 'Dashboard', dashboards)] : []),
];

/** The share of answers that cost no query. Null: nothing was answered. */
export const keptShare = ({ answers, kept }: Pick<Figures, 'answers' | 'kept'>): number | null =>
  answers === 0 ? null : kept / answers;
