import type { Kysely } from 'kysely';
import type { Viewer } from '../domain/dashboard/metric.js';
import type { BoardChange, GuestBoardStore, NewBoard } from '../domain/store/dashboards.js';
import { jsonb } from './document.js';
import { isListedFor, viewerColumns, viewerIs, wasInserted } from './query.js';
import type { Tables } from './tables.js';

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

export const createGuestBoardStore = (db: Kysely<Tables>): GuestBoardStore => ({
  insert: (dashboardId, viewer, board, createdAt) => insert(db, dashboardId, viewer, board, createdAt),
  list: async (dashboardId, viewer) => {
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
  find: async (dashboardId, viewer, boardId) => {
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
  change: async (dashboardId, viewer, { boardId, version }, change) => {
    const { numUpdatedRows } = await db
      .updateTable('guest_boards')
      .set({ ...changed(change), version: version + 1 })
      .where(isListedFor(dashboardId, viewer))
      .where('id', '=', boardId)
      .where('version', '=', version)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  },
  delete: async (dashboardId, viewer, boardId) => {
    const { numDeletedRows } = await db
      .deleteFrom('guest_boards')
      .where(viewerIs(dashboardId, viewer))
      .where('id', '=', boardId)
      .executeTakeFirst();
    return numDeletedRows === 1n;
  },
});
