/**
 * Metrics that guests create. Operations of this project, in the style of the interface. Each write needs a permission
 * in the token (`guestWrites` in model/guest/access.ts).
 */
import { z } from 'zod';
import { lastRow } from '../../../model/guest/layout.js';
import type { GuestMetric } from '../../../model/guest/view.js';
import { guestFilterValues, identifier, limits, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { encodeReply, exampleAnswer, metricAnswer } from '../../metrics/contract.js';
import { guestDefinition, newGuestDefinition } from './definition.js';
import { encodeMetric, exampleGuestMetric, guestMetric } from './reads.js';

const writeErrors = { TOKEN_EXPIRED: 401, AUTHENTICATION_ERROR: 401, UNAUTHORIZED: 403 } as const;
const defineErrors = { ...writeErrors, METRIC_QUERY_ERROR: 400 } as const;

/**
 * A position on the grid of 12 columns. It has the same bounds as in an export, so that a layout that was read can be
 * sent back.
 */
export const gridCard = {
  x: z.number().int().min(0).max(11),
  y: z.number().int().min(0).max(lastRow),
  w: z.number().int().min(1).max(12),
  h: z.number().int().min(1).max(1000),
};
const card = z.strictObject(gridCard).meta({ id: 'GridCard' });

const written = z.object({ data: guestMetric, error: noError });
const encodeWritten = (view: GuestMetric) => ({ data: encodeMetric(view), error: null });

const byDay = {
  chart: { type: 'line' as const },
  from: { schemaName: 'main', tableName: 'flights' },
  dimensions: [
    { name: 'Day', column: { schemaName: 'main', tableName: 'flights', columnName: 'date' }, grain: 'day' as const },
  ],
  measures: [{ name: 'Flights', aggregate: 'COUNT' as const }],
};

export const createGuestMetric = operation({
  name: 'createGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Create a metric on a dashboard',
  description:
    'The metric belongs to the guest’s client. If the dashboard has `isAllowPrivateMetricsByDefault` and the token names a user, only that user sees the metric until it is published. Refused for a token with `rlsSettings` or `appFilters`.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: { name: 'create_metric', description: 'Saves a new metric on a dashboard.' },
  input: z.strictObject({
    dashboardId: identifier,
    name: identifier,
    definition: newGuestDefinition,
    card: card
      .nullable()
      .optional()
      .describe('Null: place it in the gallery. Missing: place it below all other cards.'),
  }),
  output: written,
  encode: encodeWritten,
  errors: defineErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/metrics', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', name: 'Flights a day', definition: byDay, card: { x: 0, y: 4, w: 6, h: 4 } },
    output: { data: exampleGuestMetric, error: null },
  },
});

export const updateGuestMetric = operation({
  name: 'updateGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Change a metric of the client',
  description:
    'Missing fields keep their values. With a `digest`, the change is refused (409 METRIC_CHANGED) if somebody else changed the metric meanwhile, and (403) if this guest may not read its definition. The filters and RLS variables of a metric that the host made cannot change. Metrics of the organization cannot be changed.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: { name: 'update_metric', description: 'Changes the name or the definition of a metric.' },
  input: z
    .strictObject({
      metricId: identifier,
      name: identifier.optional(),
      definition: guestDefinition.optional(),
      digest: z
        .string()
        .max(128)
        .optional()
        .describe('From `…/definition`. With it, the definition replaces the whole: missing parts are empty.'),
    })
    .refine(({ name, definition }) => name !== undefined || definition !== undefined, 'a name, a definition or both'),
  output: written,
  encode: encodeWritten,
  errors: { ...defineErrors, METRIC_CHANGED: 409 },
  bindings: [{ method: 'PUT', path: '/api/v2/guest/metrics/{metricId}', from: 'body' }],
  example: {
    input: { metricId: 'flights-a-day--LAX', name: 'Flights a day' },
    output: { data: exampleGuestMetric, error: null },
  },
});

export const deleteGuestMetric = operation({
  name: 'deleteGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Delete a metric of the client',
  description: 'A metric that the host made is archived instead.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({ metricId: identifier }),
  output: z.object({ data: z.object({ metricId: z.string() }), error: noError }),
  encode: ({ metricId }: { readonly metricId: string }) => ({ data: { metricId }, error: null }),
  errors: writeErrors,
  bindings: [{ method: 'DELETE', path: '/api/v2/guest/metrics/{metricId}', from: 'path' }],
  example: {
    input: { metricId: 'flights-a-day--LAX' },
    output: { data: { metricId: 'flights-a-day--LAX' }, error: null },
  },
});

export const archiveGuestMetric = operation({
  name: 'archiveGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Archive a metric of the client, or restore it',
  description: 'No guest sees an archived metric. Restoring it needs `isEnableManageMetrics`.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({ metricId: identifier, isArchived: z.boolean().default(true) }),
  output: z.object({ data: z.object({ metricId: z.string(), isArchived: z.boolean() }), error: noError }),
  encode: ({ metricId, isArchived }: { readonly metricId: string; readonly isArchived: boolean }) => ({
    data: { metricId, isArchived },
    error: null,
  }),
  errors: writeErrors,
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/{metricId}/archive', from: 'body' }],
  example: {
    input: { metricId: 'flights-a-day--LAX' },
    output: { data: { metricId: 'flights-a-day--LAX', isArchived: true }, error: null },
  },
});

/** What a preview asks besides its definition. */
export const previewQuestion = {
  dashboardId: identifier.describe('The dashboard through which the metric is read.'),
  dashboardFilter: guestFilterValues.optional().describe('Values by the name of a dashboard filter.'),
  metricFilter: guestFilterValues.optional().describe('Values by the name of a filter in the definition.'),
  sort: list(z.strictObject({ name: identifier, direction: z.enum(['ASC', 'DESC']) }), 20).optional(),
  limit: z.number().int().min(1).max(limits.rows).optional(),
  offset: z.number().int().min(0).max(limits.offset).optional(),
};

export const previewGuestMetric = operation({
  name: 'previewGuestMetric',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Query a definition that is not saved',
  description:
    'With a `metricId`, the definition is a change of that metric. Nothing is stored. Needs the same permission as the write itself.',
  credentials: ['guestToken'],
  reads: 'rows',
  readsOnly: true,
  tool: { name: 'preview_metric', description: 'Answers a definition of a metric without saving it.' },
  input: z.strictObject({
    ...previewQuestion,
    metricId: identifier
      .optional()
      .describe('The metric to change. If missing, the definition is a new one, and needs `chart` and `from`.'),
    definition: guestDefinition,
  }),
  output: metricAnswer,
  encode: encodeReply,
  errors: { ...defineErrors, CLIENT_ID_ERROR: 400, APP_FILTER_PARAM_ERROR: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/guest/metrics/preview', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', definition: byDay, limit: 100 },
    output: { ...exampleAnswer, metricid: 'preview' },
  },
});

export const publishMetric = operation({
  name: 'publishMetric',
  section: 'facts',
  resource: 'Embeds',
  summary: 'Publish a guest’s private metric, or make it private again',
  description: 'All users of its client see a published metric.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.strictObject({ embedId: identifier, metricId: identifier, isPublished: z.boolean() }),
  output: z.object({ id: z.string() }),
  encode: ({ metricId }: { readonly metricId: string }) => ({ id: metricId }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400, INVALID_METRIC_ID: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app/metrics/publish', from: 'body' }],
  example: {
    input: { embedId: 'delays--LAX', metricId: 'flights-a-day--LAX', isPublished: true },
    output: { id: 'flights-a-day--LAX' },
  },
});
