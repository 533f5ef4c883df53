/** A dashboard as a whole: deleted, taken out as a file, brought in as one. */
import { z } from 'zod';
import type { Dashboard } from '../domain/dashboard.js';
import { identifier } from './fields.js';
import { noError, operation } from './operation.js';

export const deleteDashboard = operation({
  name: 'deleteDashboard',
  section: 'facts',
  resource: 'Dashboards',
  summary: "Delete a client's dashboard with its embeds",
  description:
    'With its embeds, the metrics that only it holds, and the guest tokens that name nothing else. Dashboards of the organization and of other data apps are not deleted. Cannot be undone.',
  credentials: ['apiKey'],
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (dashboard: Dashboard) => ({ id: dashboard.externalDashboardId, error: null }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app/dashboards', from: 'query' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { id: 'delays--LAX', error: null } },
});
