/** Parts of statements that several stores use. */
import type { ExpressionBuilder, ExpressionWrapper, InsertResult, Kysely, SqlBool, UpdateResult } from 'kysely';
import type { Owner, Viewer } from '../../model/dashboard/metric.js';
import { Refusal } from '../../model/refusal.js';
import type { JsonText, Tables } from './tables.js';

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

/**
 * Matches what PostgreSQL cannot store in JSON: an escaped NUL or half of a surrogate pair. `\\u0000`, an escaped
 * backslash followed by letters, does not match.
 */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Encodes a value for a jsonb column. Throws if a text in it cannot be stored in PostgreSQL. */
export const jsonb = (value: object): JsonText => {
  const text = JSON.stringify(value);
  if (unstorable.test(text)) {
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      'The request holds text with a NUL character or half of a surrogate pair: send well-formed Unicode without U+0000.',
      { reason: 'text-not-storable' },
    );
  }
  return text as JsonText;
};

/** As `jsonb`; null is stored as SQL NULL. */
export const nullableJsonb = (value: object | null): JsonText | null => (value === null ? null : jsonb(value));

type Held = 'datasources' | 'workspaces' | 'dashboards';

/** `hold` is shared: those who refer to a row do not wait for each other. `lock` waits for all of them. */
export const createHolds = (db: Kysely<Tables>, table: Held) => {
  // All three have this column, which is all that the statements below name.
  const rows = (id: string) =>
    db
      .selectFrom(table as 'datasources')
      .select('id')
      .where('id', '=', id);
  return {
    /** Prevents deletion of the row until the transaction ends. Returns false if it does not exist. */
    hold: async (id: string): Promise<boolean> => (await rows(id).forKeyShare().executeTakeFirst()) !== undefined,
    /** Waits for those who hold the row, and then keeps others from holding it until the transaction ends. */
    lock: async (id: string): Promise<boolean> => (await rows(id).forUpdate().executeTakeFirst()) !== undefined,
  };
};

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
