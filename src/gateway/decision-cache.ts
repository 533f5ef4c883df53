/**
 * Caches decisions with their answers for equal requests. A decision is a pure function of the policy, the tenant, the body and the
 * claims that the policy reads; decisions of a policy that reads the time are not cached. Everything else that a decision depends
 * on (revocations, the tenant's state, the token's life, dashboards, metrics) is checked at every request by `isStill`.
 */
import { createLru } from '../platform/work/lru.js';
import type { Session } from './authenticate/signed-session.js';
import type { ForgetClient } from './common/eraser.js';
import { dropWhere } from './common/eraser.js';
import type { EmbedTokenBody } from './common/wire.js';
import { type CelValue, type ClaimSchema, celClaims } from './policy/claim-values.js';
import type { Grant } from './policy/decide.js';
import { type Policy, policyFor } from './policy/policy.js';
import { readsTime } from './policy/validity.js';
import type { GuestToken } from './token/token.js';

/** The inputs of a decision. */
export type DecisionInput = {
  readonly policy: Policy;
  readonly session: Session;
  readonly clientId: string;
  readonly asked: EmbedTokenBody;
};

export type Decision = {
  readonly grant: Grant;
  readonly token: Pick<GuestToken, 'token' | 'expiresAtMs' | 'mintedBy'>;
  /** The body of the answer, as JSON, without `serviceUrl`. */
  readonly body: string;
  /** Whether a new decision would be the same now. Uses only what this process knows. */
  readonly isStill: () => boolean;
};

export type DecisionCache = {
  /** Undefined: no cached decision holds. */
  readonly find: (input: DecisionInput) => Decision | undefined;
  readonly store: (input: DecisionInput, decision: Decision) => Decision;
  readonly forget: ForgetClient;
  readonly clear: () => void;
};

/** Room for one answer of each remembered session (10,000) of about 3 KB. */
const usualBytes = 32 * 1024 * 1024;
/** Memory of a decision beside its texts: the grant with its lists and maps. Measured: 1.5 to 2 KB. */
const decisionBytes = 2_048;

/** The body as text; empty for most requests. */
const textOf = ({ tenant, embeds, timezone }: EmbedTokenBody): string =>
  tenant === undefined && embeds === undefined && timezone === undefined
    ? ''
    : JSON.stringify([tenant ?? null, embeds ?? null, timezone ?? null]);

/** Differs for every two values that an expression could tell apart. JSON alone loses -0 and infinity. */
const claimText = (value: CelValue | undefined): string => {
  if (value === undefined) return '';
  if (typeof value === 'number') return `#${Object.is(value, -0) ? '-0' : value}`;
  if (typeof value === 'bigint') return `${value}`;
  if (value instanceof Map)
    return `{${[...value].map(([name, item]) => JSON.stringify(name) + claimText(item)).join()}}`;
  return Array.isArray(value) ? `[${value.map(claimText).join()}]` : JSON.stringify(value);
};

/** The claims that the policy's expressions can read, as these read them, in the order of its schema. */
const claimsOf = ({ claims }: Session, schema: ClaimSchema): readonly string[] => {
  const read = celClaims(claims, schema);
  return Object.keys(schema).map((name) => claimText(read[name]));
};

type Entry = { readonly policy: Policy; readonly clientId: string; readonly key: string; readonly decision: Decision };
type RememberedKey = {
  readonly policy: Policy;
  readonly clientId: string;
  readonly asked: string;
  readonly key: string;
};

/** Makes cache keys. Each session remembers its last key, because making one costs as much as the rest of a request. */
const createKeys = () => {
  const remembered = new WeakMap<Session, RememberedKey>();
  return ({ policy, session, clientId, asked }: DecisionInput): string => {
    const text = textOf(asked);
    const last = remembered.get(session);
    if (last?.policy === policy && last.clientId === clientId && last.asked === text) return last.key;
    const key = JSON.stringify([clientId, text, session.issuer, session.subject, claimsOf(session, policy.claims)]);
    remembered.set(session, { policy, clientId, asked: text, key });
    return key;
  };
};

/** `maxBytes`: approximate size limit of all cached decisions. The least recently used are dropped first. */
export const createDecisionCache = (maxBytes = usualBytes): DecisionCache => {
  const held = createLru<string, Entry>(maxBytes, {
    sizeOf: ({ key, decision }) => decisionBytes + key.length + decision.body.length,
  });
  const keyOf = createKeys();
  const timed = new WeakMap<Policy, boolean>();
  const isTimed = (policy: Policy): boolean => {
    const known = timed.get(policy) ?? readsTime(policy);
    timed.set(policy, known);
    return known;
  };
  return {
    find: (input) => {
      const key = keyOf(input);
      const entry = held.get(key);
      if (entry === undefined) return undefined;
      if (entry.policy === input.policy && entry.decision.isStill()) return entry.decision;
      held.delete(key);
      return undefined;
    },
    store: (input, decision) => {
      const { policy, clientId } = input;
      // A decision that was revoked during the request would stay, because the erasure of its tenant has already run.
      if (isTimed(policyFor(policy, clientId)) || !decision.isStill()) return decision;
      const key = keyOf(input);
      held.set(key, { policy, clientId, key, decision });
      return decision;
    },
    forget: (clientId) => dropWhere(held, (_, entry) => entry.clientId === clientId),
    clear: () => held.clear(),
  };
};
