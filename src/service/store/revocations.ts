/**
 * Revocation by epochs. A revocation increases the epoch of its subject. Each token stores the sum of its subject's
 * epochs from the start of its mint, and is valid only while the sum is the same. So a revocation also invalidates
 * tokens whose mint is running in any process.
 */
import { type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Epoch, HashedToken } from '../../model/brand.js';
import { among, deleteSlices, rowPlace } from './list-rows.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';

/**
 * Which guest tokens of one data app a revocation ends. `userIdentifier` null: those of every user of the client.
 * `gateway`: only those that this gateway minted, or that name no gateway; mints in progress are then its own affair.
 */
export type Revocation =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'token'; readonly hash: HashedToken }
  | {
      readonly kind: 'client';
      readonly clientId: string;
      readonly userIdentifier: string | null;
      readonly gateway?: string | undefined;
    }
  | { readonly kind: 'all'; readonly gateway?: string | undefined };

/** The current sum of the epochs that apply to a row of guest_tokens. */
const sumOfEpochs = (): RawBuilder<Epoch> => sql<Epoch>`(
  select coalesce(sum(subject.epoch), 0)::bigint from guestlist.revocation_epochs as subject
  where subject.data_app_id = guest_tokens.data_app_id and (
    (subject.client_id = '' and subject.user_identifier = '')
    or (subject.client_id = guest_tokens.client_id
      and subject.user_identifier in ('', coalesce(guest_tokens.user_identifier, '')))
  ))`;

/** Whether no revocation has come since the mint of the row of guest_tokens began. A negative epoch is `-1 - sum`. */
export const isEpochCurrent = (): RawBuilder<SqlBool> =>
  sql<SqlBool>`greatest(guest_tokens.epoch, -1 - guest_tokens.epoch) = ${sumOfEpochs()}`;

/**
 * The epoch of the row's client, without its users: `sum/erasures`. Every revocation and every erasure of the client
 * changes it.
 */
export const clientEpoch = (): RawBuilder<Epoch> => sql<Epoch>`(
  select coalesce(sum(subject.epoch), 0)::bigint::text from guestlist.revocation_epochs as subject
  where subject.data_app_id = guest_tokens.data_app_id and subject.user_identifier = ''
    and subject.client_id in ('', guest_tokens.client_id)
  ) || '/' || (select erasures::text from guestlist.data_apps where id = guest_tokens.data_app_id)`;

/**
 * Deletes the tokens and increases the epoch of their subject, in one transaction. Returns how many tokens were valid
 * at `now`.
 */
export const revokeGuestTokens = (
  db: Kysely<Tables>,
  dataAppId: string,
  which: Revocation,
  now: Date,
): Promise<number> =>
  inTransaction(db, async (transaction) => {
    // Revocations of one data app run one after the other: two that delete the same rows could deadlock.
    const held = transaction.selectFrom('data_apps').select('id').where('id', '=', dataAppId).forNoKeyUpdate();
    // The data app was deleted, and all its tokens with it.
    if ((await held.executeTakeFirst()) === undefined) return 0;
    let good = 0;
    const own = transaction.deleteFrom('guest_tokens').where('data_app_id', '=', dataAppId).where(isMeant(which));
    const some = transaction.selectFrom('guest_tokens').select(rowPlace).where('data_app_id', '=', dataAppId);
    await deleteSlices(async (limit) => {
      const ended = await own
        .$if(limit !== null, (query) => query.where(among(some.where(isMeant(which)).limit(limit ?? 0))))
        .returning(['expires_at', isEpochCurrent().as('is_current')])
        .execute();
      good += ended.filter(
        ({ is_current, expires_at }) => is_current && (expires_at === null || expires_at > now),
      ).length;
      return ended.length;
    });
    await raiseEpoch(transaction, dataAppId, which);
    return good;
  });

type Tokens = ExpressionBuilder<Tables, 'guest_tokens'>;

const gatewayOf = (which: Revocation): string | undefined => ('gateway' in which ? which.gateway : undefined);

/** A token that names no gateway may be of any. */
const isOfGateway = (which: Revocation) => (eb: Tokens) => {
  const gateway = gatewayOf(which);
  return gateway === undefined
    ? eb.val(true).$castTo<SqlBool>()
    : eb.or([eb('gateway', '=', gateway), eb('gateway', 'is', null)]);
};

const isMeant = (which: Revocation) => (eb: Tokens) => eb.and([isOfSubject(which)(eb), isOfGateway(which)(eb)]);

const isOfSubject = (which: Revocation) => (eb: Tokens) => {
  switch (which.kind) {
    case 'id':
      return eb('id', '=', which.id);
    case 'token':
      return eb('hash', '=', which.hash);
    case 'client':
      return which.userIdentifier === null
        ? eb('client_id', '=', which.clientId)
        : eb.and([eb('client_id', '=', which.clientId), eb('user_identifier', '=', which.userIdentifier)]);
    case 'all':
      return eb.val(true).$castTo<SqlBool>();
  }
};

const subjectOf = (which: Revocation): { readonly client_id: string; readonly user_identifier: string } | null => {
  // An epoch holds for the tokens of every gateway. A gateway finds out itself that a mint of its own is outdated.
  if (gatewayOf(which) !== undefined) return null;
  switch (which.kind) {
    case 'all':
      return { client_id: '', user_identifier: '' };
    case 'client':
      return { client_id: which.clientId, user_identifier: which.userIdentifier ?? '' };
    default:
      // The id or value of a token is known only after its mint, so no running mint must be invalidated.
      return null;
  }
};

const raiseEpoch = async (db: Kysely<Tables>, dataAppId: string, which: Revocation): Promise<void> => {
  const subject = subjectOf(which);
  if (subject === null) return;
  await db
    .insertInto('revocation_epochs')
    .values({ data_app_id: dataAppId, ...subject, epoch: '1' })
    .onConflict((oc) =>
      oc
        .columns(['data_app_id', 'client_id', 'user_identifier'])
        .doUpdateSet({ epoch: sql<string>`revocation_epochs.epoch + 1` }),
    )
    .execute();
};
