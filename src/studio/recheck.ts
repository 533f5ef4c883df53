/**
 * Asks the issuer of a login again for its person, every few minutes of use, so that a person who left or lost a role
 * does not keep a session for hours. It calls the issuer between its statements, never inside a transaction.
 *
 * A refusal ends the session. An issuer that cannot be reached does not at once: an outage of some minutes must not
 * close Studio while something is being mended. After a bounded time the session waits for the issuer, and goes on when
 * the issuer vouches again.
 */
import type { Audit } from '../gateway/audit/audit.js';
import { isSameJson } from '../model/canonical-json.js';
import type { Log } from '../model/log-events.js';
import { nameInRecords, type Person, type StudioSession } from '../model/person.js';
import type { Clock } from '../model/ports.js';
import { DependencyUnavailable } from '../model/unavailable.js';
import { createSingleFlight } from '../platform/work/single-flight.js';
import type { StudioSessionStore } from '../service/store/studio-sessions.js';
import type { OpenId } from './openid.js';
import { type StudioSessions, sessionEnded } from './sessions.js';

export type RecheckTimes = {
  readonly recheckMinutes: number;
  /** How long after that a session goes on while the issuer cannot be reached. */
  readonly recheckGraceMinutes: number;
};

export type RecheckOptions = {
  readonly store: Pick<StudioSessionStore, 'beginRecheck' | 'end' | 'findById' | 'findIssuerToken' | 'noteRecheck'>;
  /** Null: the configuration names no issuer any more. */
  readonly openId: Pick<OpenId, 'issuer' | 'recheck'> | null;
  readonly clock: Clock;
  readonly times: RecheckTimes;
  readonly audit: Audit;
  readonly log: Log;
};

/** Returns the session with the person as the issuer sees it now. Throws AUTHENTICATION_ERROR if the session has ended. */
export type Recheck = (session: StudioSession) => Promise<StudioSession>;

const minuteMs = 60_000;
/** Between two questions for one session. Longer than one takes, so a second process does not ask meanwhile. */
const pauseMs = minuteMs;

const recordIn =
  ({ audit }: RecheckOptions) =>
  (command: string, person: Person): Promise<void> => {
    const { roles, seesData } = person;
    const detail = { command, operator: nameInRecords(person), roles: roles.join(','), seesData };
    return audit.record({ kind: 'admin', code: 'OK', detail });
  };

/** Asks the issuer for one session, and keeps the answer. */
const asking = (options: RecheckOptions) => {
  const { store, openId, clock, log } = options;
  const record = recordIn(options);
  const end = async ({ id, person }: StudioSession): Promise<never> => {
    await store.end(id);
    await record('studio-session-refused', person);
    throw sessionEnded();
  };
  return async (session: StudioSession): Promise<StudioSession> => {
    const { id, person } = session;
    if (openId === null || openId.issuer !== person.issuer) return end(session);
    const now = clock.now();
    if (!(await store.beginRecheck(id, session.askedAt, now))) {
      // Another process asks, or has asked since this session was read.
      const current = await store.findById(id);
      if (current === undefined) throw sessionEnded();
      return current;
    }
    const held = await store.findIssuerToken(id);
    if (held === undefined) throw sessionEnded();
    const answer = await openId.recheck(person, held);
    if (answer.outcome === 'refused') return end(session);
    const vouched = answer.outcome === 'vouched' ? { person: answer.person, at: now } : null;
    if (!(await store.noteRecheck(id, answer.issuerToken, vouched))) throw sessionEnded();
    if (answer.outcome === 'away') {
      log.warn({ event: 'studio.recheck_failed', err: answer.cause }, 'failed to ask the issuer of logins again');
      return { ...session, askedAt: now };
    }
    const { roles, seesData } = answer.person;
    if (!isSameJson({ roles, seesData }, { roles: person.roles, seesData: person.seesData }))
      await record('studio-session-changed', answer.person);
    return { ...session, person: answer.person, vouchedAt: now, askedAt: now };
  };
};

/** Concurrent requests of a session share one question. */
export const createRecheck = (options: RecheckOptions): Recheck => {
  const { clock, times } = options;
  const flight = createSingleFlight<StudioSession>();
  const ask = asking(options);
  const againMs = times.recheckMinutes * minuteMs;
  const lastMs = againMs + times.recheckGraceMinutes * minuteMs;
  return async (session) => {
    if (session.vouchedAt === null) return session;
    const nowMs = clock.now().getTime();
    const sinceMs = (moment: Date | null): number =>
      moment === null ? Number.POSITIVE_INFINITY : nowMs - moment.getTime();
    const isDue = sinceMs(session.vouchedAt) >= againMs && sinceMs(session.askedAt) >= pauseMs;
    const current = isDue ? await flight(session.id, () => ask(session)) : session;
    if (sinceMs(current.vouchedAt) < lastMs) return current;
    throw new DependencyUnavailable('studio-issuer-away', 'the issuer of logins to Studio cannot be reached');
  };
};

/** The same sessions, each of which is checked again before it is used. */
export const withRecheck = (sessions: StudioSessions, recheck: Recheck): StudioSessions => ({
  ...sessions,
  of: async (cookie) => recheck(await sessions.of(cookie)),
  withId: async (id) => recheck(await sessions.withId(id)),
});
