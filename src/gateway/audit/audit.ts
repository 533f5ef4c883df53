/** The events of the audit, and the port that records them. */

export const auditKinds = [
  'mint',
  'denial',
  'provision',
  'hook',
  'revocation',
  'policy-load',
  'rollout',
  'erasure',
  'admin',
] as const;
export type AuditKind = (typeof auditKinds)[number];

/** One thing that happened. Holds no value of a claim and none that restricts. What is left out does not apply. */
export type AuditEvent = {
  readonly kind: AuditKind;
  /** `OK`, or the code of the refusal. */
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly clientId?: string | undefined;
  /** The userIdentifier. */
  readonly user?: string | undefined;
  /** `file:line:column` of each rule and restriction that applied. */
  readonly policyAt?: readonly string[] | undefined;
  /** SHA-256 of the canonical request, in hex. */
  readonly requestDigest?: string | undefined;
  /** What the upstream calls it: of a mint, the SHA-256 of the token. */
  readonly upstreamId?: string | undefined;
  readonly durationMs?: number | undefined;
  /** Names and figures that belong to this kind. The client's and the user's names are taken out of it. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** What the request was decided on, for `policy explain --request`; kept apart from the chain, sealed, and for a while. */
  readonly explanation?: Explanation | undefined;
};

/** All that a decision depends on but the clock's zone: the policy is found by its digest. */
export type Explanation = {
  readonly policyDigest: string;
  readonly session: {
    readonly issuer: string | null;
    readonly subject: string;
    readonly claims: Readonly<Record<string, unknown>>;
  };
  readonly asked: { readonly tenant?: string; readonly embeds?: readonly string[]; readonly timezone?: string };
  /** ISO 8601. */
  readonly now: string;
};

export type Audit = {
  /** Resolves once the event is kept. Rejects where it cannot be: what must be accounted for does not happen then. */
  readonly record: (event: AuditEvent) => Promise<void>;
};
