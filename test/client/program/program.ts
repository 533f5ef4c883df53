/**
 * A host's backend with the generated types: it compiles only if the document describes what the service accepts and
 * returns.
 */
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const [, , baseUrl = '', apiKey = '', serviceToken = ''] = process.argv;

const as = (token: string) => createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

const accessSettings = {
  datamartName: 'shop',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
} as const;

const backend = as(apiKey);
const organization = as(serviceToken);

const made = await organization.POST('/api/v2/data-app', { body: { name: 'generated' } });
const again = await organization.POST('/api/v2/data-app', { body: { name: 'generated' } });
// The types also contain the codes of each status.
const code:
  | 'DATA_APP_ALREADY_EXISTS'
  | 'INVALID_REQUEST_BODY'
  | 'AUTHENTICATION_ERROR'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR' = again.error?.error.code ?? 'INTERNAL_SERVER_ERROR';

const embed = await backend.POST('/api/v2/data-app/dashboard-embeds', {
  body: {
    dashboardId: 'generated',
    workspaceName: 'shop',
    clientId: 'acme',
    accessSettings,
    templateDashboardId: 'board',
    isImportMetrics: true,
  },
});
const token = await backend.POST('/api/v2/guest-token/create', {
  body: { clientId: 'acme', dataAppName: 'shop', params: { allowedEmbeds: ['generated'] }, expiryTime: 60_000 },
});
const guest = as(token.data?.token ?? '');
const dashboard = await guest.GET('/api/v2/guest/dashboards/{dashboardId}', {
  params: { path: { dashboardId: 'generated' } },
});
const [metric] = dashboard.data?.data.metrics ?? [];
const answer = await guest.POST('/api/v2/guest/metrics/{metricId}/query', {
  params: { path: { metricId: metric?.metricId ?? '' } },
  body: { dashboardId: 'generated' },
});
const listed = await backend.GET('/api/v2/data-app/embeds', {
  params: { query: { isPagination: 'true', pageNumber: '1' } },
});

// What the document does not allow is no program.
// @ts-expect-error: the name is text
void (() => organization.POST('/api/v2/data-app', { body: { name: 1 } }));
// @ts-expect-error: the name is required
void (() => organization.POST('/api/v2/data-app', { body: {} }));
// @ts-expect-error: there is no such path
void (() => organization.GET('/api/v2/data-apps'));

const records: number | undefined = answer.data?.totalRecords;
console.log(
  JSON.stringify({
    made: made.data?.name,
    code,
    status: again.response.status,
    embed: embed.data?.name,
    isNamed: typeof metric?.name === 'string',
    records,
    embeds: listed.data?.data.map(({ name }) => name).filter((name) => name === 'generated'),
  }),
);
