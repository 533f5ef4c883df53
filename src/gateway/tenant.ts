import { Refusal } from '../domain/refusal.js';
import { celClaims } from './expression.js';
import type { Session } from './identity.js';
import type { Policy } from './policy-file.js';

/**
 * The clientId of a session: what the policy's tenant expression gives for its claims. Where it gives several, `asked`
 * must choose one of them, and nothing but one of them. Throws NO_TENANT.
 */
export type TenantOf = (policy: Policy, session: Session, asked: string | undefined) => string | Promise<string>;

const refuse = (message: string, reason: string, cause?: unknown): never => {
  throw new Refusal('NO_TENANT', message, { reason, cause });
};

/** 1 to 255 characters without control characters and halves of characters: two ids are never written alike. */
const tenantPattern = /^[^\p{Cc}\p{Cs}]+$/u;
const maxTenantLength = 255;

const isTenant = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxTenantLength && tenantPattern.test(value);

const evaluate = (policy: Policy, session: Session): unknown => {
  try {
    return policy.tenant.evaluate({ claims: celClaims(session.claims, policy.claims) });
  } catch (cause) {
    return refuse(
      `The session names no organisation: the policy's tenant expression "${policy.tenant.source}" gives nothing for its claims. Issue sessions with that claim.`,
      'tenant-undecided',
      cause,
    );
  }
};

const tenantsOf = (policy: Policy, session: Session): readonly string[] => {
  const result = evaluate(policy, session);
  const tenants = Array.isArray(result) ? result : [result];
  if (tenants.length === 0) {
    refuse('The session belongs to no organisation. Issue sessions that name at least one.', 'no-tenants');
  }
  if (!tenants.every(isTenant)) {
    return refuse(
      "The session's organisation is not a usable id: it must be text of 1 to 255 characters without control characters.",
      'tenant-malformed',
    );
  }
  return [...new Set(tenants)];
};

/** Makes the step. */
export const createTenantStep = (): TenantOf => (policy, session, asked) => {
  const tenants = tenantsOf(policy, session);
  if (asked !== undefined) {
    if (tenants.includes(asked)) return asked;
    return refuse(
      "The tenant of the body is not one that this session belongs to. Leave it out, or choose one of the session's own.",
      'tenant-not-own',
    );
  }
  const [only, ...others] = tenants;
  if (only !== undefined && others.length === 0) return only;
  return refuse(
    `This session belongs to ${tenants.length} organisations. Choose one of them in the body: {"tenant": "..."}.`,
    'tenant-not-chosen',
  );
};
