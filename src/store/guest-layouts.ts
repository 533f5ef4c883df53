import type { Kysely } from 'kysely';
import type { GuestLayoutStore } from '../domain/store/dashboards.js';
import { jsonb } from './document.js';
import { viewerColumns, viewerIs } from './query.js';
import type { Tables } from './tables.js';

export const createGuestLayoutStore = (db: Kysely<Tables>): GuestLayoutStore => ({
  find: async (dashboardId, viewer) =>
    (await db.selectFrom('guest_layouts').select('layout').where(viewerIs(dashboardId, viewer)).executeTakeFirst())
      ?.layout,
  save: async (dashboardId, viewer, layout) => {
    await db
      .insertInto('guest_layouts')
      .values({ ...viewerColumns(dashboardId, viewer), layout: jsonb(layout) })
      .onConflict((oc) =>
        oc
          .columns(['dashboard_id', 'data_app_id', 'client_id', 'user_identifier'])
          .doUpdateSet({ layout: jsonb(layout) }),
      )
      .execute();
  },
  delete: async (dashboardId, viewer) => {
    await db.deleteFrom('guest_layouts').where(viewerIs(dashboardId, viewer)).execute();
  },
});
