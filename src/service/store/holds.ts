/** Row locks that keep a row from being deleted while something is stored that refers to it. */
import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

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
