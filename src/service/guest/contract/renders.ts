/** Dashboards and metrics as PDF and PNG, drawn by the server with a guest token. */
import { z } from 'zod';
import { identifier } from '../../../platform/http/interface/fields.js';
import { operation } from '../../../platform/http/interface/operation.js';
import { exampleQuery, guestQuery, language, readErrors } from './reads.js';

const about =
  'Refused unless the permissions allow it (`isEnableDownloadMetrics`). The server draws the elements with headless Chromium, as on paper: light, with filters, marks of other cards (`crossFilter`), moment and what is missing. The drawing reads with this token, as a browser would. It counts as ten requests for the rate limits. It is in the reader’s language; without one, in English and as written. 503: the server has no Chromium, or is busy.';

const file = z.string().meta({ format: 'binary' });
const bytes = async function* (data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
};

const { dashboardFilter: filters, crossFilter: marks } = guestQuery.shape;
const dashboard = z.strictObject({ dashboardId: identifier, dashboardFilter: filters, crossFilter: marks, language });
const metric = guestQuery
  .pick({ metricId: true, dashboardId: true, dashboardFilter: true, crossFilter: true, language: true })
  .refine(
    ({ dashboardId: through, dashboardFilter: values, crossFilter: chosen }) =>
      through !== undefined || (values === undefined && chosen === undefined),
    'dashboardFilter and crossFilter need dashboardId',
  );

const common = {
  section: 'guest',
  resource: 'Guest reads',
  description: about,
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'rows',
  counts: 'exports',
  readsOnly: true,
  takesLanguage: true,
  output: file,
  requestsOf: () => 10,
  encode: bytes,
  errors: readErrors,
} as const;

const { dashboardId, dashboardFilter, metricId } = exampleQuery;
const ofDashboard = { input: { dashboardId, dashboardFilter }, output: '%PDF' };
const ofMetric = { input: { metricId, dashboardId }, output: '%PDF' };

export const renderGuestDashboardPdf = operation({
  ...common,
  name: 'renderGuestDashboardPdf',
  summary: 'Draw a dashboard as PDF',
  input: dashboard,
  contentType: 'application/pdf',
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/pdf', from: 'body' }],
  example: ofDashboard,
});

export const renderGuestDashboardPng = operation({
  ...common,
  name: 'renderGuestDashboardPng',
  summary: 'Draw a dashboard as PNG',
  input: dashboard,
  contentType: 'image/png',
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/png', from: 'body' }],
  example: ofDashboard,
});

export const renderGuestMetricPdf = operation({
  ...common,
  name: 'renderGuestMetricPdf',
  summary: 'Draw a metric as PDF',
  input: metric,
  contentType: 'application/pdf',
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/pdf', from: 'body' }],
  example: ofMetric,
});

export const renderGuestMetricPng = operation({
  ...common,
  name: 'renderGuestMetricPng',
  summary: 'Draw a metric as PNG',
  input: metric,
  contentType: 'image/png',
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/png', from: 'body' }],
  example: ofMetric,
});
