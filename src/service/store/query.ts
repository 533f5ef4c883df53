/** Parts of statements that several stores use. */
import type { ExpressionBuilder, ExpressionWrapper, InsertResult, Kysely, SqlBool, UpdateResult } from 'kysely';
import type { Owner, Viewer } from '../../model/dashboard/metric.js';
import type { Tables } from './tables.js';

/** Runs `work` in the transaction of `db`, or in a new one if `db` is in none. */
export const inTransaction = <T>(db: Kysely<Tables>, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

/** Whether a row was inserted. With `on conflict do nothing`, none is inserted if the name is taken. */
export const wasInserted = ({ numInsertedOrUpdatedRows }: InsertResult): boolean => numInsertedOrUpdatedRows === 1n;

/** Throws if no row was updated: the row was deleted, and the write would be lost. */
export const assertUpdated = ({ numUpdatedRows }: UpdateResult, what: string): void => {
  if (numUpdatedRows !== 1n) throw new Error(`${what} to update does not exist (any more).`);
};

/** Condition for `where`: rows of the organization and, if given, of the data app. */
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

/** Condition for `where`: rows of exactly this owner. An update therefore never changes the owner of a row. */
export const ownedBy =
  (owner: Owner | null) =>
  (
    eb: ExpressionBuilder<Tables, 'dashboards' | 'metrics'>,
  ): ExpressionWrapper<Tables, 'dashboards' | 'metrics', SqlBool> =>
    eb.and([
      eb('data_app_id', 'is not distinct from', owner?.dataAppId ?? null),
      eb('client_id', 'is not distinct from', owner?.clientId ?? null),
    ]);

/**
 * Whether a write failed because a name is taken (PostgreSQL's `unique_violation`). A transaction that it ran in must
 * be rolled back.
 */
export const isNameTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

/** The columns that identify the viewer of a layout or a view. */
export const viewerColumns = (dashboardId: string, { dataAppId, clientId, userIdentifier }: Viewer) => ({
  dashboard_id: dashboardId,
  data_app_id: dataAppId,
  client_id: clientId,
  user_identifier: userIdentifier ?? '',
});

/** Condition for `where`: rows of this viewer on this dashboard. */
export const viewerIs =
  (dashboardId: string, viewer: Viewer) =>
  (
    eb: ExpressionBuilder<Tables, 'guest_layouts' | 'guest_views' | 'guest_boards'>,
  ): ExpressionWrapper<Tables, 'guest_layouts' | 'guest_views' | 'guest_boards', SqlBool> =>
    eb.and([
      viewerClientIs(dashboardId, viewer)(eb),
      eb('user_identifier', '=', viewerColumns(dashboardId, viewer).user_identifier),
    ]);

/** Condition for `where`: rows of all users of the viewer's client on this dashboard. */
export const viewerClientIs =
  (dashboardId: string, viewer: Viewer) =>
  (
    eb: ExpressionBuilder<Tables, 'guest_layouts' | 'guest_views' | 'guest_boards'>,
  ): ExpressionWrapper<Tables, 'guest_layouts' | 'guest_views' | 'guest_boards', SqlBool> => {
    const columns = viewerColumns(dashboardId, viewer);
    return eb.and([
      eb('dashboard_id', '=', columns.dashboard_id),
      eb('data_app_id', '=', columns.data_app_id),
      eb('client_id', '=', columns.client_id),
    ]);
  };

/** Condition for `where`: the viewer's own rows, and those shared with the users of the viewer's client. */
export const isListedFor =
  (dashboardId: string, viewer: Viewer) =>
  (
    eb: ExpressionBuilder<Tables, 'guest_views' | 'guest_boards'>,
  ): ExpressionWrapper<Tables, 'guest_views' | 'guest_boards', SqlBool> =>
    eb.or([
      viewerIs(dashboardId, viewer)(eb),
      eb.and([viewerClientIs(dashboardId, viewer)(eb), eb('is_shared', '=', true)]),
    ]);
