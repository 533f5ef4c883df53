/** A process that writes to the metadata while something else works on it. */
import { sql } from 'kysely';
import type { Database } from '../../src/platform/databases/database.js';
import { on, type Where } from './moving.js';

/** Writes a tenant and its token in one transaction, again and again, until the work has ended. */
export const writeDuring = async <T>(
  database: Database,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly written: number }> => {
  const db = database.connect<unknown>();
  let isEnded = false;
  let written = 0;
  const writing = (async () => {
    while (!isEnded) {
      written += 1;
      const ref = `live-${written}`;
      await db.transaction().execute(async (transaction) => {
        await sql`insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
          values (${ref}, ${ref}, 'active', now(), now())`.execute(transaction);
        await sql`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, grants, created_at)
          values (${ref}, encode(sha256(convert_to(${ref}, 'UTF8')), 'hex'), 'bulk', ${ref}, '{}', now())`.execute(
          transaction,
        );
      });
    }
  })();
  const done = await work().finally(() => {
    isEnded = true;
  });
  await writing;
  return { done, written };
};

/** How many tenants and tokens of that process are there. */
export const liveAt = (place: Where): Promise<readonly [number, number]> =>
  on(place, async (database) => {
    const { rows } = await sql<{ tenants: string; tokens: string }>`
      select (select count(*) from guestlist_gateway.tenants where tenant_ref like 'live-%')::text as tenants,
        (select count(*) from guestlist.guest_tokens where id like 'live-%')::text as tokens`.execute(
      database.connect(),
    );
    return [Number(rows[0]?.tenants), Number(rows[0]?.tokens)];
  });
