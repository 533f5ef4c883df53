import type { Kysely, Selectable } from 'kysely';
import type { StudioSessionStore } from '../domain/store/credentials.js';
import type { StudioSession } from '../domain/studio/person.js';
import { jsonb } from './document.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['studio_sessions']>): StudioSession => ({
  id: row.id,
  hash: row.hash,
  person: row.person,
  createdAt: row.created_at,
  usedAt: row.used_at,
  expiresAt: row.expires_at,
});

export const createStudioSessionStore = (db: Kysely<Tables>): StudioSessionStore => {
  const find = async (by: 'id' | 'hash', value: string): Promise<StudioSession | undefined> => {
    const row = await db.selectFrom('studio_sessions').selectAll().where(by, '=', value).executeTakeFirst();
    return row && decode(row);
  };
  return {
    insert: async ({ id, hash, person, createdAt, usedAt, expiresAt }) => {
      const { issuer, subject } = person;
      const times = { created_at: createdAt, used_at: usedAt, expires_at: expiresAt };
      const row = { id, hash, issuer, subject, person: jsonb(person), ...times };
      await db.insertInto('studio_sessions').values(row).execute();
    },
    findByHash: (hash) => find('hash', hash),
    findById: (id) => find('id', id),
    listOf: async (issuer) => {
      const of = db.selectFrom('studio_sessions').selectAll().where('issuer', '=', issuer);
      return (await of.orderBy('subject').orderBy('id').execute()).map(decode);
    },
    noteUse: async (id, now) => {
      await db.updateTable('studio_sessions').set({ used_at: now }).where('id', '=', id).execute();
    },
    end: async (id) => {
      await db.deleteFrom('studio_sessions').where('id', '=', id).execute();
    },
    endAllOf: async ({ issuer, subject }) => {
      const ended = await db
        .deleteFrom('studio_sessions')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .returning('id')
        .execute();
      return ended.length;
    },
    removeExpired: async (moment) => {
      await db.deleteFrom('studio_sessions').where('expires_at', '<', moment).execute();
    },
  };
};
