/**
 * The last session of each user, for reports that are sent while the user is away. A later session of the same user in
 * the same tenant replaces it: a claim that the host no longer gives is gone. Sealed, because claims are personal data.
 */
import type { Sealed } from '../model/brand.js';
import type { Clock } from '../model/ports.js';
import type { Sealer } from '../platform/keys/sealing.js';
import { createLru } from '../platform/work/lru.js';
import type { Session } from './authenticate/signed-session.js';
import type { Eraser, ForgetClient } from './common/eraser.js';
import type { Ledger } from './ledger/ledger.js';

/** Ends before the answer, so that a claim that the host took away counts from then on. */
export type NoteSession = (session: Session, clientId: string) => Promise<void>;

/** Nothing is kept. */
export const noteNothing: NoteSession = async () => {};

export type RecipientSubject = { readonly clientId: string; readonly userIdentifier: string };

export type Recipients = {
  /** Stores a session whose tenant and access were checked. A session older than the stored one changes nothing. */
  readonly note: NoteSession;
  /** Returns the last session, unless it was last seen too long ago. */
  readonly find: (subject: RecipientSubject) => Promise<Session | undefined>;
  /** Returns the last sessions of the client's users, without those that were last seen too long ago. */
  readonly list: (clientId: string) => Promise<readonly Session[]>;
  readonly forget: ForgetClient;
  readonly eraser: Eraser;
};

export type RecipientsOptions = {
  readonly ledger: Ledger;
  readonly sealer: Sealer;
  /** Days after which a session that was not seen again counts no more. */
  readonly keepDays: number;
  readonly clock: Clock;
};

const dayMs = 86_400_000;
const mostRemembered = 100_000;

/** When this JWT was issued. A renewed session keeps its login's `auth_time`, so that does not order sessions. */
const issuedAtOf = ({ claims, issuedAtMs }: Session): Date =>
  new Date(typeof claims.iat === 'number' && Number.isFinite(claims.iat) ? claims.iat * 1000 : (issuedAtMs ?? 0));

const keysOf = ({ refOf }: Ledger, { clientId, userIdentifier }: RecipientSubject) => ({
  tenant_ref: refOf(clientId),
  user_ref: refOf(JSON.stringify([clientId, userIdentifier])),
});

const save = async (
  { ledger, sealer, clock }: RecipientsOptions,
  subject: RecipientSubject,
  session: Session,
  text: string,
): Promise<void> => {
  const keys = keysOf(ledger, subject);
  const row = { sealed: sealer.seal(text, keys.user_ref), issued_at: issuedAtOf(session), seen_at: clock.now() };
  const gone = ledger.db
    .selectFrom('tenants')
    .select('tenant_ref')
    .where('tenant_ref', '=', keys.tenant_ref)
    .where(({ or, eb }) => or([eb('state', '=', 'deleted'), eb('is_erasure_owed', '=', true)]));
  // A request that began before an erasure must not store the user again after it.
  if ((await gone.executeTakeFirst()) !== undefined) return;
  await ledger.db
    .insertInto('recipients')
    .values({ ...keys, ...row })
    .onConflict((conflict) =>
      conflict.columns(['tenant_ref', 'user_ref']).doUpdateSet(row).where('recipients.issued_at', '<=', row.issued_at),
    )
    .execute();
};

/** Notes each change of a session once, and a session that does not change once a day. */
const createNote = (options: RecipientsOptions) => {
  const noted = createLru<string, { readonly text: string; readonly atMs: number }>(mostRemembered);
  const keyOf = (clientId: string, userIdentifier: string): string => JSON.stringify([clientId, userIdentifier]);
  const note: NoteSession = async (session, clientId) => {
    const text = JSON.stringify(session);
    const key = keyOf(clientId, session.userIdentifier);
    const atMs = options.clock.now().getTime();
    const last = noted.get(key);
    if (last?.text === text && atMs - last.atMs < dayMs) return;
    await save(options, { clientId, userIdentifier: session.userIdentifier }, session, text);
    noted.set(key, { text, atMs });
  };
  const forget: ForgetClient = (clientId) => {
    const own = [...noted.keys()].filter((key) => JSON.parse(key)[0] === clientId);
    for (const key of own) noted.delete(key);
    return own.length;
  };
  return { note, forget };
};

const createReads = ({ ledger, sealer, keepDays, clock }: RecipientsOptions): Pick<Recipients, 'find' | 'list'> => {
  const ofTenant = (tenantRef: string) =>
    ledger.db
      .selectFrom('recipients')
      .select(['user_ref', 'sealed'])
      .where('tenant_ref', '=', tenantRef)
      .where('seen_at', '>', new Date(clock.now().getTime() - keepDays * dayMs));
  const open = (row: { readonly user_ref: string; readonly sealed: Sealed }) =>
    JSON.parse(sealer.open(row.sealed, row.user_ref)) as Session;
  return {
    find: async (subject) => {
      const keys = keysOf(ledger, subject);
      const row = await ofTenant(keys.tenant_ref).where('user_ref', '=', keys.user_ref).executeTakeFirst();
      return row === undefined ? undefined : open(row);
    },
    list: async (clientId) => (await ofTenant(ledger.refOf(clientId)).orderBy('user_ref').execute()).map(open),
  };
};

export const createRecipients = (options: RecipientsOptions): Recipients => {
  const { note, forget } = createNote(options);
  return {
    note,
    forget,
    ...createReads(options),
    eraser: {
      where: 'last sessions of users',
      erase: async ({ tenantRef }, { write }) => {
        const gone = await write((db) =>
          db.deleteFrom('recipients').where('tenant_ref', '=', tenantRef).executeTakeFirst(),
        );
        return { erased: { sessions: Number(gone.numDeletedRows) } };
      },
    },
  };
};
