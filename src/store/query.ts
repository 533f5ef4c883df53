/** Runs `work` in the transaction that `db` is in, or in one of its own. */
import type { ExpressionBuilder, ExpressionWrapper, InsertResult, Kysely, SqlBool, UpdateResult } from 'kysely';
import type { Owner, Viewer } from '../domain/dashboard/metric.js';
import type { Tables } from './tables.js';
export const inTransaction = <T>(db: Kysely<Tables>, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

/** Whether the row was written: `on conflict do nothing` writes none for a name that is taken. */
export const wasInserted = ({ numInsertedOrUpdatedRows }: InsertResult): boolean => numInsertedOrUpdatedRows === 1n;

/** Throws where the row to update is gone: the write would be lost in silence. */
export const assertUpdated = ({ numUpdatedRows }: UpdateResult, what: string): void => {
  if (numUpdatedRows !== 1n) throw new Error(`${what} to update does not exist (any more).`);
};

/** The organization's rows, and the data app's own where one is given. For `where`. */
export const visibleTo =
  (dataAppId: string | null) =>
  (
    eb: ExpressionBuilder<Tables, 'dashboards' | 'metrics'>,
  ): ExpressionWrapper<Tables, 'dashboards' | 'metrics', SqlBool> =>
    dataAppId === null
      ? eb('data_app_id', 'is', null)
      : eb.or([eb('data_app_id', 'is', null), eb('data_app_id', '=', dataAppId)]);

type OwnerRow = { readonly data_app_id: string | null; readonly client_id: string | null };

export const encodeOwner = (owner: Owner | null): OwnerRow => ({
  data_app_id: owner?.dataAppId ?? null,
  client_id: owner?.clientId ?? null,
});

export const decodeOwner = ({ data_app_id: dataAppId, client_id: clientId }: OwnerRow): Owner | null =>
  dataAppId === null || clientId === null ? null : { dataAppId, clientId };

/** The row keeps its owner: one that has another is not there to update. For `where`. */
export const ownedBy =
  (owner: Owner | null) =>
  (
    eb: ExpressionBuilder<Tables, 'dashboards' | 'metrics'>,
  ): ExpressionWrapper<Tables, 'dashboards' | 'metrics', SqlBool> =>
    eb.and([
      eb('data_app_id', 'is not distinct from', owner?.dataAppId ?? null),
      eb('client_id', 'is not distinct from', owner?.clientId ?? null),
    ]);

/** Whether a write failed because another row has the name: PostgreSQL's `unique_violation`. A transaction it was in is lost. */
export const isNameTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

/** The columns that say whose a layout or view is. */
export const viewerColumns = (dashboardId: string, { dataAppId, clientId, userIdentifier }: Viewer) => ({
  dashboard_id: dashboardId,
  data_app_id: dataAppId,
  client_id: clientId,
  user_identifier: userIdentifier ?? '',
});

/** The row is of this viewer on this dashboard. For `where`. */
export const viewerIs =
  (dashboardId: string, viewer: Viewer) =>
  (
    eb: ExpressionBuilder<Tables, 'guest_layouts' | 'guest_views'>,
  ): ExpressionWrapper<Tables, 'guest_layouts' | 'guest_views', SqlBool> => {
    const columns = viewerColumns(dashboardId, viewer);
    return eb.and([
      eb('dashboard_id', '=', columns.dashboard_id),
      eb('data_app_id', '=', columns.data_app_id),
      eb('client_id', '=', columns.client_id),
      eb('user_identifier', '=', columns.user_identifier),
    ]);
  };
