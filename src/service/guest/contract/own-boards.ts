/** Own dashboards of guests, made of the cards of a dashboard. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import { guestLimits } from '../../../model/guest/metric.js';
import type { ListedBoard, OwnBoard } from '../../../model/guest/own-board.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { identifier, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { boardTiles } from '../../common/contract/tiles.js';
import { encodeListedBoard, listedBoard } from './listed-board.js';
import { gridCard } from './metrics.js';

const errors = { TOKEN_EXPIRED: 401, AUTHENTICATION_ERROR: 401, UNAUTHORIZED: 403 } as const;
const path = '/api/v2/guest/dashboards/{dashboardId}/boards';

const isShared = z
  .boolean()
  .optional()
  .describe('Whether all users of the client see it. Needs `isEnableManageMetrics`.');
const mostCards = 200;
const card = z.strictObject({ metricId: identifier, ...gridCard });
const layout = list(card, mostCards)
  .refine((cards) => new Set(cards.map(({ metricId }) => metricId)).size === cards.length, 'each metric once')
  .describe('Its cards: metrics of the dashboard that the guest reads.');
const tiles = boardTiles.refine(
  (all) => new Set(all.map(({ tileId }) => tileId)).size === all.length,
  'each tile once',
);
const content = z.object({ name: identifier, layout, tiles: tiles.optional(), isShared });
const isBounded = (value: unknown): boolean => JSON.stringify(value).length <= guestLimits.boardLength;
const bound = `at most ${guestLimits.boardLength} characters of JSON`;

const board = listedBoard
  .extend({
    version: z.number().describe('Grows with each change.'),
    layout: z.array(card).describe('Only cards of metrics that this token reads.'),
    tiles: boardTiles,
  })
  .meta({ id: 'GuestBoard' });

const written = z.object({ data: board, error: noError });
const encodeWritten = (shown: OwnBoard): Encoded<typeof written> => ({
  data: {
    ...encodeListedBoard(shown),
    version: shown.version,
    layout: shown.layout.map(({ metricId, x, y, w, h }) => ({ metricId, x, y, w, h })),
    tiles: shown.tiles,
  },
  error: null,
});

const exampleId = 'c0b8f6de-23a1-4a90-bb51-0f7d0d6a5d3e';
const exampleListed = { id: exampleId, name: 'Mornings', isShared: false, isOwn: true };
const exampleBoard = {
  ...exampleListed,
  version: 1,
  layout: [{ metricId: 'flights-a-day--LAX', x: 0, y: 1, w: 12, h: 4 }],
  tiles: [{ kind: 'heading' as const, tileId: 'h', text: 'Before noon', x: 0, y: 0, w: 12, h: 1 }],
};
const exampleContent = { name: exampleBoard.name, layout: exampleBoard.layout, tiles: exampleBoard.tiles };

export const listGuestBoards = operation({
  name: 'listGuestBoards',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'List the user’s own dashboards made of a dashboard, and those shared by others',
  description: `Oldest first; at most ${guestLimits.boards} of the user. Refused unless the embed allows them (\`isAllowDashboardCreation\`).`,
  credentials: ['guestToken'],
  reads: 'definitions',
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: z.array(listedBoard), error: noError }),
  encode: (boards: readonly ListedBoard[]) => ({ data: boards.map(encodeListedBoard), error: null }),
  errors,
  bindings: [{ method: 'GET', path, from: 'path' }],
  example: { input: { dashboardId: 'delays--LAX' }, output: { data: [exampleListed], error: null } },
});

export const createGuestBoard = operation({
  name: 'createGuestBoard',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Make an own dashboard of cards of a dashboard',
  description:
    'Needs `isEnableCreateDashboard` in the token, `isAllowDashboardCreation` of the embed, and a user. It belongs to this user and dashboard, and its name is unique among them. Its cards are queried as those of the dashboard, with all its restrictions: a board gives no right.',
  credentials: ['guestToken'],
  reads: 'definitions',
  input: z.strictObject({ dashboardId: identifier, ...content.shape }).refine(isBounded, bound),
  output: written,
  encode: encodeWritten,
  errors: { ...errors, BOARD_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path, from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', ...exampleContent },
    output: { data: exampleBoard, error: null },
  },
});

export const getGuestBoard = operation({
  name: 'getGuestBoard',
  section: 'guest',
  resource: 'Guest reads',
  summary: 'Read an own or a shared dashboard',
  description: 'Cards of metrics that the token does not read are left out.',
  credentials: ['guestToken'],
  viewedAs: 'user',
  reads: 'definitions',
  input: z.strictObject({ dashboardId: identifier, boardId: identifier }),
  output: written,
  encode: encodeWritten,
  errors: { ...errors, BOARD_NOT_FOUND: 400 },
  bindings: [{ method: 'GET', path: `${path}/{boardId}`, from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX', boardId: exampleId },
    output: { data: exampleBoard, error: null },
  },
});

export const updateGuestBoard = operation({
  name: 'updateGuestBoard',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Change an own dashboard',
  description:
    'What is left out keeps its value; cards that the token does not show stay. Refused (409 BOARD_CHANGED) if it changed since `version` was read. A board of another user can only be shared no longer.',
  credentials: ['guestToken'],
  reads: 'definitions',
  input: z
    .strictObject({
      dashboardId: identifier,
      boardId: identifier,
      version: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
      ...content.partial().shape,
    })
    .refine(isBounded, bound),
  output: written,
  encode: encodeWritten,
  errors: { ...errors, BOARD_ALREADY_EXISTS: 400, BOARD_NOT_FOUND: 400, BOARD_CHANGED: 409 },
  bindings: [{ method: 'PUT', path: `${path}/{boardId}`, from: 'body' }],
  example: {
    input: { dashboardId: 'delays--LAX', boardId: exampleId, version: 1, name: 'Evenings' },
    output: { data: { ...exampleBoard, name: 'Evenings', version: 2 }, error: null },
  },
});

export const deleteGuestBoard = operation({
  name: 'deleteGuestBoard',
  section: 'guest',
  resource: 'Guest writes',
  summary: 'Delete an own dashboard',
  description: 'The dashboard, its metrics and those of the user stay.',
  credentials: ['guestToken'],
  reads: 'nothing',
  input: z.strictObject({ dashboardId: identifier, boardId: identifier }),
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: { ...errors, BOARD_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path: `${path}/{boardId}`, from: 'path' }],
  example: {
    input: { dashboardId: 'delays--LAX', boardId: exampleId },
    output: { data: { id: exampleId }, error: null },
  },
});
