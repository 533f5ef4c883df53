import type { Kysely } from 'kysely';
import type { ReportAddressStore } from '../domain/store/deliveries.js';
import type { Tables } from './tables.js';

export const createReportAddressStore = (db: Kysely<Tables>): ReportAddressStore => ({
  ensure: async ({ dataAppId, clientId }, addresses, now) => {
    const rows = addresses.map((row) => ({ ...row, data_app_id: dataAppId, client_id: clientId, created_at: now }));
    if (rows.length === 0) return;
    const insertion = db.insertInto('report_addresses').values(rows);
    await insertion
      .onConflict((conflict) => conflict.columns(['data_app_id', 'client_id', 'digest']).doNothing())
      .execute();
  },
  find: async ({ dataAppId, clientId }, digest) => {
    const row = await db
      .selectFrom('report_addresses')
      .select(['id', 'asked_at', 'confirmed_at'])
      .where('data_app_id', '=', dataAppId)
      .where('client_id', '=', clientId)
      .where('digest', '=', digest)
      .executeTakeFirst();
    return row && { id: row.id, askedAt: row.asked_at, confirmedAt: row.confirmed_at };
  },
  noteAsked: async (id, before, asked) => {
    const one = db.updateTable('report_addresses').set({ asked_at: asked }).where('id', '=', id);
    const unchanged = one.where('asked_at', 'is not distinct from', before);
    return (await unchanged.executeTakeFirst()).numUpdatedRows === 1n;
  },
  confirm: async (id, askedSince, now) => {
    const one = db.updateTable('report_addresses').set({ confirmed_at: now }).where('id', '=', id);
    const open = one.where('confirmed_at', 'is', null).where('asked_at', '>', askedSince);
    return (await open.executeTakeFirst()).numUpdatedRows === 1n;
  },
});
