import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Owner } from '../../model/dashboard/metric.js';
import type { ErasedClient } from '../../model/organization.js';
import { tenantRecipient } from '../../model/schedule/host-schedule.js';
import { among, deleteSlices, isFound, rowPlace } from './list-rows.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';
import { forgetUsageOf } from './usage.js';

/** `number` rises with each process that takes the erasure over. `gateway` is the deployment that counts, if it has a name. */
type ErasureFence = { readonly gateway: string | null; readonly number: number };

export const createClientStore = (db: Kysely<Tables>) => ({
  /**
   * Deletes everything that the data app holds for the client, in one transaction. Afterwards no row names the client:
   * mints and writes of its guests that run at the same time also leave no row. Deletes nothing, and returns `late`, if
   * the same gateway erased the client with a larger fence lately.
   */
  erase: (dataAppId: string, clientId: string, fence?: ErasureFence) =>
    inTransaction(db, (transaction) => erase(transaction, dataAppId, clientId, fence)),
});

export type ClientStore = ReturnType<typeof createClientStore>;

const nothing: ErasedClient = {
  dashboards: 0,
  embeds: 0,
  metrics: 0,
  guestMetrics: 0,
  guestLayouts: 0,
  guestViews: 0,
  guestBoards: 0,
  schedules: 0,
  guestTokens: 0,
};

/**
 * Locks the data app and counts the erasure. Every write for a client also locks its data app until the write commits,
 * so each such write is either committed before the erasure reads, or starts after it. The count tells mints that began
 * before the erasure that they are too late. Returns false if the data app does not exist, and `late`, without counting,
 * if a process with a larger fence was here.
 */
const lockDataApp = async (
  db: Kysely<Tables>,
  dataAppId: string,
  clientId: string,
  fence: ErasureFence | undefined,
): Promise<boolean | 'late'> => {
  const held = db.selectFrom('data_apps').select('id').where('id', '=', dataAppId).forUpdate();
  if ((await held.executeTakeFirst()) === undefined) return false;
  if (fence !== undefined && (await isLate(db, { dataAppId, clientId }, fence))) return 'late';
  await sql`
    with counted as (
      update guestlist.data_apps set erasures = erasures + 1 where id = ${dataAppId} returning erasures
    ), forgotten as (
      delete from guestlist.client_erasures where erased_at < now() - interval '1 day'
    )
    insert into guestlist.client_erasures (data_app_id, number, salt, digest, erased_at, gateway, fence)
    select ${dataAppId}, erasures, salt, ${digestOf(clientId)}, now(), ${fence?.gateway ?? null}, ${fence?.number ?? null}::bigint
    from counted, (select gen_random_uuid()::text as salt) as salted`.execute(db);
  return true;
};

/** The client's digest. Each row has its own salt. */
const digestOf = (clientId: string): RawBuilder<string> =>
  sql<string>`encode(sha256(convert_to(salt || ${clientId}::text, 'UTF8')), 'hex')`;

const isLate = async (
  db: Kysely<Tables>,
  { dataAppId, clientId }: Owner,
  { gateway, number }: ErasureFence,
): Promise<boolean> => {
  const { rows } = await sql`
    select from guestlist.client_erasures
    where data_app_id = ${dataAppId} and gateway is not distinct from ${gateway}::text and fence > ${number}::bigint
      and digest = ${digestOf(clientId)} limit 1`.execute(db);
  return rows.length > 0;
};

/** Returns whether the client was erased after the erasure count of its data app was `erasures`. */
export const wasErasedSince = async (
  db: Kysely<Tables>,
  { dataAppId, clientId }: Owner,
  erasures: string,
): Promise<boolean> => {
  const { rows } = await sql`
    select from guestlist.client_erasures
    where data_app_id = ${dataAppId} and number > ${erasures}::bigint and digest = ${digestOf(clientId)}`.execute(db);
  return rows.length > 0;
};

/**
 * Locks the client's dashboards, embeds and tokens, in this order, which the deletion of a dashboard also uses; another
 * order could deadlock. Returns how many embeds will be deleted.
 */
const lockBoards = async (db: Kysely<Tables>, dataAppId: string, clientId: string): Promise<number> => {
  const boards = db
    .selectFrom('dashboards')
    .select('id')
    .where('data_app_id', '=', dataAppId)
    .where('client_id', '=', clientId);
  const metrics = db
    .selectFrom('metrics')
    .select('metric_id')
    .where('data_app_id', '=', dataAppId)
    .where('client_id', '=', clientId);
  await boards.orderBy('id').forUpdate().execute();
  const embeds = await db
    .selectFrom('embeds')
    .select('embed_id')
    .where((eb) => eb.or([isFound('dashboard_id', boards), isFound('metric_id', metrics)]))
    .orderBy('embed_id')
    .forUpdate()
    .execute();
  return embeds.length;
};

type ClientTable =
  | 'dashboards'
  | 'metrics'
  | 'guest_metrics'
  | 'guest_layouts'
  | 'guest_views'
  | 'guest_boards'
  | 'schedules'
  | 'guest_tokens';

const erase = async (
  db: Kysely<Tables>,
  dataAppId: string,
  clientId: string,
  fence: ErasureFence | undefined,
): Promise<ErasedClient | 'late'> => {
  const locked = await lockDataApp(db, dataAppId, clientId, fence);
  if (locked !== true) return locked === 'late' ? locked : nothing;
  const embeds = await lockBoards(db, dataAppId, clientId);
  const remove = async (table: ClientTable): Promise<number> => {
    const own = db.deleteFrom(table).where('data_app_id', '=', dataAppId).where('client_id', '=', clientId);
    const some = db
      .selectFrom(table)
      .select(rowPlace)
      .where('data_app_id', '=', dataAppId)
      .where('client_id', '=', clientId);
    return deleteSlices(async (limit) => {
      const deletion = limit === null ? own : own.where(among(some.limit(limit)));
      return Number((await deletion.executeTakeFirst()).numDeletedRows);
    });
  };
  const erased = {
    guestMetrics: await remove('guest_metrics'),
    guestLayouts: await remove('guest_layouts'),
    guestViews: await remove('guest_views'),
    guestBoards: await remove('guest_boards'),
    // Their deliveries go with them.
    schedules: await remove('schedules'),
    // Metrics are deleted before dashboards: the deletion of a dashboard would delete its metrics, and they would not
    // be counted.
    metrics: await remove('metrics'),
    dashboards: await remove('dashboards'),
    guestTokens: await remove('guest_tokens'),
    embeds,
  };
  // Deliveries of host's schedules went with the dashboards; who ended theirs, and what alerts found, is named with its tenant.
  for (const table of ['schedule_stops', 'alert_states'] as const) {
    await sql`
      delete from ${sql.table(`guestlist.${table}`)} using guestlist.schedules
      where schedules.id = schedule_id and schedules.data_app_id = ${dataAppId} and schedules.client_id = ''
        and starts_with(recipient, ${tenantRecipient(clientId, '').slice(0, -2)})`.execute(db);
  }
  for (const table of ['report_addresses', 'revocation_epochs', 'client_holds'] as const) {
    await db.deleteFrom(table).where('data_app_id', '=', dataAppId).where('client_id', '=', clientId).execute();
  }
  await forgetUsageOf(db, dataAppId, clientId, digestOf(clientId));
  return erased;
};
