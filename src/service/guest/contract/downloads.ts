/** Downloads of metrics as files, with a guest token. */
import { z } from 'zod';
import { identifier, list } from '../../../platform/http/interface/fields.js';
import { operation } from '../../../platform/http/interface/operation.js';
import { toCsv } from './csv.js';
import { exampleQuery, guestQuery, language, queryErrors } from './reads.js';
import { toXlsx } from './xlsx/workbook.js';

const permission = 'Refused unless the permissions allow it (`isEnableDownloadMetrics`).';
const whole = 'If a download fails midway, the connection is cut, so a download that ends normally is a whole file.';

export const downloadGuestCsv = operation({
  name: 'downloadGuestCsv',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Download a metric as CSV',
  description: `${permission} Returns every row, unless the request has \`limit\` or \`offset\`. If rows are missing for that reason, one more line at the end says so in its first cell. The first line has the labels of the datamart for columns that the metric’s author did not name. In a language, columns and texts have their labels; without one, all is as stored. The format is RFC 4180; text that a spreadsheet would execute is prefixed by an apostrophe. ${whole}`,
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  counts: 'exports',
  readsOnly: true,
  tool: { name: 'export_csv', description: 'Exports the rows of a metric as CSV.' },
  takesLanguage: true,
  input: guestQuery,
  contentType: 'text/csv',
  output: z.string(),
  encode: toCsv,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/csv', from: 'body' }],
  example: {
    input: exampleQuery,
    output: 'Day,Flights\r\n2001-01-01T00:00:00,371\r\n2001-01-02T00:00:00,402\r\n',
  },
});

const file = z.string().meta({ format: 'binary' });

const aboutSheets =
  'Cells are typed: numbers, dates with formats, booleans, and text, which is never a formula. A number with more digits than a spreadsheet keeps is text. The first sheet states title, moment, time zone, filters, and for each sheet its rows and whether rows are missing: a sheet has at most 1,048,574 rows.';

export const downloadGuestXlsx = operation({
  name: 'downloadGuestXlsx',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Download a metric as XLSX',
  description: `${permission} Returns the rows of the CSV download as a workbook. Values of filters are stated as stored. ${aboutSheets} ${whole}`,
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  counts: 'exports',
  readsOnly: true,
  tool: { name: 'export_xlsx', description: 'Exports the rows of a metric as an XLSX workbook.' },
  takesLanguage: true,
  input: guestQuery,
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  output: file,
  encode: toXlsx,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/xlsx', from: 'body' }],
  example: { input: exampleQuery, output: 'PK' },
});

/** The most metrics of one workbook. */
const mostSheets = 100;

export const downloadGuestDashboardXlsx = operation({
  name: 'downloadGuestDashboardXlsx',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Download metrics of a dashboard as XLSX',
  description: `${permission} Returns a workbook with a sheet for each metric, in the order of the request. ${aboutSheets} A metric that fails before its first row has a sheet that says so. Each metric counts as a request for the rate limits. ${whole}`,
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  counts: 'exports',
  readsOnly: true,
  takesLanguage: true,
  input: z.strictObject({
    dashboardId: identifier,
    dashboardFilter: guestQuery.shape.dashboardFilter,
    crossFilter: guestQuery.shape.crossFilter,
    language,
    metrics: list(
      guestQuery.omit({ dashboardId: true, dashboardFilter: true, crossFilter: true, language: true }),
      mostSheets,
    ).min(1),
  }),
  requestsOf: ({ metrics }) => metrics.length,
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  output: file,
  encode: toXlsx,
  errors: queryErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/xlsx', from: 'body' }],
  example: {
    input: {
      dashboardId: exampleQuery.dashboardId,
      dashboardFilter: exampleQuery.dashboardFilter,
      metrics: [{ metricId: exampleQuery.metricId }],
    },
    output: 'PK',
  },
});
