/**
 * Decisions with their answers, kept for requests that are the same. A decision is a pure function of the policy, the tenant, the body
 * and what the policy reads of the session; a policy that reads the time is decided anew at every request. What a decision
 * rests on beside these (revocations, the tenant's state, the token's life, dashboards, metrics) is asked at every request: `isStill`.
 */
import { createSizedLru } from '../platform/lru.js';
import type { Session } from './authenticate/signed-session.js';
import type { ForgetClient } from './common/eraser.js';
import { dropWhere } from './common/eraser.js';
import type { EmbedTokenBody } from './common/wire.js';
import type { Grant } from './policy/decide.js';
import type { ClaimSchema } from './policy/expression.js';
import { type Policy, policyFor } from './policy/policy.js';
import { readsTime } from './policy/validity.js';
import type { GuestToken } from './token/token.js';

/** What a request is decided by. */
export type DecisionInput = {
  readonly policy: Policy;
  readonly session: Session;
  readonly clientId: string;
  readonly asked: EmbedTokenBody;
};

export type Decision = {
  readonly grant: Grant;
  readonly token: Pick<GuestToken, 'token' | 'expiresAtMs' | 'mintedBy'>;
  /** The answer's body, as JSON, without the service's address. */
  readonly body: string;
  /** Whether deciding anew would give the same now, as far as that can be told without asking anybody. */
  readonly isStill: () => boolean;
};

export type DecisionCache = {
  /** Undefined: it has to be decided. */
  readonly find: (input: DecisionInput) => Decision | undefined;
  readonly store: (input: DecisionInput, decision: Decision) => Decision;
  readonly forget: ForgetClient;
  readonly clear: () => void;
};

/** Room for an answer of each session that is remembered (10,000), at about 3 KB. */
const usualBytes = 32 * 1024 * 1024;
/** What a decision takes beside its texts: a grant with its lists and maps. Measured: 1.5 to 2 KB. */
const decisionBytes = 2_048;

/** The body as text; most have none. */
const textOf = ({ tenant, embeds, timezone }: EmbedTokenBody): string =>
  tenant === undefined && embeds === undefined && timezone === undefined
    ? ''
    : JSON.stringify([tenant ?? null, embeds ?? null, timezone ?? null]);

/** Different for every two values that an expression could tell apart: JSON has no -0 and no infinity. */
const claimText = (value: unknown): string => {
  if (typeof value === 'number') return `#${Object.is(value, -0) ? '-0' : value}`;
  return value === undefined ? '' : JSON.stringify(value);
};

/** The claims that the policy's expressions can read, in the order of its schema. */
const claimsOf = ({ claims }: Session, schema: ClaimSchema): readonly string[] =>
  Object.keys(schema).map((name) => (Object.hasOwn(claims, name) ? claimText(claims[name]) : ''));

type Entry = { readonly policy: Policy; readonly clientId: string; readonly key: string; readonly decision: Decision };
type Named = { readonly policy: Policy; readonly clientId: string; readonly asked: string; readonly key: string };

/** The names of inputs under one policy. Each session remembers its last one: to make it costs as much as the rest of a request. */
const createNames = () => {
  const names = new WeakMap<Session, Named>();
  return ({ policy, session, clientId, asked }: DecisionInput): string => {
    const text = textOf(asked);
    const last = names.get(session);
    if (last?.policy === policy && last.clientId === clientId && last.asked === text) return last.key;
    const key = JSON.stringify([clientId, text, session.issuer, session.subject, claimsOf(session, policy.claims)]);
    names.set(session, { policy, clientId, asked: text, key });
    return key;
  };
};

/** `maxBytes`: of all that is kept, roughly. */
export const createDecisionCache = (maxBytes = usualBytes): DecisionCache => {
  const held = createSizedLru<string, Entry>(
    maxBytes,
    ({ key, decision }) => decisionBytes + key.length + decision.body.length,
    () => {},
  );
  const nameOf = createNames();
  const timed = new WeakMap<Policy, boolean>();
  const isTimed = (policy: Policy): boolean => {
    const known = timed.get(policy) ?? readsTime(policy);
    timed.set(policy, known);
    return known;
  };
  return {
    find: (input) => {
      const key = nameOf(input);
      const entry = held.get(key);
      if (entry === undefined) return undefined;
      if (entry.policy === input.policy && entry.decision.isStill()) return entry.decision;
      held.delete(key);
      return undefined;
    },
    store: (input, decision) => {
      const { policy, clientId } = input;
      // What was revoked meanwhile would stay: the erasure of its tenant is over then.
      if (isTimed(policyFor(policy, clientId)) || !decision.isStill()) return decision;
      const key = nameOf(input);
      held.set(key, { policy, clientId, key, decision });
      return decision;
    },
    forget: (clientId) => dropWhere(held, (_, entry) => entry.clientId === clientId),
    clear: () => held.clear(),
  };
};
