import type { Kysely } from 'kysely';
import type { KnownAddress } from '../../model/schedule/recipients.js';
import type { ScheduleOwner } from '../../model/schedule/schedule.js';
import type { Tables } from './tables.js';

export const createReportAddressStore = (db: Kysely<Tables>) => ({
  /** Leaves out those that are known. */
  ensure: async (
    { dataAppId, clientId }: Pick<ScheduleOwner, 'dataAppId' | 'clientId'>,
    addresses: readonly { readonly id: string; readonly digest: string }[],
    now: Date,
  ) => {
    const rows = addresses.map((row) => ({ ...row, data_app_id: dataAppId, client_id: clientId, created_at: now }));
    if (rows.length === 0) return;
    const insertion = db.insertInto('report_addresses').values(rows);
    await insertion
      .onConflict((conflict) => conflict.columns(['data_app_id', 'client_id', 'digest']).doNothing())
      .execute();
  },
  find: async (
    { dataAppId, clientId }: Pick<ScheduleOwner, 'dataAppId' | 'clientId'>,
    digest: string,
  ): Promise<KnownAddress | undefined> => {
    const row = await db
      .selectFrom('report_addresses')
      .select(['id', 'asked_at', 'confirmed_at'])
      .where('data_app_id', '=', dataAppId)
      .where('client_id', '=', clientId)
      .where('digest', '=', digest)
      .executeTakeFirst();
    return row && { id: row.id, askedAt: row.asked_at, confirmedAt: row.confirmed_at };
  },
  /**
   * Notes when the address was last asked, if that is still as in `before`. Returns false if it was asked, or not
   * asked, since: of two messages that ask one mailbox at the same time, one goes.
   */
  noteAsked: async (id: string, before: Date | null, asked: Date | null) => {
    const one = db.updateTable('report_addresses').set({ asked_at: asked }).where('id', '=', id);
    const unchanged = one.where('asked_at', 'is not distinct from', before);
    return (await unchanged.executeTakeFirst()).numUpdatedRows === 1n;
  },
  /** Confirms an address that was asked since that time. Returns false for another one, and if it was confirmed before. */
  confirm: async (id: string, askedSince: Date, now: Date) => {
    const one = db.updateTable('report_addresses').set({ confirmed_at: now }).where('id', '=', id);
    const open = one.where('confirmed_at', 'is', null).where('asked_at', '>', askedSince);
    return (await open.executeTakeFirst()).numUpdatedRows === 1n;
  },
});

/** Addresses without an account, by client and by a keyed digest. They themselves are in the schedules only. */
export type ReportAddressStore = ReturnType<typeof createReportAddressStore>;
