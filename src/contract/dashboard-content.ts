/** A dashboard's content read and replaced where it stands: ids of dashboard, embeds and metrics stay, and with them whatever names them. */
import { z } from 'zod';
import type { Dashboard } from '../domain/dashboard/dashboard.js';
import { dashboardExport, type ExportedDashboard, encodeExport } from './dashboard-export.js';
import { importedData } from './dashboard-versions.js';
import { identifier, limits } from './fields.js';
import { noError, operation } from './operation.js';

const digest = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{64}$/, 'a digest as getDashboardContent answers it')
  .describe('SHA-256 of the content: it changes with everything that the export shows under `data`.');

const exampleDigest = '3f0a1d5c8b7e6f4a9c2d1e0f3b5a7c9d8e6f4a2b1c3d5e7f9a0b2c4d6e8f0a1b';
const exampleData = { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] } as const;

const target = { dashboardId: identifier, workspaceName: identifier };

type Content = ExportedDashboard & { readonly digest: string };

export const getDashboardContent = operation({
  name: 'getDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: "Read a dashboard's content with its digest",
  description:
    "The export, with the digest that a replacement names. An API key reads its clients' dashboards and the organization's.",
  credentials: ['apiKey', 'serviceToken'],
  input: z.strictObject(target),
  output: dashboardExport.extend({ digest }),
  encode: (content: Content) => ({ ...encodeExport(content), digest: content.digest }),
  errors: { AUTHENTICATION_ERROR: 401, WORKSPACE_ID_ERROR: 400, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/data-app/dashboards/content', from: 'query' }],
  example: {
    input: { dashboardId: 'delays--LAX', workspaceName: 'flights' },
    output: structuredClone({
      _meta: { version: 3, dashboardId: 'delays--LAX', name: 'Delays' },
      data: exampleData,
      digest: exampleDigest,
    }) as never,
  },
});

export const replaceDashboardContent = operation({
  name: 'replaceDashboardContent',
  section: 'facts',
  resource: 'Dashboards',
  summary: "Replace a dashboard's content where it stands",
  description:
    'All or nothing, and only while the content is still the one of `expectedDigest`. A metric of the content is the one on the dashboard that has its id, or the copy made from it; one that an earlier replacement took away is taken up again; any other is made as a copy, under a new id. What the content does not name leaves the dashboard and is kept aside. Metadata and `isAllowPrivateMetricsByDefault` stay where they are left out; what guests made stays as it is. An API key replaces its clients’ dashboards; those of the organization (templates) need a service token.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey', 'serviceToken'],
  input: z.strictObject({
    ...target,
    content: importedData.describe('The `data` object of a dashboard export, or the whole export.'),
    expectedDigest: digest,
  }),
  output: z.object({ id: z.string(), digest, error: noError }),
  encode: ({ dashboard, digest: made }: { readonly dashboard: Dashboard; readonly digest: string }) => ({
    id: dashboard.externalDashboardId,
    digest: made,
    error: null,
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    WORKSPACE_ID_ERROR: 400,
    INVALID_DASHBOARD_ID: 400,
    INVALID_DASHBOARD_DATA: 400,
    DASHBOARD_CHANGED: 409,
  },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app/dashboards/content', from: 'body' }],
  example: {
    input: {
      dashboardId: 'delays--LAX',
      workspaceName: 'flights',
      content: structuredClone(exampleData),
      expectedDigest: exampleDigest,
    },
    output: { id: 'delays--LAX', digest: exampleDigest, error: null },
  },
});
