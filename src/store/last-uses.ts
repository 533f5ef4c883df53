import { type Kysely, sql } from 'kysely';
import type { LastUse, LastUseStore } from '../domain/store/credentials.js';
import type { Tables } from './tables.js';

const tables: Readonly<Record<LastUse['kind'], string>> = {
  apiKey: 'guestlist.api_keys',
  serviceToken: 'guestlist.service_tokens',
  guestToken: 'guestlist.guest_tokens',
};

/**
 * Skips locked rows. Waiting for them could deadlock with a revocation, or with another process that updates the same
 * rows in another order.
 */
const update = (kind: LastUse['kind']) => sql`
  update ${sql.table(tables[kind])} as credential set last_used_at = used.at
  from used
  where credential.id = used.id and used.kind = ${kind} and credential.id in (
    select unwritten.id from ${sql.table(tables[kind])} as unwritten join used on used.id = unwritten.id
    where used.kind = ${kind} and (unwritten.last_used_at is null or unwritten.last_used_at < used.at)
    for no key update of unwritten skip locked
  )`;

export const createLastUseStore = (db: Kysely<Tables>): LastUseStore => ({
  write: async (uses) => {
    if (uses.length === 0) return;
    const rows = JSON.stringify(uses.map(({ kind, id, at }) => ({ kind, id, at: at.toISOString() })));
    await sql`
      with used as (select * from jsonb_to_recordset(${rows}::jsonb) as entry(kind text, id text, at timestamptz)),
      keys as (${update('apiKey')}),
      service as (${update('serviceToken')})
      ${update('guestToken')}`.execute(db);
  },
});
