import type { Kysely, Selectable } from 'kysely';
import type { HashedToken, Sealed } from '../../model/brand.js';
import type { IssuerToken, Person, StudioSession } from '../../model/person.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { knownPerson } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { jsonb } from './query.js';
import type { Tables } from './tables.js';

type Row = Omit<Selectable<Tables['studio_sessions']>, 'issuer_token'>;

const decode = (row: Row): StudioSession => ({
  id: row.id,
  hash: row.hash,
  person: assertKnown(knownPerson, row.person, `session ${row.id}`),
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
const createRechecks = (db: Kysely<Tables>, sealer: Sealer) => ({
  /** Undefined: the session has ended, or nobody can be asked again. */
  findIssuerToken: async (id: string) => {
    const of = db.selectFrom('studio_sessions').select('issuer_token').where('id', '=', id);
    const token = (await of.executeTakeFirst())?.issuer_token ?? null;
    return token === null ? undefined : (JSON.parse(sealer.open(token, issuerTokenContext(id))) as IssuerToken);
  },
  /** Notes that the issuer is asked now. Returns false if another process noted that since `before`. */
  beginRecheck: async (id: string, before: Date | null, now: Date) => {
    const one = db.updateTable('studio_sessions').set({ asked_at: now }).where('id', '=', id);
    const { numUpdatedRows } = await one.where('asked_at', 'is not distinct from', before).executeTakeFirst();
    return numUpdatedRows === 1n;
  },
  /** Keeps what the issuer answered; `vouched` only if it vouched. Returns false if the session has ended meanwhile. */
  noteRecheck: async (
    id: string,
    issuerToken: IssuerToken,
    vouched: { readonly person: Person; readonly at: Date } | null,
  ) => {
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

export const createStudioSessionStore = (db: Kysely<Tables>, sealer: Sealer) => {
  const find = async (by: 'id' | 'hash', value: string): Promise<StudioSession | undefined> => {
    const row = await db.selectFrom('studio_sessions').select(columns).where(by, '=', value).executeTakeFirst();
    return row && decode(row);
  };
  return {
    insert: async (
      { id, hash, person, createdAt, usedAt, expiresAt, vouchedAt, askedAt }: StudioSession,
      issuerToken: IssuerToken | null,
    ) => {
      const { issuer, subject } = person;
      const times = { created_at: createdAt, used_at: usedAt, expires_at: expiresAt };
      const checks = { vouched_at: vouchedAt, asked_at: askedAt };
      const issuer_token = issuerToken === null ? null : sealedToken(sealer, id, issuerToken);
      const row = { id, hash, issuer, subject, person: jsonb(person), ...times, ...checks, issuer_token };
      await db.insertInto('studio_sessions').values(row).execute();
    },
    findByHash: (hash: HashedToken) => find('hash', hash),
    findById: (id: string) => find('id', id),
    /** Returns the sessions of everybody for whom the issuer vouched, ordered by subject. */
    listOf: async (issuer: string): Promise<readonly StudioSession[]> => {
      const of = db.selectFrom('studio_sessions').select(columns).where('issuer', '=', issuer);
      return (await of.orderBy('subject').orderBy('id').execute()).map(decode);
    },
    /** Returns the sessions of everybody that expire after `moment`, ordered by issuer and subject. */
    listLive: async (moment: Date): Promise<readonly StudioSession[]> => {
      const live = db.selectFrom('studio_sessions').select(columns).where('expires_at', '>', moment);
      return (await live.orderBy('issuer').orderBy('subject').orderBy('id').execute()).map(decode);
    },
    noteUse: async (id: string, now: Date) => {
      await db.updateTable('studio_sessions').set({ used_at: now }).where('id', '=', id).execute();
    },
    ...createRechecks(db, sealer),
    end: async (id: string) => {
      await db.deleteFrom('studio_sessions').where('id', '=', id).execute();
    },
    /** Ends every session of the person. Returns how many there were. */
    endAllOf: async ({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>) => {
      const ended = await db
        .deleteFrom('studio_sessions')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .returning('id')
        .execute();
      return ended.length;
    },
    /** Removes the sessions that expired before `moment`. */
    removeExpired: async (moment: Date) => {
      await db.deleteFrom('studio_sessions').where('expires_at', '<', moment).execute();
    },
  };
};

/** Stores logins to Studio. Expired ones are returned too: the caller compares them with its own clock. */
export type StudioSessionStore = ReturnType<typeof createStudioSessionStore>;
