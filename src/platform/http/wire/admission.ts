/** Admits a request to an operation: authenticates the caller and applies the rate limits. */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../../model/guest/caller.js';
import { Refusal } from '../../../model/refusal.js';
import type { AssertBudget } from '../../limits/budget.js';
import type { CredentialGuard } from '../../limits/credential-guard.js';
import type { RefusedBodies } from '../../limits/refused-bodies.js';
import { limits } from '../interface/fields.js';
import type { Credential, Operation } from '../interface/operation.js';
import type { AddressOf } from './address.js';

/**
 * Returns the caller of the bearer credential. Throws AUTHENTICATION_ERROR, TOKEN_EXPIRED or UNAUTHORIZED. The caller
 * is always of one of the given kinds.
 */
export type Authenticate = (credentials: readonly Credential[], bearer: string | undefined) => Promise<Caller>;

/** The sender of a request over HTTP. In-process calls have none, and no limits apply to them. */
export type Sender = {
  readonly address: string;
  /** Bytes of the body. If they are not known before reading, the usual maximum is assumed. */
  readonly bodyBytes: number;
};

export type AdmissionLimits = {
  /** Count wrong credentials, by kind of credential. */
  readonly guards: Readonly<Record<Credential, CredentialGuard>>;
  /** Limit the requests with one guest token: in all, and from one address. */
  readonly guestToken: AssertBudget;
  readonly guestAddress: AssertBudget;
  /** Counts the refused bodies of each credential. */
  readonly refusedBodies: RefusedBodies;
};

export type Asking = {
  readonly authorization: string | undefined;
  readonly sender?: Sender | undefined;
  /** Who asks, where this process itself does; nothing is then authenticated. */
  readonly caller?: Caller | undefined;
};

export type Admission = {
  readonly admit: (operation: Operation, asking: Asking) => Promise<Caller>;
  /** Counts a guest's call, which `admit` has counted once, as this many requests. Throws RATE_LIMITED. */
  readonly countMore: (caller: Caller, asking: Asking, requests?: number) => Promise<void>;
  /** Counts that the body of this request was refused. */
  readonly refusedBody: (asking: Asking) => void;
};

export const senderOf = (addressOf: AddressOf, request: IncomingMessage): Sender => {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  const isKnown = length !== undefined && encoding === undefined;
  const hasBody = length !== undefined || request.headers['transfer-encoding'] !== undefined;
  return { address: addressOf(request), bodyBytes: isKnown ? Number(length) : hasBody ? limits.usualBodyBytes : 0 };
};

/** The bearer credential of the header `Authorization`. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1];

const hashOf = (bearer: string): string => hash('sha256', bearer, 'base64url');

const isWrong = (error: unknown): boolean => error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR';

/**
 * Counts a wrong credential. An address with too many of them gets RATE_LIMITED for further wrong ones; a valid
 * credential always passes.
 */
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
  // The limit by address is checked first: requests that it refuses must not use up the limit of the token.
  await guestAddress(`${key} ${address}`);
  await guestToken(key);
};

/** `limited` is null: no limits apply. */
export const createAdmission = (authenticate: Authenticate, limited: AdmissionLimits | null): Admission => {
  const recognise = async (
    { credentials }: Operation,
    { authorization, sender, caller: own }: Asking,
  ): Promise<Caller> => {
    if (own !== undefined) return own;
    const bearer = bearerOf(authorization);
    const ask = () => authenticate(credentials, bearer);
    const [kind] = credentials;
    // A request without a credential is refused by `authenticate`, and is not counted.
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
    countMore: async (caller, { authorization, sender }, requests = 1) => {
      const bearer = bearerOf(authorization);
      if (limited === null || sender === undefined || bearer === undefined || caller.kind !== 'guest') return;
      for (let count = 1; count < requests; count += 1) await assertGuest(limited, sender, bearer);
    },
    refusedBody: ({ authorization, sender }) => {
      const bearer = bearerOf(authorization);
      if (sender !== undefined && bearer !== undefined) limited?.refusedBodies.note(hashOf(bearer), sender.bodyBytes);
    },
  };
};
