import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.js';

/** The time at which a credential was used. */
export type LastUse = {
  readonly kind: 'apiKey' | 'serviceToken' | 'guestToken';
  readonly id: string;
  readonly at: Date;
};

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

export const createLastUseStore = (db: Kysely<Tables>) => ({
  write: async (uses: readonly LastUse[]) => {
    if (uses.length === 0) return;
    const rows = JSON.stringify(uses.map(({ kind, id, at }) => ({ kind, id, at: at.toISOString() })));
    await sql`
      with used as (select * from jsonb_to_recordset(${rows}::jsonb) as entry(kind text, id text, at timestamptz)),
      keys as (${update('apiKey')}),
      service as (${update('serviceToken')})
      ${update('guestToken')}`.execute(db);
  },
});

/**
 * Writes the uses in one statement. A later stored time is kept. A row that another transaction is writing is skipped.
 */
export type LastUseStore = ReturnType<typeof createLastUseStore>;
