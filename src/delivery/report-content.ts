/** Reads a report with the recipient's own guest token, by the operations that the recipient's browser would call. */
import type { AnswerColumn, Cell } from '../model/query/engine.js';
import { numbersInRow, withPlaces } from '../model/query/numbers.js';
import type { OpenAlert, OpenMetric, OpenReport } from '../model/schedule/open-report.js';
import type { Schedule } from '../model/schedule/schedule.js';
import { anyOf } from '../model/signals.js';
import type { Picture } from './mail-layout.js';
import type { Attachment, Figure } from './message.js';
import type { Refused, Report } from './sender.js';

/** Posts to an operation of the service with a guest token, as the guest's browser would, and returns the answer. */
export type Ask = (
  path: string,
  body: object,
  token: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: unknown }>;

type Reading = {
  readonly ask: Ask;
  readonly token: string;
  readonly schedule: Schedule;
  readonly opened: OpenReport;
  readonly dashboardUrl: string | null;
  /** The reader's; undefined: English, and all as written. */
  readonly language: string | undefined;
};

type Part = {
  readonly path: string;
  readonly body: object;
  readonly name: string;
  readonly type: keyof typeof contentTypes;
};

const contentTypes = {
  pdf: 'application/pdf',
  png: 'image/png',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
} as const;

const longestName = 80;
/** A file name that every system takes. */
const fileNameOf = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N} ._-]+/gu, '-')
    .replace(/^[. -]+/, '')
    .slice(0, longestName) || 'report';

const partsOf = ({ schedule, opened, language }: Reading): readonly Part[] => {
  const { openedId: dashboardId, format, dashboardFilter, metricIds } = schedule;
  const board = `/api/v2/guest/dashboards/${encodeURIComponent(dashboardId)}`;
  const metrics = opened.metrics.map(({ metricId }) => ({ metricId }));
  const filtered = { dashboardFilter, ...(language === undefined ? {} : { language }) };
  const ofEach = (type: 'pdf' | 'png' | 'csv'): readonly Part[] =>
    opened.metrics.map(({ metricId, name }) => ({
      path: `/api/v2/guest/metrics/${encodeURIComponent(metricId)}/${type}`,
      body: { dashboardId, ...filtered },
      ...{ name, type },
    }));
  switch (format) {
    case 'link':
    case 'alert':
      return [];
    case 'pdf':
    case 'png':
      if (metricIds !== null) return ofEach(format);
      return [{ path: `${board}/${format}`, body: filtered, name: opened.name, type: format }];
    case 'xlsx':
      return [{ path: `${board}/xlsx`, body: { metrics, ...filtered }, name: opened.name, type: format }];
    case 'csv':
      return ofEach(format);
  }
};

const bytesOf = (body: unknown): Uint8Array | undefined => {
  if (body instanceof Uint8Array) return body;
  return typeof body === 'string' ? new TextEncoder().encode(body) : undefined;
};

const readPart = async (
  { ask, token }: Reading,
  { path, body, name, type }: Part,
  signal: AbortSignal,
): Promise<Attachment | Refused> => {
  const answer = await ask(path, body, token, signal);
  if (answer.status === 401 || answer.status === 403) return { refused: 'no-right' };
  const content = answer.status === 200 ? bytesOf(answer.body) : undefined;
  // The answer can quote the question, which must not get into a log.
  if (content === undefined)
    throw new Error(`the report could not be read: ${path.split('/').at(-1)} ${answer.status}`);
  return { filename: `${fileNameOf(name)}.${type}`, contentType: contentTypes[type], content };
};

/** The page of the host application that shows the dashboard. */
export const linkOf = (template: string | null, dashboardId: string): string | null =>
  template === null ? null : template.replaceAll('{dashboardId}', encodeURIComponent(dashboardId));

/** Currencies of one number that a message names. */
const mostAmounts = 4;
/** Numbers that a message shows before its reader opens anything. */
const mostFigures = 6;

type Answered = {
  readonly data?: readonly Readonly<Record<string, Cell>>[];
  readonly comparisonValue?: Cell;
  readonly metaData?: { readonly columns: readonly AnswerColumn[] };
};

