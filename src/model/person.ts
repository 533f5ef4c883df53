/** Who works in Studio: the person of a session, and the roles that decide what this person may do. */
import type { HashedToken } from './brand.js';

/**
 * `owner` may do everything. `author` builds datamarts and dashboards. `publisher` rolls them out. `policyAdmin` saves
 * policies, and so decides who sees which data: this role sees data itself. `support` looks at tenants, suspends and
 * resumes them and revokes their tokens. `auditor` reads, and changes nothing.
 */
export const studioRoles = ['owner', 'author', 'publisher', 'policyAdmin', 'support', 'auditor'] as const;
export type StudioRole = (typeof studioRoles)[number];

export type Person = {
  /**
   * Who vouched for this person: the OpenID Connect issuer, `link` for a login link of this installation, or `key` for
   * the key of an assistant.
   */
  readonly issuer: string;
  readonly subject: string;
  /** As shown in Studio. */
  readonly name: string;
  readonly roles: readonly StudioRole[];
  /** Whether this person may see rows of tenants. Without it, Studio shows definitions only. */
  readonly seesData: boolean;
};

/** A login, or the key of an assistant. Only the hash of its cookie or key is stored. */
export type StudioSession = {
  readonly id: string;
  readonly hash: HashedToken;
  readonly person: Person;
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly expiresAt: Date;
  /** When the issuer last vouched for the person. Null: nobody can be asked again, as for a login link or a key. */
  readonly vouchedAt: Date | null;
  /** When a process last began to ask the issuer again. Null: not since the login. */
  readonly askedAt: Date | null;
};

/** What the issuer of a login gave to be asked again for the person. It is secret, and stored sealed. */
export type IssuerToken = {
  /** `refresh`: gets new tokens for it. `access`: reads the person's claims, until it expires. */
  readonly kind: 'refresh' | 'access';
  readonly token: string;
  /** Whether the claims that an access token reads have the roles. Without them, only the login is asked for. */
  readonly tellsRoles: boolean;
};

/** Whether one of the person's roles is among `roles`. An owner has every role. */
export const hasRole = ({ roles: own }: Pick<Person, 'roles'>, roles: readonly StudioRole[]): boolean =>
  own.includes('owner') || roles.some((role) => own.includes(role));

/** Names a person in the audit and in log lines. */
export const nameInRecords = ({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>): string =>
  `${issuer} ${subject}`.slice(0, 255);
