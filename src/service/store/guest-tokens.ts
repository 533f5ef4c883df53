import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { ContentRevision, Epoch, HashedToken } from '../../model/brand.js';
import type { ListedGuestToken } from '../../model/credentials.js';
import { noColumnRules } from '../../model/datamart/column-rules.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { Page } from '../../model/page.js';
import { noQuota } from '../../model/quota.js';
import { mapItems, type Slices } from '../../model/slices.js';
import { createLru } from '../../platform/work/lru.js';
import { wasErasedSince } from './clients.js';
import { knownGrant, knownToken } from './known-content.js';
import { assertKnown } from './known-fields.js';
import { listRows } from './list-rows.js';
import { isGrantHidden } from './previous-release.js';
import { inTransaction, jsonb } from './query.js';
import { clientEpoch, isEpochCurrent, type Revocation, revokeGuestTokens } from './revocations.js';
import type { GrantDocument, Tables } from './tables.js';

/** The data app, client and user of a guest token, as revocations name them. */
export type TokenSubject = Pick<GuestGrant, 'dataAppId' | 'clientId' | 'userIdentifier'>;

type Found = GuestGrant & { readonly hash: HashedToken; readonly epoch: Epoch; readonly revision: ContentRevision };
type FoundRow = Selectable<Tables['guest_tokens']> & {
  readonly client_epoch: Epoch;
  readonly content_revision: ContentRevision;
};

const tokenOf = ({ id }: FoundRow): string => `guest token ${id}`;

/** Throws if a newer release stored the token, with a part that this one does not know. */
const decode = (row: FoundRow): Found => ({
  ...assertKnown(knownGrant, assertKnown(knownToken, row, tokenOf(row)).grants, tokenOf(row)),
  hash: row.hash,
  id: row.id,
  dataAppId: row.data_app_id,
  clientId: row.client_id,
  userIdentifier: row.user_identifier,
  datamartId: row.datamart_id,
  // Grants of earlier versions lack these fields.
  datasourceId: row.grants.datasourceId ?? null,
  columnRules: row.grants.columnRules ?? noColumnRules,
  quota: row.grants.quota ?? noQuota,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  epoch: row.client_epoch,
  revision: row.content_revision,
});

const encode = (
  hash: HashedToken,
  grant: GuestGrant,
  epoch: Epoch,
  gateway: string | null,
): Insertable<Tables['guest_tokens']> => {
  const { id, dataAppId, clientId, userIdentifier, datamartId, createdAt, expiresAt, ...rest } = grant;
  return {
    id,
    hash,
    data_app_id: dataAppId,
    client_id: clientId,
    user_identifier: userIdentifier,
    datamart_id: datamartId,
    grants: jsonb(rest satisfies GrantDocument),
    created_at: createdAt,
    expires_at: expiresAt,
    epoch: isGrantHidden(grant) ? hiddenEpoch(sumOf(epoch)) : sumOf(epoch),
    gateway,
  };
};

/**
 * An epoch is `sum/erasures`. The sum is stored with a token and compared later; the data app's count of erasures
 * matters only during the mint.
 */
const sumOf = (epoch: Epoch): Epoch => (epoch.split('/')[0] ?? epoch) as Epoch;
/** No sum is negative, so the previous release finds no such token. `isEpochCurrent` turns it back. */
const hiddenEpoch = (sum: Epoch): Epoch => String(-1n - BigInt(sum)) as Epoch;
const erasuresOf = (epoch: Epoch): string => epoch.split('/')[1] ?? '0';

/**
 * Returns `findByHash` or `findById`. The statement is compiled once, since every request of a guest runs it and compiling
 * takes as long as running it.
 */
const createFind = <Name extends 'hash' | 'id'>(db: Kysely<Tables>, name: Name) => {
  type Value = FoundRow[Name];
  const write = (value: Value) =>
    db
      .selectFrom('guest_tokens')
      .where(isEpochCurrent())
      .selectAll()
      .select([clientEpoch().as('client_epoch'), contentRevision().as('content_revision')])
      .where(name as 'id', '=', value as string)
      .compile();
  let written: ReturnType<typeof write> | undefined;
  return async (value: Value): Promise<Found | undefined> => {
    written ??= write(value);
    const { rows } = await db.executeQuery<FoundRow>({ ...written, parameters: [value] });
    const [row] = rows;
    return row && decode(row);
  };
};

const contentRevision = () => sql<ContentRevision>`(select revision::text from guestlist.content_revision)`;

/** The tokens that are neither revoked nor erased. */
const goodTokens = (db: Kysely<Tables>) => db.selectFrom('guest_tokens').where(isEpochCurrent());

type LiveTokens = {
  readonly dataAppId: string;
  readonly clientId?: string | undefined;
  readonly userIdentifier?: string | undefined;
  /** The SHA-256 of one token. */
  readonly tokenDigest?: string | undefined;
  readonly now: Date;
};

