/** The people who are logged in, and ending all sessions of one of them. The keys of assistants end by a command. */
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Refusal } from '../domain/refusal.js';
import { nameInRecords, type StudioRole, type StudioSession } from '../domain/studio/person.js';
import type { Reads } from '../domain/studio/reads.js';
import type { Audit } from '../gateway/audit/audit.js';
import type { Origins } from '../gateway/authenticate/credential.js';
import { assertReads, assertRole } from './access.js';
import { loggedInOf, readInput, requestIdOf, sendData } from './requests.js';
import { keyIssuer, type StudioSessions } from './sessions.js';

type Options = { readonly sessions: StudioSessions; readonly origins: Origins; readonly audit: Audit };

type Rule = { readonly what: string; readonly roles: readonly StudioRole[]; readonly reads: Reads };

/** What owners may do with the sessions of others. Names of people are part of what their issuer writes. */
const peopleRules = {
  list: { what: 'the list of sessions', roles: ['auditor'], reads: 'definitions' },
  end: { what: 'ending the sessions of a person', roles: [], reads: 'nothing' },
} as const satisfies Readonly<Record<string, Rule>>;

const endInput = z.strictObject({ issuer: z.string().min(1).max(2000), subject: z.string().min(1).max(2000) });

/** What an owner may know of a session: nothing that proves it. */
const shownSession = ({ id, person, ...session }: StudioSession, own: StudioSession) => ({
  ...{ id, issuer: person.issuer, subject: person.subject, name: person.name, roles: person.roles },
  seesData: person.seesData,
  isOwn: id === own.id,
  createdAt: session.createdAt.toISOString(),
  usedAt: session.usedAt.toISOString(),
  expiresAt: session.expiresAt.toISOString(),
  vouchedAt: session.vouchedAt?.toISOString() ?? null,
});

export const createPeoplePaths = (options: Options) => {
  const { sessions, audit } = options;
  const loggedIn = loggedInOf(options);
  const allowed = async (request: Request, { what, roles, reads }: Rule): Promise<StudioSession> => {
    const { session } = await loggedIn(request);
    assertRole(session.person, what, roles);
    assertReads(session.person, reads);
    return session;
  };
  return {
    list: async (request: Request, response: Response): Promise<void> => {
      const own = await allowed(request, peopleRules.list);
      const found = await sessions.listPeople();
      await sendData(response, { sessions: found.map((session) => shownSession(session, own)) });
    },
    end: async (request: Request, response: Response): Promise<void> => {
      const { person } = await allowed(request, peopleRules.end);
      const meant = await readInput(request, endInput);
      if (meant.issuer === keyIssuer)
        throw new Refusal(
          'INVALID_REQUEST_BODY',
          'issuer: this is a key of an assistant. End it with: guestlist operator-key end',
        );
      const detail = { command: 'studio-sessions-end', operator: nameInRecords(person), person: nameInRecords(meant) };
      // Before the change: what cannot be recorded must not happen.
      await audit.record({ kind: 'admin', code: 'OK', requestId: requestIdOf(response), detail });
      await sendData(response, { ended: await sessions.endAllOf(meant) });
    },
  };
};
