/** Layouts and views that guests save. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { LayoutCard } from '../../../model/dashboard/dashboard.js';
import { guestLimits } from '../../../model/guest/metric.js';
import type { ListedView } from '../../../model/guest/saved-view.js';
import { guestFilterValues, identifier, list, named } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { tilePlaces } from '../../common/contract/tiles.js';
import { gridCard } from './metrics.js';
import { encodeView, exampleView, guestView } from './view.js';

const errors = { TOKEN_EXPIRED: 401, AUTHENTICATION_ERROR: 401, UNAUTHORIZED: 403 } as const;

const card = z.strictObject({ metricId: identifier, ...gridCard });
const exampleLayout = [{ metricId: 'flights-a-day--LAX', x: 0, y: 0, w: 12, h: 4 }];

export const saveGuestLayout = operation({
  name: 'saveGuestLayout',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Arrange the cards of a dashboard',
  description:
    'Replaces the cards that this guest sees, and puts tiles at the places of `tiles`. A token without a user changes the layout of its client’s dashboard for all users; otherwise the layout is saved for the user only.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({
    dashboardId: identifier,
    layout: list(card).refine(
      (cards) => new Set(cards.map(({ metricId }) => metricId)).size === cards.length,
      'each metric once',
    ),
    tiles: tilePlaces
      .refine((places) => new Set(places.map(({ tileId }) => tileId)).size === places.length, 'each tile once')
      .optional()
      .describe(
        'Places of tiles. Of a tab only `y` counts. Without a place, a tile goes below all others; without `tiles`, all stay.',
      ),
  }),
  output: z.object({
    data: z.object({
      layout: z.array(z.object({ metricId: z.string(), x: z.number(), y: z.number(), w: z.number(), h: z.number() })),
    }),
    error: noError,
  }),
  encode: (layout: readonly LayoutCard[]) => ({
    data: { layout: layout.map(({ metricId, x, y, w, h }) => ({ metricId, x, y, w, h })) },
    error: null,
  }),
  errors,
  bindings: [{ method: 'PUT', path: '/api/v2/guest/dashboards/{dashboardId}/layout', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', layout: exampleLayout },
    output: { data: { layout: exampleLayout }, error: null },
  },
});

export const restoreGuestLayout = operation({
  name: 'restoreGuestLayout',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Give up the own arrangement of a dashboard',
  description:
    'Deletes the layout that this guest saved, and answers the cards that the guest sees then: those of the client, else of the dashboard. Nobody else’s layout changes. Without a saved layout nothing changes; a token without a user has none on its client’s own dashboard.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({ dashboardId: identifier }),
  output: saveGuestLayout.output,
  encode: saveGuestLayout.encode,
  errors,
  bindings: [{ method: 'DELETE', path: '/api/v2/guest/dashboards/{dashboardId}/layout', from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX' },
    output: { data: { layout: exampleLayout }, error: null },
  },
});

const isBounded = (value: unknown): boolean => JSON.stringify(value).length <= guestLimits.choicesLength;

const choices = {
  dashboardFilter: guestFilterValues.optional().describe('Values by the name of a dashboard filter.'),
  metricFilter: named(guestFilterValues).optional().describe('Values by metric id, then by the name of a filter.'),
  filterNames: named(identifier)
    .optional()
    .describe('New names of dashboard filters. Needs `isAllowDashboardFilterNameChange`.'),
};
const flags = {
  isShared: z.boolean().optional().describe('Whether all users of the client see it. Needs `isEnableManageMetrics`.'),
  isDefault: z
    .boolean()
    .optional()
    .describe('Whether the dashboard opens with it: for this user or, if it is shared, for users without a default.'),
};

export const createGuestView = operation({
  name: 'createGuestView',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Save filter choices as a view',
  description:
    'The view belongs to this user and dashboard, and its name is unique among them. Other users see it only if it is shared.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: { name: 'create_view', description: 'Saves choices of filters of a dashboard under a name.' },
  input: z
    .strictObject({
      dashboardId: identifier,
      name: identifier,
      ...choices,
      ...flags,
    })
    .refine(isBounded, `at most ${guestLimits.choicesLength} characters of JSON`),
  output: z.object({ data: guestView, error: noError }),
  encode: (saved: ListedView) => ({ data: encodeView(saved), error: null }),
  errors: { ...errors, VIEW_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/guest/dashboards/{dashboardId}/views', from: 'body' }],
  example: {
    input: {
      dashboardId: 'delays--LAX',
      name: 'West coast',
      dashboardFilter: { 'Destination state': ['CA', 'OR', 'WA'] },
    },
    output: { data: exampleView, error: null },
  },
});

export const listGuestViews = operation({
  name: 'listGuestViews',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'List the user’s views of a dashboard, and those shared by others',
  description: `Oldest first; at most ${guestLimits.views} of each user.`,
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: {
    name: 'list_views',
    description: 'Lists saved choices of filters of a dashboard: your own, and shared ones.',
  },
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: z.array(guestView), error: noError }),
  encode: (views: readonly ListedView[]) => ({ data: views.map(encodeView), error: null }),
  errors,
  bindings: [{ method: 'GET', path: '/api/v2/guest/dashboards/{dashboardId}/views', from: 'path' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { data: [exampleView], error: null } },
});

export const updateGuestView = operation({
  name: 'updateGuestView',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Change a view',
  description:
    'What is left out keeps its value. A view of another user can only be shared no longer, or be the default. A view that becomes shared or unshared is no longer a default, unless `isDefault` says so.',
  credentials: ['guestToken'],
  reads: 'definitions',
  tool: { name: 'update_view', description: 'Changes a saved view.' },
  input: z
    .strictObject({ dashboardId: identifier, viewId: identifier, name: identifier.optional(), ...choices, ...flags })
    .refine(isBounded, `at most ${guestLimits.choicesLength} characters of JSON`),
  output: z.object({ data: guestView, error: noError }),
  encode: (changed: ListedView) => ({ data: encodeView(changed), error: null }),
  errors: { ...errors, VIEW_ALREADY_EXISTS: 400, VIEW_NOT_FOUND: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/guest/dashboards/{dashboardId}/views', from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', viewId: exampleView.id, isDefault: true },
    output: { data: { ...exampleView, isDefault: true }, error: null },
  },
});

export const deleteGuestView = operation({
  name: 'deleteGuestView',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Delete a view',
  credentials: ['guestToken'],
  reads: 'nothing',
  tool: { name: 'delete_view', description: 'Deletes a saved view.' },
  input: z.strictObject({ dashboardId: identifier, viewId: identifier }),
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: { ...errors, VIEW_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/guest/dashboards/{dashboardId}/views', from: 'query' }],
  example: {
    input: { dashboardId: 'delays--LAX', viewId: exampleView.id },
    output: { data: { id: exampleView.id }, error: null },
  },
});
