import type { Kysely } from 'kysely';
import type { Viewer } from '../../model/dashboard/metric.js';
import type { GuestLayout } from '../../model/guest/layout.js';
import { jsonb, viewerColumns, viewerIs } from './query.js';
import type { Tables } from './tables.js';

export const createGuestLayoutStore = (db: Kysely<Tables>) => ({
  find: async (dashboardId: string, viewer: Viewer) =>
    (await db.selectFrom('guest_layouts').select('layout').where(viewerIs(dashboardId, viewer)).executeTakeFirst())
      ?.layout,
  save: async (dashboardId: string, viewer: Viewer, layout: GuestLayout) => {
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
  /** Removes this viewer's own layout, if there is one. */
  delete: async (dashboardId: string, viewer: Viewer) => {
    await db.deleteFrom('guest_layouts').where(viewerIs(dashboardId, viewer)).execute();
  },
});

/** Layouts of dashboards, one for each viewer. */
export type GuestLayoutStore = ReturnType<typeof createGuestLayoutStore>;
