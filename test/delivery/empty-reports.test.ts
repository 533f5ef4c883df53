/** A report without rows says so, and attaches nothing (a mail that says “attached” above an empty file is a riddle). */
import { expect, test } from 'vitest';
import { messageOf, type ReportText } from '../../src/delivery/message.js';
import { readReport } from '../../src/delivery/report-content.js';

const schedule = { openedId: 'board', dashboardFilter: { State: ['ZZ'] }, metricIds: null };
const opened = {
  name: 'Board',
  metrics: ['one', 'two'].map((metricId) => ({ metricId, name: metricId })),
  alert: null,
};

/** Reads a report whose metrics have these rows. */
const read = async (format: string, rowsOf: Readonly<Record<string, readonly object[] | number>>) => {
  const asked: unknown[] = [];
  const ask = async (path: string, body: object) => {
    const [, metricId = '', verb] = /metrics\/(\w+)\/(\w+)$/.exec(path) ?? [];
    asked.push([metricId, verb, body]);
    const data = rowsOf[metricId] ?? [];
    if (verb === 'query' && typeof data === 'number') return { status: data, body: { error: {} } };
    return verb === 'query' ? { status: 200, body: { data } } : { status: 200, body: 'file' };
  };
  const reading = {
    ask,
    token: 't',
    schedule: { ...schedule, format },
    opened,
    dashboardUrl: null,
    language: undefined,
  };
  const report = await readReport(reading as never, new AbortController().signal);
  return { report: report as Exclude<typeof report, { refused: unknown }>, asked };
};

test.each(['csv', 'xlsx', 'pdf', 'png'])('a report without rows attaches nothing in format %s', async (format) => {
  const { report, asked } = await read(format, { one: [], two: [{ Total: null }] });
  expect(report).toMatchObject({ isEmpty: true, attachments: [] });
  expect(asked).toEqual(
    ['one', 'two'].map((id) => [id, 'query', { dashboardId: 'board', dashboardFilter: { State: ['ZZ'] }, limit: 1 }]),
  );
});

test.each([
  ['a row', [{ Total: 0 }]],
  ['a failure that the files will tell', 400],
])('a report is attached where there is %s', async (_, second) => {
  const { report } = await read('csv', { one: [], two: second });
  expect(report.attachments).toHaveLength(2);
  expect(report.isEmpty).toBeUndefined();
});

test('a report without rows says so in the words of its reader', () => {
  const text = (language: string | undefined, isEmpty: boolean) =>
    messageOf({
      ...{ scheduleName: 'Daily', dashboardName: 'Board', format: 'csv', language, isEmpty, alert: null },
      ...{ moment: new Date(0), timezone: 'UTC', dashboardUrl: null, isForOthers: false, unsubscribeUrl: 'https://u' },
      brand: { from: { name: 'A', address: 'a@b.c' }, logo: null, opening: null, closing: null },
    } as unknown as ReportText).text;
  expect(text(undefined, true)).toContain('This report has no data for its filters.');
  expect(text(undefined, true)).not.toContain('attached');
  expect(text('de', true)).toContain('keine Daten');
  expect(text(undefined, false)).toContain('attached');
});
