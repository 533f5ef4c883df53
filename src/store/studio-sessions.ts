import type { Kysely, Selectable } from 'kysely';
import type { Sealed } from '../domain/brand.js';
import type { Sealer } from '../domain/ports.js';
import type { StudioSessionStore } from '../domain/store/credentials.js';
import type { IssuerToken, StudioSession } from '../domain/studio/person.js';
import { jsonb } from './document.js';
import type { Tables } from './tables.js';

type Row = Omit<Selectable<Tables['studio_sessions']>, 'issuer_token'>;

const decode = (row: Row): StudioSession => ({
  id: row.id,
  hash: row.hash,
  person: row.person,
  createdAt: row.created_at,
  usedAt: row.used_at,
  expiresAt: row.expires_at,
  vouchedAt: row.vouched_at,
  askedAt: row.asked_at,
});

/** All but the token, which only a re-check needs. */
const columns = [
  ...(['id', 'hash', 'issuer', 'subject', 'person'] as const),
  ...(['created_at', 'used_at', 'expires_at', 'vouched_at', 'asked_at'] as const),
] as const;

export const issuerTokenContext = (sessionId: string): string => `${sessionId}/issuer-token`;

const sealedToken = (sealer: Sealer, id: string, token: IssuerToken): Sealed =>
  sealer.seal(JSON.stringify(token), issuerTokenContext(id));

/** What re-checks read and write. */
const createRechecks = (
  db: Kysely<Tables>,
  sealer: Sealer,
): Pick<StudioSessionStore, 'findIssuerToken' | 'beginRecheck' | 'noteRecheck'> => ({
  findIssuerToken: async (id) => {
    const of = db.selectFrom('studio_sessions').select('issuer_token').where('id', '=', id);
    const token = (await of.executeTakeFirst())?.issuer_token ?? null;
    return token === null ? undefined : (JSON.parse(sealer.open(token, issuerTokenContext(id))) as IssuerToken);
  },
  beginRecheck: async (id, before, now) => {
    const one = db.updateTable('studio_sessions').set({ asked_at: now }).where('id', '=', id);
    const { numUpdatedRows } = await one.where('asked_at', 'is not distinct from', before).executeTakeFirst();
    return numUpdatedRows === 1n;
  },
  noteRecheck: async (id, issuerToken, vouched) => {
    const told = vouched === null ? {} : { person: jsonb(vouched.person), vouched_at: vouched.at };
    const change = { issuer_token: sealedToken(sealer, id, issuerToken), ...told };
    const { numUpdatedRows } = await db
      .updateTable('studio_sessions')
      .set(change)
      .where('id', '=', id)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  },
});

export const createStudioSessionStore = (db: Kysely<Tables>, sealer: Sealer): StudioSessionStore => {
  const find = async (by: 'id' | 'hash', value: string): Promise<StudioSession | undefined> => {
    const row = await db.selectFrom('studio_sessions').select(columns).where(by, '=', value).executeTakeFirst();
    return row && decode(row);
  };
  return {
    insert: async ({ id, hash, person, createdAt, usedAt, expiresAt, vouchedAt, askedAt }, issuerToken) => {
      const { issuer, subject } = person;
      const times = { created_at: createdAt, used_at: usedAt, expires_at: expiresAt };
      const checks = { vouched_at: vouchedAt, asked_at: askedAt };
      const issuer_token = issuerToken === null ? null : sealedToken(sealer, id, issuerToken);
      const row = { id, hash, issuer, subject, person: jsonb(person), ...times, ...checks, issuer_token };
      await db.insertInto('studio_sessions').values(row).execute();
    },
    findByHash: (hash) => find('hash', hash),
    findById: (id) => find('id', id),
    listOf: async (issuer) => {
      const of = db.selectFrom('studio_sessions').select(columns).where('issuer', '=', issuer);
      return (await of.orderBy('subject').orderBy('id').execute()).map(decode);
    },
    listLive: async (moment) => {
      const live = db.selectFrom('studio_sessions').select(columns).where('expires_at', '>', moment);
      return (await live.orderBy('issuer').orderBy('subject').orderBy('id').execute()).map(decode);
    },
    noteUse: async (id, now) => {
      await db.updateTable('studio_sessions').set({ used_at: now }).where('id', '=', id).execute();
    },
    ...createRechecks(db, sealer),
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
