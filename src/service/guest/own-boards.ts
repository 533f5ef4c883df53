/**
 * Own dashboards of guests. A board is opened through the dashboard that it is made of, by the same checks as that
 * dashboard, and names only metrics that its reader may read there. It gives no right to data.
 */
import type { LayoutCard } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { assertBoards, assertWrites, hasBoards, isMadeFor, isPermitted, notOpen } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { guestLimits } from '../../model/guest/metric.js';
import {
  type BoardContent,
  type BoardTile,
  type ListedBoard,
  type OwnBoard,
  shownBoard,
  storedCards,
} from '../../model/guest/own-board.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { metricsFor, type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { lockDashboard, openDashboard } from './scope.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };
type ReadDeps = Pick<Deps, 'store'>;

type OnDashboard = { readonly dashboardId: string };
type OneBoard = OnDashboard & { readonly boardId: string };
export type CreateGuestBoard = OnDashboard & {
  readonly name: string;
  readonly layout: readonly LayoutCard[];
  readonly tiles?: readonly BoardTile[] | undefined;
  readonly isShared?: boolean | undefined;
};
export type UpdateGuestBoard = OneBoard & { readonly version: number } & {
  readonly [Part in Exclude<keyof CreateGuestBoard, 'dashboardId'>]?: CreateGuestBoard[Part] | undefined;
};

const invalid = (message: string, reason: Reason): Refusal => new Refusal('INVALID_REQUEST_BODY', message, { reason });

const nameTaken = (name: string): Refusal =>
  new Refusal('BOARD_ALREADY_EXISTS', `There is an own dashboard named ${JSON.stringify(name)} already.`);

const boardMissing = (boardId: string): Refusal =>
  new Refusal('BOARD_NOT_FOUND', `This user has no own dashboard ${JSON.stringify(boardId)} here, and none is shared.`);

/** Whether the guest may make boards. A board belongs to a user, so a token without one makes none. */
export const mayMakeBoards = (grant: GuestGrant, { embed }: Opened): boolean =>
  grant.userIdentifier !== null && isPermitted(grant, embed, 'createGuestBoard');

const assertMakes = (
  grant: GuestGrant,
  { embed }: Opened,
  write: 'createGuestBoard' | 'updateGuestBoard' | 'deleteGuestBoard',
) => {
  assertBoards(embed);
  assertWrites(grant, embed, write);
  if (grant.userIdentifier !== null) return;
  throw new Refusal('UNAUTHORIZED', 'This token names no user, whose dashboard it could be.', {
    reason: 'board-without-user',
  });
};

const assertShares = (grant: GuestGrant, { embed }: Opened): void => {
  if (isPermitted(grant, embed, 'shareGuestBoard')) return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This token does not carry isEnableManageMetrics: it cannot share a dashboard, nor change one that is shared.',
    { reason: 'permission-missing' },
  );
};

const openIdsOf = async (store: Store, grant: GuestGrant, opened: Opened): Promise<ReadonlySet<string>> =>
  new Set((await openMetricsOf(store, grant, opened)).map(({ metricId }) => metricId));

/** Throws UNAUTHORIZED if a card's metric is not open to the guest, as for one that does not exist. */
const assertCards = (layout: readonly LayoutCard[], open: ReadonlySet<string>): void => {
  if (layout.some(({ metricId }) => !open.has(metricId))) throw notOpen('card-of-a-metric-not-open');
};

const assertRoom = (boards: readonly ListedBoard[], isWanted: (board: ListedBoard) => boolean, most: number): void => {
  const { length } = boards.filter(isWanted);
  if (length < most) return;
  throw invalid(`There are ${length} own dashboards, and may be ${most}: delete one first.`, 'too-many-boards');
};
const isOwn = (board: ListedBoard): boolean => board.isOwn;
const isShared = (board: ListedBoard): boolean => board.isShared;

/** Returns the boards that the guest reads; undefined if there are none, and the guest may make none. */
export const boardsOf = async (
  store: Store,
  grant: GuestGrant,
  opened: Opened,
): Promise<readonly ListedBoard[] | undefined> => {
  if (!hasBoards(opened.embed)) return undefined;
  const boards = await store.guestBoards.list(opened.dashboard.id, grant);
  return boards.length > 0 || mayMakeBoards(grant, opened) ? boards : undefined;
};

/** Lists boards. Throws UNAUTHORIZED unless the embed allows them. */
export const listGuestBoards =
  ({ store }: ReadDeps) =>
  async ({ grant }: GuestCaller, { dashboardId }: OnDashboard): Promise<readonly ListedBoard[]> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    assertBoards(embed);
    return store.guestBoards.list(dashboard.id, grant);
  };

/** Returns a board without the cards that this token does not open. Throws UNAUTHORIZED or BOARD_NOT_FOUND. */
export const getGuestBoard =
  ({ store }: ReadDeps) =>
  async ({ grant }: GuestCaller, { dashboardId, boardId }: OneBoard): Promise<OwnBoard> => {
    const opened = await openDashboard(store, grant, dashboardId);
    assertBoards(opened.embed);
    const board = await store.guestBoards.find(opened.dashboard.id, grant, boardId);
    if (board === undefined) throw boardMissing(boardId);
    return shownBoard(board, await openIdsOf(store, grant, opened));
  };