const figureOf = (
  { name, figure }: OpenMetric,
  { data = [], comparisonValue = null, metaData }: Answered,
): Figure | undefined => {
  const column = metaData?.columns.find((one) => one.name === figure?.measure);
  if (figure === undefined || column === undefined || data.length === 0) return undefined;
  const { currency = figure.numbers.currency } = column;
  const before = data.length === 1 ? comparisonValue : null;
  const values = [...data.map((row) => row[column.name]), before];
  const numbers = withPlaces(column.numbers ?? { ...figure.numbers, currency }, values);
  return {
    name,
    values: data.map((row) => ({
      value: row[column.name] ?? null,
      numbers: numbersInRow(numbers, column, (other) => row[other]),
    })),
    before,
  };
};

/**
 * What the metrics say without files: whether none has a row with a value, and the numbers of those that are one number.
 * A metric that cannot be read now is left to the report's parts.
 */
const readNumbers = async ({ ask, token, schedule, opened, language }: Reading, signal: AbortSignal) => {
  const { openedId: dashboardId, dashboardFilter } = schedule;
  const figures: Figure[] = [];
  let isEmpty = true;
  for (const metric of opened.metrics) {
    const isFigure = metric.figure !== undefined && figures.length < mostFigures;
    if (!isEmpty && !isFigure) continue;
    const path = `/api/v2/guest/metrics/${encodeURIComponent(metric.metricId)}/query`;
    const spoken = language === undefined ? {} : { language };
    const body = { dashboardId, dashboardFilter, limit: isFigure ? mostAmounts : 1, ...spoken };
    const answer = await ask(path, body, token, signal);
    const found = answer.body as Answered;
    const { data = [{ unread: true }] } = found;
    isEmpty &&= answer.status === 200 && data.every((row) => Object.values(row).every((value) => value === null));
    const figure = answer.status === 200 && isFigure ? figureOf(metric, found) : undefined;
    if (figure !== undefined) figures.push(figure);
  }
  return { isEmpty, figures };
};

/** Rejects if a part cannot be read now: a report is whole, or it is not sent. */
export const readReport = async (reading: Reading, signal: AbortSignal): Promise<Report | Refused> => {
  const { schedule, opened } = reading;
  if (opened.metrics.length === 0) return { refused: 'no-right' };
  const attachments: Attachment[] = [];
  const pictures: Picture[] = [];
  const head = {
    dashboardName: opened.name,
    dashboardUrl: linkOf(reading.dashboardUrl, schedule.openedId),
    alert: null,
    language: reading.language,
  };
  // A link is chosen where the message must hold no number.
  if (schedule.format === 'link') return { ...head, attachments, pictures };
  const { isEmpty, figures } = await readNumbers(reading, signal);
  // A file without rows would say nothing.
  if (isEmpty) return { ...head, attachments, pictures, isEmpty };
  for (const part of partsOf(reading)) {
    const read = await readPart(reading, part, signal);
    if ('refused' in read) return read;
    const cid = `picture-${attachments.length + 1}`;
    if (part.type === 'png') pictures.push({ cid, name: part.name });
    attachments.push(part.type === 'png' ? { ...read, cid } : read);
  }
  return { ...head, attachments, pictures, figures };
};

type AlertReading = Pick<Reading, 'ask' | 'token' | 'schedule' | 'language'> & { readonly opened: OpenAlert };

/** An alert waits for its picture only so long. */
const mostPictureMs = 10_000;

/** Undefined: there is no picture, or not in time. Other tenants may be having theirs drawn. */
const readInTime = async (
  read: (signal: AbortSignal) => ReturnType<Ask>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> => {
  const late = AbortSignal.timeout(mostPictureMs);
  try {
    const { status, body } = await read(anyOf(signal, late));
    return status === 200 ? bytesOf(body) : undefined;
  } catch (error) {
    if (late.aborted && !signal.aborted) return undefined;
    throw error;
  }
};

/** The chart of an alert. One that may not or cannot be drawn now is left out. */
export const readAlertPicture = async (
  { ask, token, schedule, opened, language }: AlertReading,
  signal: AbortSignal,
): Promise<{ readonly attachments: readonly Attachment[]; readonly pictures: readonly Picture[] }> => {
  const path = `/api/v2/guest/metrics/${encodeURIComponent(opened.metricId)}/png`;
  const body = { dashboardId: schedule.openedId, ...(language === undefined ? {} : { language }) };
  const content = await readInTime((within) => ask(path, body, token, within), signal);
  if (content === undefined) return { attachments: [], pictures: [] };
  const name = opened.metricName;
  const cid = 'picture-1';
  const attachment = { filename: `${fileNameOf(name)}.png`, contentType: contentTypes.png, content, cid };
  return { attachments: [attachment], pictures: [{ cid, name }] };
};
