/** The metrics that a guest may change, and their definitions. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { OwnDefinition, OwnMetric } from '../../../model/guest/metric.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { newGuestDefinition } from './definition.js';
import { readErrors } from './reads.js';

const ownMetric = z
  .object({
    metricId: z.string(),
    name: z.string(),
    isArchived: z.boolean().describe('No guest sees it on the dashboard.'),
    isPrivate: z.boolean().describe('Only this user sees it.'),
    canPublish: z.boolean().describe('Whether it is made by a user, who may publish it or make it private.'),
  })
  .meta({ id: 'OwnMetric' });

const exampleMetric = {
  metricId: 'flights-a-day--LAX',
  name: 'Flights a day',
  isArchived: false,
  isPrivate: true,
  canPublish: true,
};

export const listGuestMetrics = operation({
  name: 'listGuestMetrics',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'List the metrics of a dashboard that guests made and this guest may change',
  description:
    'Oldest first. Metrics of other users are left out, and so are archived ones without `isEnableManageMetrics`, which restores them. Needs `isEnableMetricUpdation`, `isEnableArchiveMetrics` or `isEnableManageMetrics`.',
  credentials: ['guestToken'],
  reads: 'definitions',
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: z.array(ownMetric), error: noError }),
  encode: (metrics: readonly OwnMetric[]) => ({
    data: metrics.map(({ metricId, name, isArchived, isPrivate, canPublish }) => ({
      metricId,
      name,
      isArchived,
      isPrivate,
      canPublish,
    })),
    error: null,
  }),
  errors: readErrors,
  bindings: [{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}/metrics', from: 'path' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { data: [exampleMetric], error: null } },
});

const flights = { schemaName: 'main', tableName: 'flights' };
const exampleDefinition = {
  chart: { type: 'line' as const },
  from: flights,
  dimensions: [{ name: 'Day', column: { ...flights, columnName: 'date' }, grain: 'day' as const }],
  measures: [{ name: 'Flights', aggregate: 'COUNT' as const }],
};
const exampleDigest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

export const getGuestMetricDefinition = operation({
  name: 'getGuestMetricDefinition',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Read the definition of a metric to change it',
  description:
    'Of a metric that a guest of the client made and this guest may change. Refused if the definition names columns that are hidden now. Send `digest` with the change: it is refused if somebody else changed the metric meanwhile. Needs `isEnableMetricUpdation`.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: { name: 'read_metric_definition', description: 'Reads the definition of a metric that you may change.' },
  input: z.strictObject({ metricId: identifier }),
  output: z.object({
    data: z.object({ metricId: z.string(), name: z.string(), definition: newGuestDefinition, digest: z.string() }),
    error: noError,
  }),
  encode: ({ metricId, name, definition, digest }: OwnDefinition) => ({
    // The schema drops nothing: it refuses what a guest may not send, such as RLS variables.
    data: { metricId, name, definition: newGuestDefinition.parse(definition), digest },
    error: null,
  }),
  errors: { ...readErrors, METRIC_QUERY_ERROR: 400 },
  bindings: [{ method: 'GET', path: '/api/v2/guest/metrics/{metricId}/definition', from: 'path' }],
  example: {
    input: { metricId: 'flights-a-day--LAX' },
    output: {
      data: {
        metricId: 'flights-a-day--LAX',
        name: 'Flights a day',
        definition: exampleDefinition,
        digest: exampleDigest,
      },
      error: null,
    },
  },
});

export const publishGuestMetric = operation({
  name: 'publishGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Publish an own private metric, or make it private again',
  description:
    'All users of the client see a published metric. Only the user who made the metric may do this, with `isEnableManageMetrics`. A metric that belongs to no user is seen by all anyway, and is refused.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({ metricId: identifier, isPublished: z.boolean() }),
  output: z.object({ data: z.object({ metricId: z.string(), isPublished: z.boolean() }), error: noError }),
  encode: ({ metricId, isPublished }: { readonly metricId: string; readonly isPublished: boolean }) => ({
    data: { metricId, isPublished },
    error: null,
  }),
  errors: readErrors,
  bindings: [{ method: 'PUT', path: '/api/v2/guest/metrics/{metricId}/publish', from: 'body' }],
  example: {
    input: { metricId: 'flights-a-day--LAX', isPublished: true },
    output: { data: { metricId: 'flights-a-day--LAX', isPublished: true }, error: null },
  },
});
