/** Checks an alert with the recipient's own guest token, by the operation that the recipient's browser would call. */
import type { Tag } from '../model/ports.js';
import type { AnswerColumn, Cell } from '../model/query/engine.js';
import {
  type Alert,
  type AlertAnswer,
  AlertFault,
  type AlertRow,
  type AlertState,
  alertFault,
  judge,
  observe,
} from '../model/schedule/alert.js';
import type { OpenAlert } from '../model/schedule/open-report.js';
import type { Schedule } from '../model/schedule/schedule.js';
import type { AlertText } from './alert-text.js';
import type { Ask } from './report-content.js';

export type Checking = {
  readonly ask: Ask;
  readonly token: string;
  readonly schedule: Schedule;
  readonly alert: Alert;
  readonly opened: OpenAlert;
  readonly tag: Tag;
  readonly now: Date;
  /** Whether the owner asked for the message, which then says what is, told before or not. */
  readonly isRequested: boolean;
};

/** `text` is null if there is nothing to tell. */
export type Checked = { readonly text: AlertText | null; readonly state: AlertState };

type Body = {
  readonly data: readonly AlertRow[];
  readonly comparisonValue?: Cell;
  readonly truncated?: true;
  readonly metaData?: { readonly columns: readonly Pick<AnswerColumn, 'name' | 'numbers' | 'currencyColumn'>[] };
  readonly others?: { readonly rows: number };
};

/** How the answer says that the measure's numbers are written: it knows their currency, and the metric may not. */
type Told = Pick<OpenAlert, 'numbers'>;

const readAnswer = async (
  { ask, token, schedule, alert, opened }: Checking,
  signal: AbortSignal,
): Promise<(AlertAnswer & Told) | { readonly refused: 'no-right' }> => {
  const path = `/api/v2/guest/metrics/${encodeURIComponent(opened.metricId)}/query`;
  const body = { dashboardId: schedule.openedId };
  const answer = await ask(path, body, token, signal);
  if (answer.status === 401 || answer.status === 403) return { refused: 'no-right' };
  // The answer can quote the question, which must not get into a log.
  if (answer.status !== 200) throw new Error(`the metric of an alert could not be read: ${answer.status}`);
  const { data, comparisonValue, truncated, metaData, others } = answer.body as Body;
  if (truncated === true) throw new AlertFault('too-many-rows');
  const column = metaData?.columns.find(({ name }) => name === alert.measure);
  const numbers = column?.currencyColumn === undefined ? (column?.numbers ?? opened.numbers) : (column.numbers ?? {});
  // The rows that combine all other groups are no groups, and would often be the greatest.
  return { rows: data.slice(0, data.length - (others?.rows ?? 0)), comparisonValue, numbers };
};

/** Rejects with AlertFault for an answer that cannot be judged, and with another error if it cannot be read now. */
export const checkAlert = async (
  checking: Checking,
  signal: AbortSignal,
): Promise<Checked | { readonly refused: 'no-right' }> => {
  const { alert, opened, schedule, tag, now, isRequested } = checking;
  if (alertFault(alert, opened.measures, opened.shape) !== undefined) throw new AlertFault('metric-changed');
  const answer = await readAnswer(checking, signal);
  if ('refused' in answer) return answer;
  const seen = await observe(alert, opened.shape, answer, (cells) => tag(['alert-key', schedule.id, ...cells]));
  const { right, rule, metricId, metricName, dates } = opened;
  const { numbers } = answer;
  const { isTold, state, ...found } = judge(alert, seen, { right, rule, last: schedule.alertState, now });
  if (!isTold && !isRequested) return { text: null, state };
  const { measure, condition } = alert;
  const { isBreached, hasChanged, isAnew, before, change, appeared } = found;
  return {
    state: { ...state, isAnew: false },
    text: {
      ...{ metricId, metricName, measure, condition, isBreached, hasChanged, isAnew, before, change, appeared },
      ...{ value: seen.value, at: seen.at, dates, numbers },
    },
  };
};
