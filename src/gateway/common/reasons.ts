/**
 * The reason codes of the gateway's refusals. A code tells which rule of the gateway refused the request. It is written
 * to the log and the audit. The code of a 403 is also in the response of `/embed-token`. The set is closed, so that
 * operators and front ends can rely on it.
 */
import type { Code } from '../../model/errors.js';
import type { JwtFault } from '../../platform/keys/jwt.js';
import type { GatewayCode } from './wire.js';

const refusals = {
  INVALID_REQUEST_BODY: [
    'body-too-large',
    'json-excess',
    'body-ended-early',
    'body-read-before',
    'body-not-json',
    'body-type',
    'body-unreadable',
    'timezone-refused',
    'claim-number-unsafe',
  ],
  NO_TENANT: [
    /** The policy's tenant expression could not be evaluated. */
    'tenant-undecided',
    'no-tenants',
    'tenant-malformed',
    'tenant-not-own',
    /** The session belongs to several tenants and the body chooses none. */
    'tenant-not-chosen',
    'tenant-unknown',
    'tenant-unknown-upstream',
    /** The policy serves known tenants only, and the table of tenants has no row of this one. */
    'tenant-not-in-table',
    'tenant-too-long',
  ],
  NO_POLICY: ['no-policy'],
  POLICY_UNDECIDED: [
    'expression-failed',
    'empty-intersection',
    /** Rules, restrictions, templates or overrides that apply name different datasources or datamarts. */
    'sources-disagree',
    'granted-embed-unknown',
    'granted-embed-not-readable',
    'everything-hidden',
    'column-rules-unsupported',
    'quota-unsupported',
    'known-tenants-unsupported',
    'restriction-binds-nothing',
    'mint-field-refused',
  ],
  EMBED_NOT_GRANTED: ['embed-not-granted'],
  TENANT_SUSPENDED: ['tenant-suspended', 'tenant-deleted'],
} as const satisfies Partial<Record<GatewayCode, readonly string[]>>;

/** A reason code of one error code. */
export type Reason<Code extends keyof typeof refusals> = (typeof refusals)[Code][number];

/** A reason code of SESSION_INVALID. */
export type SessionReason =
  | 'no-session'
  | 'no-subject'
  | 'two-sessions'
  | 'origin-not-allowed'
  | 'session-revoked'
  | `session-${JwtFault['reason']}`;

/** Returns the reason code if it belongs to the error code, else the error code in the format of a reason code. */
export const publicReason = (code: Code, reason: string): string => {
  const known: readonly string[] = code in refusals ? refusals[code as keyof typeof refusals] : [];
  return known.includes(reason) ? reason : code.toLowerCase().replaceAll('_', '-');
};
