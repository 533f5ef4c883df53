import type { Kysely } from 'kysely';
import { wasInserted } from './query.js';
import type { Tables } from './tables.js';

/**
 * Makes `name` stand for the dashboard within the data app, and answers false where it stands for another one. So an embed
 * id and a dashboard id can be the same only where they mean the same dashboard.
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
