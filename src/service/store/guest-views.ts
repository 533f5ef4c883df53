import type { Kysely } from 'kysely';
import type { Viewer } from '../../model/dashboard/metric.js';
import type { SavedUnder, SavedView, StoredView, ViewChoices } from '../../model/guest/saved-view.js';
import { inTransaction, isListedFor, jsonb, viewerClientIs, viewerColumns, viewerIs, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type ViewChange = {
  readonly name?: string | undefined;
  readonly choices?: (ViewChoices & SavedUnder) | undefined;
  readonly isShared?: boolean | undefined;
  readonly isDefault?: boolean | undefined;
};

/** Makes place for another default view of the viewer, or of the client. */
const clearDefault = async (db: Kysely<Tables>, dashboardId: string, viewer: Viewer, isShared: boolean) => {
  await db
    .updateTable('guest_views')
    .set({ is_default: false })
    .where(isShared ? viewerClientIs(dashboardId, viewer) : viewerIs(dashboardId, viewer))
    .where('is_shared', '=', isShared)
    .where('is_default', '=', true)
    .execute();
};

const changed = ({ name, choices, isShared, isDefault }: ViewChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(choices === undefined ? {} : { choices: jsonb(choices) }),
  ...(isShared === undefined ? {} : { is_shared: isShared }),
  ...(isDefault === undefined ? {} : { is_default: isDefault }),
});

const change = async (
  db: Kysely<Tables>,
  dashboardId: string,
  viewer: Viewer,
  viewId: string,
  wanted: ViewChange,
): Promise<boolean> => {
  const before = await db
    .selectFrom('guest_views')
    .select(['is_shared', 'is_default'])
    .where(isListedFor(dashboardId, viewer))
    .where('id', '=', viewId)
    .forUpdate()
    .executeTakeFirst();
  if (before === undefined) return false;
  const isShared = wanted.isShared ?? before.is_shared;
  const isDefault = wanted.isDefault ?? (isShared === before.is_shared && before.is_default);
  if (isDefault) await clearDefault(db, dashboardId, viewer, isShared);
  await db
    .updateTable('guest_views')
    .set({ ...changed(wanted), is_default: isDefault })
    .where('id', '=', viewId)
    .execute();
  return true;
};

const insert = async (
  db: Kysely<Tables>,
  dashboardId: string,
  viewer: Viewer,
  { id, name, isShared, isDefault, ...choices }: SavedView & SavedUnder,
  createdAt: Date,
): Promise<boolean> => {
  const columns = viewerColumns(dashboardId, viewer);
  const isInserted = wasInserted(
    await db
      .insertInto('guest_views')
      .values({
        id,
        name,
        ...columns,
        choices: jsonb(choices),
        created_at: createdAt,
        is_shared: isShared,
        is_default: false,
      })
      .onConflict((oc) => oc.doNothing())
      .executeTakeFirst(),
  );
  return isInserted && (!isDefault || change(db, dashboardId, viewer, id, { isDefault }));
};

export const createGuestViewStore = (db: Kysely<Tables>) => ({
  /**
   * Returns false if the viewer already has a view of that name on this dashboard. A default view replaces the
   * viewer's default, a shared one that of the client.
   */
  insert: (dashboardId: string, viewer: Viewer, view: SavedView & SavedUnder, createdAt: Date) =>
    inTransaction(db, (transaction) => insert(transaction, dashboardId, viewer, view, createdAt)),
  /** Returns the viewer's views and those that are shared with the client's users, oldest first. */
  list: async (dashboardId: string, viewer: Viewer): Promise<readonly StoredView[]> => {
    const rows = await db
      .selectFrom('guest_views')
      .select(['id', 'name', 'choices', 'is_shared', 'is_default', 'user_identifier'])
      .where(isListedFor(dashboardId, viewer))
      .orderBy('created_at')
      .orderBy('name')
      .orderBy('id')
      .execute();
    const { user_identifier: own } = viewerColumns(dashboardId, viewer);
    return rows.map(({ id, name, choices, is_shared, is_default, user_identifier }) => ({
      id,
      name,
      ...choices,
      isShared: is_shared,
      isDefault: is_default,
      isOwn: user_identifier === own,
    }));
  },
  /**
   * Changes a view of the list, a default as `insert` does. A view that becomes shared or unshared is no longer a
   * default, unless the change says so. The caller has locked the dashboard, and checks the name and whether the viewer
   * may change the view.
   */
  change: (dashboardId: string, viewer: Viewer, viewId: string, wanted: ViewChange) =>
    inTransaction(db, (transaction) => change(transaction, dashboardId, viewer, viewId, wanted)),
  /** Deletes a view of the list. */
  delete: async (dashboardId: string, viewer: Viewer, viewId: string) => {
    const result = await db
      .deleteFrom('guest_views')
      .where(isListedFor(dashboardId, viewer))
      .where('id', '=', viewId)
      .executeTakeFirst();
    return result.numDeletedRows === 1n;
  },
});

export type GuestViewStore = ReturnType<typeof createGuestViewStore>;
