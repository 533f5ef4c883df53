/** Logins to Studio: a cookie whose hash is stored, and the token that a page must send beside it to change anything. */
import { createHash } from 'node:crypto';
import type { Clock, Ids, Tokens } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { StudioSessionStore } from '../domain/store/credentials.js';
import type { Person, StudioSession } from '../domain/studio/person.js';

export const studioCookie = 'guestlist_studio';

const minuteMs = 60_000;

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
  /** Returns the value of the new session's cookie. */
  readonly logIn: (person: Person) => Promise<{ readonly cookie: string; readonly session: StudioSession }>;
  /** The live session of a cookie. Throws AUTHENTICATION_ERROR. */
  readonly of: (cookie: string | null) => Promise<StudioSession>;
  /** The live session of an id. Throws AUTHENTICATION_ERROR. */
  readonly withId: (id: string) => Promise<StudioSession>;
  readonly end: (session: StudioSession) => Promise<void>;
  readonly endAllOf: (person: Person) => Promise<number>;
  readonly removeExpired: () => Promise<void>;
};

/**
 * The token that a page sends in a header with each change. Only a page of this origin can read it, and only who has
 * the cookie can compute it.
 */
export const changeTokenOf = (cookie: string): string =>
  createHash('sha256').update('guestlist studio change').update(cookie).digest('base64url');

const ended = (): Refusal =>
  new Refusal('AUTHENTICATION_ERROR', 'You are not logged in to Studio, or the session has ended. Log in again.', {
    reason: 'studio-session-ended',
  });

export const createStudioSessions = (options: StudioSessionsOptions): StudioSessions => {
  const { store, clock, ids, tokens, times } = options;
  const assertLive = async (session: StudioSession | undefined): Promise<StudioSession> => {
    const now = clock.now();
    if (session === undefined) throw ended();
    const idleMs = now.getTime() - session.usedAt.getTime();
    if (session.expiresAt <= now || idleMs >= times.idleMinutes * minuteMs) throw ended();
    if (idleMs >= minuteMs) await store.noteUse(session.id, now);
    return session;
  };
  return {
    logIn: async (person) => {
      const cookie = `${tokens.create()}${tokens.create()}`;
      const createdAt = clock.now();
      const expiresAt = new Date(createdAt.getTime() + times.sessionHours * 60 * minuteMs);
      const hash = tokens.hash(cookie);
      const session = { id: ids.uuid(), hash, person, createdAt, usedAt: createdAt, expiresAt };
      await store.insert(session);
      return { cookie, session };
    },
    of: async (cookie) => {
      if (cookie === null || cookie === '') throw ended();
      const hash = tokens.hash(cookie);
      const found = await store.findByHash(hash);
      return assertLive(found !== undefined && tokens.isSame(found.hash, hash) ? found : undefined);
    },
    withId: async (id) => assertLive(await store.findById(id)),
    end: ({ id }) => store.end(id),
    endAllOf: (person) => store.endAllOf(person),
    removeExpired: () => store.removeExpired(clock.now()),
  };
};