const listLive = (
  db: Kysely<Tables>,
  { dataAppId, clientId, userIdentifier, tokenDigest, now }: LiveTokens,
  wanted: Page | null,
): Slices<ListedGuestToken> => {
  const live = goodTokens(db)
    .select(['id', 'client_id', 'created_at', 'expires_at', 'last_used_at'])
    .where('data_app_id', '=', dataAppId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .$if(clientId !== undefined, (query) => query.where('client_id', '=', clientId ?? ''))
    .$if(userIdentifier !== undefined, (query) => query.where('user_identifier', '=', userIdentifier ?? ''))
    .$if(tokenDigest !== undefined, (query) => query.where('hash', '=', tokenDigest as HashedToken));
  return mapItems(listRows(live, ['created_at', 'id'], wanted), (row) => ({
    id: row.id,
    clientId: row.client_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }));
};

/** The statement that finds a token also checks its epoch, so no revocation can happen between the two. */
export const createGuestTokenStore = (db: Kysely<Tables>) => {
  return {
    /** Returns the epoch of the data app, the client and the user together. */
    currentEpoch: async (subject: TokenSubject) => currentEpoch(db, subject),
    /**
     * Stores a token. `epoch` is the result of `currentEpoch` from before any other read of the mint. Returns false if
     * its data app, its datamart or one of its embeds was deleted, or its client was erased since then. `gateway`: the
     * gateway that mints it.
     */
    insert: (hash: HashedToken, grant: GuestGrant, epoch: Epoch, gateway: string | null = null) =>
      inTransaction(db, async (transaction) => {
        if (!(await areHeld(transaction, grant, epoch))) return false;
        await transaction
          .insertInto('guest_tokens')
          .values(encode(hash, grant, epoch, gateway))
          .execute();
        return true;
      }),
    /** Whether the token is still stored: neither revoked nor erased. */
    isGood: async (id: string) =>
      (await goodTokens(db).select('id').where('id', '=', id).executeTakeFirst()) !== undefined,
    /**
     * Returns the token unless it is revoked. An expired token is returned too: the caller compares `expiresAt` with its
     * own clock. `epoch` is the current epoch of the token's client, for all users. `revision` is the content's revision
     * at the same moment.
     */
    findByHash: createFind(db, 'hash'),
    /** As `findByHash`. */
    findById: createFind(db, 'id'),
    /** Returns the tokens that are valid at `now`, oldest first. */
    listLive: (of: LiveTokens, wanted: Page | null) => listLive(db, of, wanted),
    /** Revokes the tokens, including those of mints in progress. Returns how many were valid at `now`. */
    revoke: (dataAppId: string, which: Revocation, now: Date) => revokeGuestTokens(db, dataAppId, which, now),
  };
};

export type GuestTokenStore = ReturnType<typeof createGuestTokenStore>;

const currentEpoch = async (db: Kysely<Tables>, subject: TokenSubject): Promise<Epoch> => {
  const { rows } = await sql<{ epoch: Epoch }>`
    select (
      select coalesce(sum(epoch), 0)::bigint::text from guestlist.revocation_epochs
      where data_app_id = ${subject.dataAppId} and client_id in ('', ${subject.clientId})
        and user_identifier in ('', ${subject.userIdentifier ?? ''})
        and (client_id <> '' or user_identifier = '')
    ) || '/' || coalesce(
      (select erasures from guestlist.data_apps where id = ${subject.dataAppId}), 0
    )::text as epoch`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('a sum has no row');
  return row.epoch;
};

/**
 * Locks everything that the token names against deletion until the transaction ends; a later deletion then also finds
 * this token. Returns false if any of it was already deleted, or if the client was erased.
 */
const areHeld = async (db: Kysely<Tables>, grant: GuestGrant, epoch: Epoch): Promise<boolean> => {
  const { dataAppId, datamartId } = grant;
  const dataApp = db.selectFrom('data_apps').select('erasures').where('id', '=', dataAppId).forKeyShare();
  const held = await dataApp.executeTakeFirst();
  if (held === undefined) return false;
  const begun = erasuresOf(epoch);
  if (String(held.erasures) !== begun && (await wasErasedSince(db, grant, begun))) return false;
  if (!(await areEmbedsHeld(db, dataAppId, grant.allowedEmbeds ?? []))) return false;
  if (datamartId === null) return true;
  const datamart = db.selectFrom('datamarts').select('id').where('id', '=', datamartId).forKeyShare();
  return (await datamart.executeTakeFirst()) !== undefined;
};

const areEmbedsHeld = async (db: Kysely<Tables>, dataAppId: string, embedIds: readonly string[]): Promise<boolean> => {
  const named = [...new Set(embedIds)];
  if (named.length === 0) return true;
  const there = await db
    .selectFrom('embeds')
    .select('embed_id')
    .where('data_app_id', '=', dataAppId)
    .where('embed_id', 'in', named)
    .orderBy('embed_id')
    .forKeyShare()
    .execute();
  return there.length === named.length;
};

const maxTokens = 10_000;

type Find = GuestTokenStore['findByHash'];

/**
 * `find` with a cache before it. `writes` counts the database's writes; null: other processes write too, and nothing is cached. Any write
 * clears the cache, so erased tokens cannot be served.
 */
export const cacheTokenLookups = (find: Find, writes: (() => number) | null): Find => {
  if (writes === null) return find;
  const cached = createLru<string, Found>(maxTokens);
  let cachedAt = writes();
  return async (hash) => {
    const before = writes();
    if (cachedAt !== before) cached.clear();
    cachedAt = before;
    const there = cached.get(hash);
    if (there !== undefined) return there;
    const found = await find(hash);
    if (found !== undefined && writes() === before) cached.set(hash, found);
    return found;
  };
};
