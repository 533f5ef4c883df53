/**
 * The keys that sign what this process sends and check what it receives, as operators see them: never their material. No
 * key signs guest tokens, which are random references.
 */

/**
 * `sessions`: of the host's users. `hooks`: that the host sends. `webhooks`: that this process sends. `mail`: DKIM.
 * `archive`: archived segments of the audit.
 */
export type KeyPurpose = 'sessions' | 'hooks' | 'webhooks' | 'mail' | 'archive';

/**
 * Where a key is kept. `name`: the environment variable, the file as the configuration names it, or the address of the
 * key set without its query; null for a key in the configuration itself and for the demo's.
 */
export type KeySource = {
  readonly kind: 'variable' | 'file' | 'setting' | 'jwks' | 'demo';
  readonly name: string | null;
};

export type SigningKey = {
  readonly purpose: KeyPurpose;
  /** The issuer, the channel or the domain of senders. Null: sessions of any issuer, and hooks. */
  readonly of: string | null;
  /** The key's published id; for mail the selector. */
  readonly kid: string | null;
  /** The SHA-256 thumbprint of a public key (RFC 7638), in base64url. Null for a secret, of which nothing is shown. */
  readonly thumbprint: string | null;
  readonly algorithms: readonly string[];
  /** `signs`: what this process sends. `checks`: only what it receives. */
  readonly use: 'signs' | 'checks';
  readonly source: KeySource;
  /** Since when this process uses the key. */
  readonly since: Date;
};

/** A published set of keys, as this process has read it. */
export type KeySet = {
  readonly of: string;
  readonly url: string;
  /** Null: no session needed it so far. */
  readonly readAt: Date | null;
  readonly isFailing: boolean;
};

export type SigningKeys = { readonly keys: readonly SigningKey[]; readonly sets: readonly KeySet[] };
export type ReadSigningKeys = () => SigningKeys;
