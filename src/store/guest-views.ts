import type { Kysely } from 'kysely';
import type { GuestViewStore } from '../domain/store/dashboards.js';
import { jsonb } from './document.js';
import { viewerColumns, viewerIs, wasInserted } from './query.js';
import type { Tables } from './tables.js';

export const createGuestViewStore = (db: Kysely<Tables>): GuestViewStore => ({
  insert: async (dashboardId, viewer, { id, name, ...choices }, createdAt) =>
    wasInserted(
      await db
        .insertInto('guest_views')
        .values({
          id,
          name,
          ...viewerColumns(dashboardId, viewer),
          choices: jsonb(choices),
          created_at: createdAt,
        })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  list: async (dashboardId, viewer) => {
    const rows = await db
      .selectFrom('guest_views')
      .select(['id', 'name', 'choices'])
      .where(viewerIs(dashboardId, viewer))
      .orderBy('created_at')
      .orderBy('name')
      .execute();
    return rows.map(({ id, name, choices }) => ({ id, name, ...choices }));
  },
  delete: async (dashboardId, viewer, viewId) => {
    const result = await db
      .deleteFrom('guest_views')
      .where(viewerIs(dashboardId, viewer))
      .where('id', '=', viewId)
      .executeTakeFirst();
    return result.numDeletedRows === 1n;
  },
});