/** Makes a board. Throws UNAUTHORIZED, INVALID_REQUEST_BODY or BOARD_ALREADY_EXISTS. */
export const createGuestBoard =
  ({ store, clock, ids }: Deps) =>
  async ({ grant }: GuestCaller, command: CreateGuestBoard): Promise<OwnBoard> => {
    const opened = await openDashboard(store, grant, command.dashboardId);
    const { name, layout, tiles = [], isShared: shares = false } = command;
    assertMakes(grant, opened, 'createGuestBoard');
    if (shares) assertShares(grant, opened);
    const board = { id: ids.uuid(), name, isShared: shares, layout, tiles };
    await store.transaction(async (inner) => {
      const { id } = await lockDashboard(inner, grant, opened.dashboard.id);
      assertCards(layout, await openIdsOf(inner, grant, opened));
      const boards = await inner.guestBoards.list(id, grant);
      assertRoom(boards, isOwn, guestLimits.boards);
      if (shares) assertRoom(boards, isShared, guestLimits.sharedBoards);
      if (!(await inner.guestBoards.insert(id, grant, board, clock.now()))) throw nameTaken(name);
    });
    return { ...board, isOwn: true, version: 1 };
  };

/** Another user's board can only be shared no longer. */
const assertChanges = (grant: GuestGrant, opened: Opened, board: OwnBoard, command: UpdateGuestBoard): void => {
  if (board.isShared || command.isShared === true) assertShares(grant, opened);
  if (board.isOwn) return;
  const { name, layout, tiles } = command;
  if (command.isShared === false && [name, layout, tiles].every((part) => part === undefined)) return;
  throw invalid(
    'Another user made this dashboard: only isShared can change, to false. Make one of your own.',
    'board-of-another-user',
  );
};

/** Cards that the token hides stay, as do tiles that were not given. */
const changedContent = (
  board: OwnBoard,
  { layout, tiles }: UpdateGuestBoard,
  hidden: readonly Metric[],
): BoardContent | undefined => {
  if (layout === undefined && tiles === undefined) return undefined;
  const isKept = (metricId: string): boolean => hidden.some((metric) => metric.metricId === metricId);
  return {
    layout: layout === undefined ? board.layout : storedCards(layout, board.layout, isKept),
    tiles: tiles ?? board.tiles,
  };
};

const change = async (
  store: Store,
  grant: GuestGrant,
  opened: Opened,
  command: UpdateGuestBoard,
): Promise<OwnBoard> => {
  const { boardId, version, name, layout = [], isShared: shares } = command;
  const dashboard = await lockDashboard(store, grant, opened.dashboard.id);
  const board = await store.guestBoards.find(dashboard.id, grant, boardId);
  if (board === undefined) throw boardMissing(boardId);
  assertChanges(grant, opened, board, command);
  const open = await openIdsOf(store, grant, opened);
  assertCards(layout, open);
  const boards = await store.guestBoards.list(dashboard.id, grant);
  if (boards.some((other) => other.isOwn && other.id !== boardId && other.name === name)) throw nameTaken(name ?? '');
  if (shares === true && !board.isShared) assertRoom(boards, isShared, guestLimits.sharedBoards);
  const all = await metricsFor(store, dashboard, grant);
  const hidden = all.filter((metric) => !open.has(metric.metricId) && isMadeFor(metric, grant));
  const content = changedContent(board, command, hidden);
  const isChanged = await store.guestBoards.change(
    dashboard.id,
    grant,
    { boardId, version },
    { name, content, isShared: shares },
  );
  if (!isChanged) {
    throw new Refusal(
      'BOARD_CHANGED',
      'The dashboard has changed since this version was read. Read it again, then retry.',
    );
  }
  return shownBoard(
    { ...board, name: name ?? board.name, ...content, isShared: shares ?? board.isShared, version: version + 1 },
    open,
  );
};

/**
 * Changes what the caller names. Throws UNAUTHORIZED, INVALID_REQUEST_BODY, BOARD_ALREADY_EXISTS, BOARD_NOT_FOUND (also
 * for a board that another user does not share), or BOARD_CHANGED if it no longer has this version.
 */
export const updateGuestBoard =
  ({ store }: ReadDeps) =>
  async ({ grant }: GuestCaller, command: UpdateGuestBoard): Promise<OwnBoard> => {
    const opened = await openDashboard(store, grant, command.dashboardId);
    assertMakes(grant, opened, 'updateGuestBoard');
    return store.transaction((inner) => change(inner, grant, opened, command));
  };

/** Deletes a board of this user. Throws UNAUTHORIZED, or BOARD_NOT_FOUND also for a board of another user. */
export const deleteGuestBoard =
  ({ store }: ReadDeps) =>
  async ({ grant }: GuestCaller, { dashboardId, boardId }: OneBoard): Promise<{ readonly id: string }> => {
    const opened = await openDashboard(store, grant, dashboardId);
    assertMakes(grant, opened, 'deleteGuestBoard');
    await store.transaction(async (inner) => {
      const { id } = await lockDashboard(inner, grant, opened.dashboard.id);
      const board = await inner.guestBoards.find(id, grant, boardId);
      if (board === undefined || !board.isOwn) throw boardMissing(boardId);
      if (board.isShared) assertShares(grant, opened);
      if (!(await inner.guestBoards.delete(id, grant, boardId))) throw boardMissing(boardId);
    });
    return { id: boardId };
  };
