/** Who may do what in Studio: every request passes one of these checks, and each throws its own refusal. */
import type { IncomingMessage } from 'node:http';
import { hasRole, type Person, type StudioRole } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { needsData, type Reads, type Rule } from '../platform/http/interface/callable.js';
import { changeTokenOf } from './sessions.js';

/** The header with the change token of a page of this Studio. */
const changeHeader = 'x-guestlist-change';

/**
 * Throws UNAUTHORIZED unless a page of this Studio sent the request: another page can send the cookie, at most, but not
 * read the token.
 */
export const assertOwnPage = ({ headers }: IncomingMessage, cookie: string): void => {
  if (headers[changeHeader] === changeTokenOf(cookie)) return;
  throw new Refusal(
    'UNAUTHORIZED',
    `The request lacks the header ${changeHeader} of this session. GET /studio/session answers its value. Reload the page.`,
    { reason: 'studio-change-token' },
  );
};

/** What Studio does for nobody. */
export const notOffered = (what: string): Refusal =>
  new Refusal('UNAUTHORIZED', `Studio does not offer ${what}.`, { reason: 'studio-not-offered' });

/** Throws UNAUTHORIZED unless the person has one of the roles. Undefined: Studio never does this. */
export const assertRole = (
  person: Pick<Person, 'roles'>,
  what: string,
  roles: readonly StudioRole[] | undefined,
): void => {
  if (roles === undefined) throw notOffered(what);
  if (hasRole(person, roles)) return;
  const needed = [...new Set<StudioRole>(['owner', ...roles])].join(', ');
  throw new Refusal('UNAUTHORIZED', `${what} needs one of these roles: ${needed}. Ask an owner of this installation.`, {
    reason: 'studio-role-missing',
  });
};

type Caller = Pick<Person, 'roles' | 'seesData'>;

/** Whether the person has one of the roles, and may have what the answer tells. */
export const mayCall = (person: Caller, { roles, reads }: Rule): boolean =>
  roles !== undefined && hasRole(person, roles) && (person.seesData || !needsData(reads));

/** Throws UNAUTHORIZED unless the person may call it. */
export const assertMay = (person: Caller, what: string, { roles, reads }: Rule): void => {
  assertRole(person, what, roles);
  assertReads(person, reads);
};

/** Throws UNAUTHORIZED unless the person may have answers that tell this much of the rows of tenants. */
export const assertReads = ({ seesData }: Pick<Person, 'seesData'>, reads: Reads): void => {
  if (seesData || !needsData(reads)) return;
  throw new Refusal('UNAUTHORIZED', 'You may not see data of tenants. Ask an owner of this installation.', {
    reason: 'studio-no-data',
  });
};
