/** Reads a report with the recipient's own guest token, by the operations that the recipient's browser would call. */
import type { OpenReport } from '../model/schedule/open-report.js';
import type { Schedule } from '../model/schedule/schedule.js';
import type { Attachment, Picture } from './message.js';
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

/** Whether no metric has a row with a value. A metric that cannot be read now is left to the report's parts. */
const hasNoRows = async ({ ask, token, schedule, opened }: Reading, signal: AbortSignal): Promise<boolean> => {
  const { openedId: dashboardId, dashboardFilter } = schedule;
  for (const { metricId } of opened.metrics) {
    const path = `/api/v2/guest/metrics/${encodeURIComponent(metricId)}/query`;
    const body = { dashboardId, dashboardFilter, limit: 1 };
    const answer = await ask(path, body, token, signal);
    const { data = [{ unread: true }] } = answer.body as {
      readonly data?: readonly Readonly<Record<string, unknown>>[];
    };
    if (answer.status !== 200 || data.some((row) => Object.values(row).some((value) => value !== null))) return false;
  }
  return true;
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
  // A file without rows would say nothing.
  if (schedule.format !== 'link' && (await hasNoRows(reading, signal))) {
    return { ...head, attachments, pictures, isEmpty: true };
  }
  for (const part of partsOf(reading)) {
    const read = await readPart(reading, part, signal);
    if ('refused' in read) return read;
    const cid = `picture-${attachments.length + 1}`;
    if (part.type === 'png') pictures.push({ cid, name: part.name });
    attachments.push(part.type === 'png' ? { ...read, cid } : read);
  }
  return { ...head, attachments, pictures };
};
