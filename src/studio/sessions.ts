/**
 * Logins to Studio: a cookie whose hash is stored, and the token that a page must send beside it to change anything. The
 * keys of assistants are kept in the same way, and are no cookies: neither is taken for the other.
 */
import { createHash } from 'node:crypto';
import type { IssuerToken, Person, StudioSession } from '../model/person.js';
import type { Clock, Ids, Tokens } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import type { StudioSessionStore } from '../service/store/studio-sessions.js';

export const studioCookie = 'guestlist_studio';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Vouches for the persons of keys. No issuer of logins has this name: those are addresses, or `link`. */
export const keyIssuer = 'key';
const isKey = ({ person }: StudioSession): boolean => person.issuer === keyIssuer;

export type SessionTimes = {
  /** A session that was not used for so long has ended. */
  readonly idleMinutes: number;
  /** A session ends so long after its login, used or not. */
  readonly sessionHours: number;
};

export type StudioSessionsOptions = {
  readonly store: StudioSessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly times: SessionTimes;
};

export type StudioSessions = {
  /** Returns the value of the new session's cookie. With a token, the issuer is asked again for the person. */
  readonly logIn: (
    person: Person,
    issuerToken?: IssuerToken | null,
  ) => Promise<{ readonly cookie: string; readonly session: StudioSession }>;
  /** The live session of a cookie. Throws AUTHENTICATION_ERROR. */
  readonly of: (cookie: string | null) => Promise<StudioSession>;
  /** Returns a new key of an assistant. It ends after `days`, used or not. */
  readonly createKey: (person: Person, days: number) => Promise<{ readonly key: string; readonly expiresAt: Date }>;
  /** The live session of a key. Throws AUTHENTICATION_ERROR. */
  readonly ofKey: (key: string | null) => Promise<StudioSession>;
  readonly listKeys: () => Promise<readonly StudioSession[]>;
  /** The live sessions of people, ordered by issuer and subject. */
  readonly listPeople: () => Promise<readonly StudioSession[]>;
  /** The live session of an id. Throws AUTHENTICATION_ERROR. */
  readonly withId: (id: string) => Promise<StudioSession>;
  readonly end: (session: StudioSession) => Promise<void>;
  readonly endAllOf: (person: Pick<Person, 'issuer' | 'subject'>) => Promise<number>;
  readonly removeExpired: () => Promise<void>;
};

/**
 * The token that a page sends in a header with each change. Only a page of this origin can read it, and only who has
 * the cookie can compute it.
 */
export const changeTokenOf = (cookie: string): string =>
  createHash('sha256').update('guestlist studio change').update(cookie).digest('base64url');

const unknownKey = (): Refusal =>
  new Refusal(
    'AUTHENTICATION_ERROR',
    'This key is unknown, was ended, or is too old. Make a new one with: guestlist operator-key create',
    { reason: 'studio-key-unknown' },
  );

/** What a session that has ended answers. */
export const sessionEnded = (): Refusal =>
  new Refusal('AUTHENTICATION_ERROR', 'You are not logged in to Studio, or the session has ended. Log in again.', {
    reason: 'studio-session-ended',
  });

const idleMsOf = ({ usedAt }: StudioSession, now: Date): number => now.getTime() - usedAt.getTime();

/** A key is used when an assistant asks, which may be once a week. */
const isLiveFor =
  ({ idleMinutes }: SessionTimes) =>
  (session: StudioSession, now: Date): boolean =>
    session.expiresAt > now && (isKey(session) || idleMsOf(session, now) < idleMinutes * minuteMs);

type Begin = (
  person: Person,
  lifeMs: number,
  issuerToken: IssuerToken | null,
) => Promise<{ readonly secret: string; readonly session: StudioSession }>;

const beginning =
  ({ store, clock, ids, tokens }: StudioSessionsOptions): Begin =>
  async (person, lifeMs, issuerToken) => {
    const secret = `${tokens.create()}${tokens.create()}`;
    const createdAt = clock.now();
    const session = {
      ...{ id: ids.uuid(), hash: tokens.hash(secret), person, createdAt, usedAt: createdAt },
      expiresAt: new Date(createdAt.getTime() + lifeMs),
      ...{ vouchedAt: issuerToken === null ? null : createdAt, askedAt: null },
    };
    await store.insert(session, issuerToken);
    return { secret, session };
  };

export const createStudioSessions = (options: StudioSessionsOptions): StudioSessions => {
  const { store, clock, tokens, times } = options;
  const isLive = isLiveFor(times);
  const assertLive = async (session: StudioSession | undefined): Promise<StudioSession> => {
    const now = clock.now();
    if (session === undefined || !isLive(session, now)) throw sessionEnded();
    if (idleMsOf(session, now) >= minuteMs) await store.noteUse(session.id, now);
    return session;
  };
  const begin = beginning(options);
  const find = async (secret: string | null): Promise<StudioSession | undefined> => {
    if (secret === null || secret === '') return undefined;
    const hash = tokens.hash(secret);
    const found = await store.findByHash(hash);
    return found !== undefined && tokens.isSame(found.hash, hash) ? found : undefined;
  };
  return {
    logIn: async (person, issuerToken = null) => {
      const { secret, session } = await begin(person, times.sessionHours * 60 * minuteMs, issuerToken);
      return { cookie: secret, session };
    },
    of: async (cookie) => {
      const found = await find(cookie);
      return assertLive(found === undefined || isKey(found) ? undefined : found);
    },
    createKey: async (person, days) => {
      const { secret, session } = await begin({ ...person, issuer: keyIssuer }, days * dayMs, null);
      return { key: secret, expiresAt: session.expiresAt };
    },
    ofKey: async (key) => {
      const found = await find(key);
      if (found === undefined || !isKey(found) || found.expiresAt <= clock.now()) throw unknownKey();
      return assertLive(found);
    },
    listKeys: () => store.listOf(keyIssuer),
    listPeople: async () => {
      const now = clock.now();
      return (await store.listLive(now)).filter((session) => !isKey(session) && isLive(session, now));
    },
    withId: async (id) => assertLive(await store.findById(id)),
    end: ({ id }) => store.end(id),
    endAllOf: (person) => store.endAllOf(person),
    removeExpired: () => store.removeExpired(clock.now()),
  };
};
