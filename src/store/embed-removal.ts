import { type Kysely, sql } from 'kysely';
import { jsonb } from './document.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';

const allowed = sql`(grants -> 'allowedEmbeds')`;

/**
 * Takes the embeds out of the lists of the data app's guest tokens: an id must not come back to a token with another embed.
 * A list that would run empty opens nothing, and its token goes.
 */
const takeFromTokens = async (db: Kysely<Tables>, dataAppId: string, embedIds: readonly string[]): Promise<void> => {
  // One value, however many there are: statements have a limit of parameters.
  const ids = sql`${jsonb(embedIds)}::jsonb`;
  const names = sql`array(select jsonb_array_elements_text(${ids}))`;
  await db
    .deleteFrom('guest_tokens')
    .where('data_app_id', '=', dataAppId)
    .where(sql<boolean>`${allowed} <> '[]'::jsonb and ${allowed} <@ ${ids}`)
    .execute();
  await db
    .updateTable('guest_tokens')
    .set({ grants: sql`jsonb_set(grants, '{allowedEmbeds}', ${allowed} - ${names})` })
    .where('data_app_id', '=', dataAppId)
    .where(sql<boolean>`${allowed} ?| ${names}`)
    .execute();
};

/** Removes every data app's embeds that name the datamart, with the guest tokens that name no other embed. */
export const removeEmbedsByDatamart = (db: Kysely<Tables>, datamartName: string): Promise<void> =>
  inTransaction(db, async (transaction) => {
    const removed = await transaction
      .deleteFrom('embeds')
      .where(sql<boolean>`access_settings ->> 'datamartName' = ${datamartName}`)
      .returning(['data_app_id', 'embed_id'])
      .execute();
    for (const dataAppId of new Set(removed.map(({ data_app_id }) => data_app_id))) {
      const own = removed.filter((row) => row.data_app_id === dataAppId);
      await takeFromTokens(
        transaction,
        dataAppId,
        own.map(({ embed_id }) => embed_id),
      );
    }
  });
