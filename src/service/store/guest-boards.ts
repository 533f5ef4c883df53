import type { Kysely } from 'kysely';
import type { Viewer } from '../../model/dashboard/metric.js';
import type { BoardContent, ListedBoard, OwnBoard } from '../../model/guest/own-board.js';
import { isListedFor, jsonb, viewerColumns, viewerIs, wasInserted } from './query.js';
import type { Tables } from './tables.js';

export type NewBoard = Omit<ListedBoard, 'isOwn'> & BoardContent;

type BoardChange = {
  readonly name?: string | undefined;
  readonly content?: BoardContent | undefined;
  readonly isShared?: boolean | undefined;
};

const columns = ['id', 'name', 'is_shared', 'user_identifier'] as const;
type Row = Pick<Tables['guest_boards'], (typeof columns)[number]>;

const decode = ({ id, name, is_shared, user_identifier }: Row, own: string) => ({
  id,
  name,
  isShared: is_shared,
  isOwn: user_identifier === own,
});

const changed = ({ name, content, isShared }: BoardChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(content === undefined ? {} : { content: jsonb(content) }),
  ...(isShared === undefined ? {} : { is_shared: isShared }),
});

const insert = async (
  db: Kysely<Tables>,
  dashboardId: string,
  viewer: Viewer,
  { id, name, isShared, layout, tiles }: NewBoard,
  createdAt: Date,
): Promise<boolean> =>
  wasInserted(
    await db
      .insertInto('guest_boards')
      .values({
        ...{ id, name, is_shared: isShared, version: 1, created_at: createdAt },
        ...viewerColumns(dashboardId, viewer),
        content: jsonb({ layout, tiles }),
      })
      .onConflict((oc) => oc.doNothing())
      .executeTakeFirst(),
  );

const createReads = (db: Kysely<Tables>) => ({
  /** Returns the viewer's boards and those that are shared with the client's users, oldest first. */
  list: async (dashboardId: string, viewer: Viewer): Promise<readonly ListedBoard[]> => {
    const rows = await db
      .selectFrom('guest_boards')
      .select(columns)
      .where(isListedFor(dashboardId, viewer))
      .orderBy('created_at')
      .orderBy('name')
      .orderBy('id')
      .execute();
    const { user_identifier: own } = viewerColumns(dashboardId, viewer);
    return rows.map((row) => decode(row, own));
  },
  /** Returns a board of the list with its content. */
  find: async (dashboardId: string, viewer: Viewer, boardId: string): Promise<OwnBoard | undefined> => {
    const row = await db
      .selectFrom('guest_boards')
      .select([...columns, 'content', 'version'])
      .where(isListedFor(dashboardId, viewer))
      .where('id', '=', boardId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { user_identifier: own } = viewerColumns(dashboardId, viewer);
    return { ...decode(row, own), ...row.content, version: row.version };
  },
});

export const createGuestBoardStore = (db: Kysely<Tables>) => ({
  ...createReads(db),
  /** Returns false if the viewer already has a board of that name on this dashboard. */
  insert: (dashboardId: string, viewer: Viewer, board: NewBoard, createdAt: Date) =>
    insert(db, dashboardId, viewer, board, createdAt),
  /**
   * Changes a board of the list, if it still has this version. The caller checks the name, and whether the viewer may
   * change the board.
   */
  change: async (
    dashboardId: string,
    viewer: Viewer,
    { boardId, version }: { readonly boardId: string; readonly version: number },
    change: BoardChange,
  ) => {
    const { numUpdatedRows } = await db
      .updateTable('guest_boards')
      .set({ ...changed(change), version: version + 1 })
      .where(isListedFor(dashboardId, viewer))
      .where('id', '=', boardId)
      .where('version', '=', version)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  },
  /** Deletes a board of the viewer itself. */
  delete: async (dashboardId: string, viewer: Viewer, boardId: string) => {
    const { numDeletedRows } = await db
      .deleteFrom('guest_boards')
      .where(viewerIs(dashboardId, viewer))
      .where('id', '=', boardId)
      .executeTakeFirst();
    return numDeletedRows === 1n;
  },
});

/** Own dashboards of viewers, made of the cards of a dashboard. */
export type GuestBoardStore = ReturnType<typeof createGuestBoardStore>;
