/** The people who are logged in, and ending all sessions of one of them. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  askedIn,
  changedBy,
  declareCommand,
  noInput,
  readBy,
  written,
} from '../gateway/common/admin-command.js';
import { nameInRecords, type StudioSession } from '../model/person.js';
import { keyIssuer, type StudioSessions } from './sessions.js';

const text = z.string().min(1).max(2000);

export const endSessions = declareCommand(
  'studio-sessions-end',
  z.strictObject({
    issuer: text.refine((issuer) => issuer !== keyIssuer, {
      error: 'this is a key of an assistant. End it with: guestlist operator-key end',
    }),
    subject: text,
  }),
  z.object({ ended: z.number() }),
  { ...changedBy(), auditDetail: (meant) => ({ person: nameInRecords(meant) }) },
);

/** What an owner may know of a session: nothing that proves it. */
const shownSession = ({ id, person, ...session }: StudioSession, own: StudioSession) => ({
  ...{ id, issuer: person.issuer, subject: person.subject, name: person.name, roles: person.roles },
  seesData: person.seesData,
  isOwn: id === own.id,
  ...{ createdAt: session.createdAt, usedAt: session.usedAt, expiresAt: session.expiresAt },
  /** Null: the issuer cannot be asked again. */
  vouchedAt: session.vouchedAt,
});

// Names of people are part of what their issuer writes.
export const listSessions = declareCommand(
  'studio-sessions-list',
  noInput,
  z.object({ sessions: written<readonly ReturnType<typeof shownSession>[]>() }),
  readBy('auditor'),
);

export const peopleCommands = (sessions: Pick<StudioSessions, 'listPeople' | 'endAllOf'>): readonly AdminCommand[] => [
  adminCommand(listSessions, async (_, by) => {
    const { session: own } = askedIn(by);
    return { sessions: (await sessions.listPeople()).map((session) => shownSession(session, own)) };
  }),
  adminCommand(endSessions, async (meant) => ({ ended: await sessions.endAllOf(meant) })),
];
