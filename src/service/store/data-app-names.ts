import type { Kysely } from 'kysely';
import { wasInserted } from './query.js';
import type { Tables } from './tables.js';

/**
 * Reserves `name` for the dashboard in the data app's namespace. Returns false if the name belongs to another
 * dashboard. Embeds and dashboards share this namespace, so an embed id and a dashboard id can only be equal if both
 * mean the same dashboard.
 */
export const takeName = async (
  db: Kysely<Tables>,
  dataAppId: string,
  name: string,
  dashboardId: string,
): Promise<boolean> =>
  wasInserted(
    await db
      .insertInto('data_app_names')
      .values({ data_app_id: dataAppId, name, dashboard_id: dashboardId })
      .onConflict((oc) =>
        oc
          .columns(['data_app_id', 'name'])
          .doUpdateSet({ name })
          .where('data_app_names.dashboard_id', '=', dashboardId),
      )
      .executeTakeFirst(),
  );
