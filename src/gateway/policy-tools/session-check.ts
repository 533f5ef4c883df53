/**
 * Says what a session token is worth here: by which issuer and key it is verified, what it says, and what the policy
 * decides about it. The claims of a token that was not verified are shown too, since its faults are what is looked for.
 */
import {
  type JwtClaims,
  JwtFault,
  type JwtFaultReason,
  type JwtIssuer,
  readUnverified,
  type UnverifiedJwt,
  verifyJwt,
} from '../../platform/keys/jwt.js';
import type { Policy } from '../policy/policy.js';
import type { PolicyCase } from './dry-run.js';
import { type Explanation, explainGrant } from './explain.js';
import { writeExplanation } from './explain-text.js';

export type SessionCheck = {
  readonly isVerified: boolean;
  /** What the token says of itself. Null: it is no JWT. */
  readonly header: UnverifiedJwt['header'] | null;
  readonly claims: JwtClaims | null;
  readonly issuer: string | null;
  /** The names of the issuers that are accepted here. */
  readonly acceptedIssuers: readonly (string | null)[];
  /** Why the token is not accepted, and what to do. Null: it is. */
  readonly fault: { readonly reason: JwtFaultReason; readonly mend: string } | null;
  readonly explanation: Explanation | null;
};

export type SessionCheckOptions = {
  readonly token: string;
  readonly issuers: readonly JwtIssuer[];
  readonly policy: Policy;
  readonly of: Pick<PolicyCase, 'body' | 'now' | 'lookup'>;
};

const listed = (names: readonly unknown[]): string => names.map((name) => JSON.stringify(name)).join(', ') || 'none';

/** The issuer that the token's `iss` selects, as `verifyJwt` does. */
const selectedBy = (issuers: readonly JwtIssuer[], iss: unknown): JwtIssuer | undefined =>
  issuers.find(({ issuer }) => issuer !== null && issuer === iss) ?? issuers.find(({ issuer }) => issuer === null);

const timeOf = (value: unknown): string =>
  typeof value === 'number' && Math.abs(value) < 8.64e12 ? new Date(value * 1000).toISOString() : String(value);

const causeOf = ({ cause }: JwtFault): string => (cause instanceof Error ? `: ${cause.message}` : '');

/** What a token is verified with: the issuer's keys, or those of its key id. */
const choiceOf = (selected: JwtIssuer | undefined, { algorithm, keyId }: UnverifiedJwt['header']): string => {
  const name = selected?.issuer ?? null;
  const issuer = name === null ? 'the issuer without a name' : `the issuer ${JSON.stringify(name)}`;
  return `${issuer}, by ${algorithm} with ${keyId === null ? 'no key id' : `the key id ${JSON.stringify(keyId)}`}`;
};

const signatureMend = (algorithm: string): string =>
  algorithm.startsWith('HS')
    ? 'Compare the secret of the issuer with the one that the login signs with'
    : 'The token may be of another environment of the issuer';

const mendOf = (fault: JwtFault, read: UnverifiedJwt | null, { issuers }: SessionCheckOptions): string => {
  const { iss, exp, nbf, iat } = read?.claims ?? {};
  const { algorithm = '', keyId = null } = read?.header ?? {};
  const selected = selectedBy(issuers, iss);
  const chosen = choiceOf(selected, { algorithm, keyId });
  const mends: Readonly<Record<JwtFaultReason, string>> = {
    malformed: `it is no signed JWT with "exp"${causeOf(fault)}. Give the token that your login issues, whole; an opaque session needs an issuer with "ask"`,
    'too-long': 'it has more than 8,192 characters: let the login put fewer claims into it',
    'critical-extension': 'its header has "crit", which is not supported: let the login issue it without',
    'unknown-issuer': `its "iss" is ${JSON.stringify(iss)}, and the configuration accepts ${listed(issuers.map(({ issuer }) => issuer))}: add it to gateway.session.issuers, letter by letter`,
    'algorithm-not-allowed': `it is signed with ${algorithm}, and the issuer's algorithms are ${listed(selected?.algorithms ?? [])}: add ${algorithm} to them if the issuer signs so`,
    'unknown-key': `the issuer has no key ${JSON.stringify(keyId)} for ${algorithm}: the token may be of another environment of the issuer, or the key was withdrawn`,
    'keys-unavailable': `the keys of the issuer cannot be read${causeOf(fault)}`,
    'not-verified': `the signature, the issuer or the audience does not fit ${chosen}${causeOf(fault)}. ${signatureMend(algorithm)}. Its "aud" is ${JSON.stringify(read?.claims.aud)}, and ${selected?.audience === undefined ? 'none is required' : `${listed([selected.audience].flat())} is required`}`,
    expired: `it ended at ${timeOf(exp)}: log in again`,
    'not-yet-valid': `it begins at ${timeOf(nbf)}: compare the clocks of the login and of this machine`,
    'issued-in-the-future': `it was issued at ${timeOf(iat)}: compare the clocks of the login and of this machine`,
  };
  return mends[fault.reason];
};

const verify = async ({ token, issuers, of }: SessionCheckOptions): Promise<JwtFault | null> => {
  try {
    await verifyJwt(token, issuers, Math.floor(of.now.getTime() / 1000));
    return null;
  } catch (error) {
    if (error instanceof JwtFault) return error;
    throw error;
  }
};

/** Rejects with PolicyFaults if the policy asks the host and the case has no answer. */
export const checkSession = async (options: SessionCheckOptions): Promise<SessionCheck> => {
  const { token, issuers, policy, of } = options;
  const read = readUnverified(token);
  const fault = await verify(options);
  const claims = read?.claims ?? null;
  return {
    isVerified: fault === null,
    header: read?.header ?? null,
    claims,
    issuer: typeof claims?.iss === 'string' ? claims.iss : null,
    acceptedIssuers: issuers.map(({ issuer }) => issuer),
    fault: fault === null ? null : { reason: fault.reason, mend: mendOf(fault, read, options) },
    explanation: claims === null ? null : await explainGrant({ policy, of: { ...of, claims } }),
  };
};

/** Returns the text, without a final newline. */
export const writeSessionCheck = ({ header, claims, issuer, fault, explanation }: SessionCheck): string =>
  [
    fault === null ? 'VERIFIED' : `NOT ACCEPTED (${fault.reason}): ${fault.mend}.`,
    `issuer: ${issuer ?? '(none)'}`,
    ...(header === null ? [] : [`signed with ${header.algorithm}, key ${header.keyId ?? '(not named)'}`]),
    ...(claims === null ? [] : ['', 'Claims', JSON.stringify(claims, null, 2)]),
    ...(explanation === null
      ? []
      : ['', fault === null ? 'Decision' : 'Decision, if it were accepted', writeExplanation(explanation)]),
  ].join('\n');
