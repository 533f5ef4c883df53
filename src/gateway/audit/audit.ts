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

/** One audited event. Contains no claim value and no restriction value. A field that does not apply is left out. */
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
  /** The upstream's identifier. For a mint, the SHA-256 of the token. */
  readonly upstreamId?: string | undefined;
  readonly durationMs?: number | undefined;
  /**
   * Further names and numbers for this kind of event. The client's and the user's names are removed from the texts
   * before they are stored.
   */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /**
   * The inputs of the decision, for `policy explain --request`. Stored sealed, outside the chain, for a limited time.
   */
  readonly explanation?: Explanation | undefined;
};

/** All inputs of a decision except the clock's time zone. `policyDigest` identifies the policy. */
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
  /**
   * Resolves once the event is stored. Rejects if it cannot be stored; then the caller must not perform an action that
   * must be audited.
   */
  readonly record: (event: AuditEvent) => Promise<void>;
};
