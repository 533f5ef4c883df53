/** What stands before an operation: who asks, and whether they may ask so much. Knows no business. */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { limits } from '../contract/fields.js';
import type { Credential, Operation } from '../contract/operation.js';
import type { Caller } from '../domain/guest/caller.js';
import { Refusal } from '../domain/refusal.js';
import type { AssertBudget } from '../platform/budget.js';
import type { CredentialGuard } from '../platform/credential-guard.js';
import type { RefusedBodies } from '../platform/refused-bodies.js';
import type { AddressOf } from './address.js';

/** Who the bearer is. Throws AUTHENTICATION_ERROR, TOKEN_EXPIRED or UNAUTHORIZED; never answers another kind of caller. */
export type Authenticate = (credentials: readonly Credential[], bearer: string | undefined) => Promise<Caller>;

/** Of a request over HTTP. In-process callers have none, and no limit. */
export type Sender = {
  readonly address: string;
  /** Bytes of the body; where that cannot be known before it is read, of a usual one. */
  readonly bodyBytes: number;
};

export type AdmissionLimits = {
  /** Wrong credentials, by their kind. */
  readonly guards: Readonly<Record<Credential, CredentialGuard>>;
  /** Requests with one guest token, and those of them from one address. */
  readonly guestToken: AssertBudget;
  readonly guestAddress: AssertBudget;
  /** Bodies of one credential that were refused. */
  readonly refusedBodies: RefusedBodies;
};

export type Asking = { readonly authorization: string | undefined; readonly sender?: Sender | undefined };

export type Admission = {
  readonly admit: (operation: Operation, asking: Asking) => Promise<Caller>;
  /** The body that the operation was asked with was no valid one. */
  readonly refusedBody: (asking: Asking) => void;
};

export const senderOf = (addressOf: AddressOf, request: IncomingMessage): Sender => {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  const isKnown = length !== undefined && encoding === undefined;
  const hasBody = length !== undefined || request.headers['transfer-encoding'] !== undefined;
  return { address: addressOf(request), bodyBytes: isKnown ? Number(length) : hasBody ? limits.usualBodyBytes : 0 };
};

const readBearer = (authorization: string | undefined): string | undefined =>
  /^bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1];

const hashOf = (bearer: string): string => hash('sha256', bearer, 'base64url');

const isWrong = (error: unknown): boolean => error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR';

/** A wrong credential of an address that had too many is RATE_LIMITED; a good one is never. */
const guarded = async (
  guard: CredentialGuard,
  { address }: Sender,
  bearer: string,
  authenticate: () => Promise<Caller>,
): Promise<Caller> => {
  const attempt = guard(address, hashOf(bearer));
  attempt.assertMayVerify();
  try {
    const caller = await authenticate();
    attempt.passed();
    return caller;
  } catch (error) {
    if (isWrong(error)) await attempt.failed();
    throw error;
  }
};

const assertGuest = async (
  { guestToken, guestAddress }: AdmissionLimits,
  { address }: Sender,
  bearer: string,
): Promise<void> => {
  const key = hashOf(bearer);
  // The narrower one first: what it refuses does not use up the other.
  await guestAddress(`${key} ${address}`);
  await guestToken(key);
};

/** `limited` null: whoever is known may ask anything. */
export const createAdmission = (authenticate: Authenticate, limited: AdmissionLimits | null): Admission => {
  const recognise = async ({ credentials }: Operation, { authorization, sender }: Asking): Promise<Caller> => {
    const bearer = readBearer(authorization);
    const ask = () => authenticate(credentials, bearer);
    const [kind] = credentials;
    // Nothing is looked for where there is no credential.
    if (limited === null || sender === undefined || bearer === undefined || kind === undefined) return ask();
    const caller = await guarded(limited.guards[kind], sender, bearer, ask);
    if (caller.kind === 'guest') await assertGuest(limited, sender, bearer);
    if (sender.bodyBytes > 0) limited.refusedBodies.assertFew(hashOf(bearer));
    return caller;
  };
  return {
    admit: async (operation, asking) => {
      try {
        const caller = await recognise(operation, asking);
        if (operation.credentials.includes(caller.kind === 'guest' ? 'guestToken' : caller.kind)) return caller;
        throw new Error(`authenticate answered a ${caller.kind} caller, which ${operation.name} does not take`);
      } catch (error) {
        if (!(error instanceof Refusal) || !isWrong(error) || operation.authenticationCode === undefined) throw error;
        throw new Refusal(operation.authenticationCode, error.message, { reason: error.reason, cause: error });
      }
    },
    refusedBody: ({ authorization, sender }) => {
      const bearer = readBearer(authorization);
      if (sender !== undefined && bearer !== undefined) limited?.refusedBodies.note(hashOf(bearer), sender.bodyBytes);
    },
  };
};
