/** What was used in a month, as rows of a table and as a chart of the elements. */
import { drawnOf } from './answer-charts.js';
import type { OperationAnswer } from './api.js';
import type { Drawn } from './drawn-metrics.js';

export type Usage = OperationAnswer<'readUsage'>['data'];
export type UsageRow = Usage['rows'][number];

/** This month of UTC and those before it, the latest first. */
export const latestMonths = (now: Date, count = 12): readonly string[] =>
  Array.from({ length: count }, (_, before) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - before, 1)).toISOString().slice(0, 7),
  );

/** The month as a question of `readUsage`. */
export const monthOf = (month: string): { readonly from: string; readonly to: string } => {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { from: month, to: new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7) };
};

const day = { name: 'Day', dataType: 'date' } as const;

export const usageCharts = ({ rows }: Usage): readonly Drawn[] => {
  const at = (row: UsageRow): string => (row.at ?? '').slice(0, 19);
  const answers = rows.map((row) => ({
    ...{ Day: at(row), 'From kept answers': row.keptAnswers, 'Read from a database': row.sourceQueries },
    Failed: row.failedAnswers,
  }));
  const users = rows.map((row) => ({ Day: at(row), Users: row.users, Logins: row.logins }));
  const kinds = ['From kept answers', 'Read from a database', 'Failed'];
  return [
    drawnOf('Answers by day', { type: 'stack' }, day, kinds, answers),
    drawnOf('Users and logins by day', { type: 'bar' }, day, ['Users', 'Logins'], users),
  ];
};
