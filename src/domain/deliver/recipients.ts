/** Who gets the messages of a schedule that is not for its owner alone. */

/** Users are named by their identifiers, roles as the policy reads them from sessions. */
export type Recipients = {
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** Addresses without an account. */
  readonly addresses: readonly string[];
};

/** The most entries of each list. */
export const mostNamed = 100;
/** The most messages of one schedule at one moment. */
export const mostRecipients = 1_000;

/** The recipient of a delivery that finds the others, and is no message. No user has an empty identifier. */
export const everyone = '';

/** An address without an account, as far as one tenant has confirmed it. */
export type KnownAddress = {
  readonly id: string;
  /** When a message last asked to confirm it; null: never. */
  readonly askedAt: Date | null;
  /** Null: nothing but that question may be sent to it. */
  readonly confirmedAt: Date | null;
};

const dayMs = 86_400_000;
/** How long the link of a question can confirm an address. */
export const confirmableMs = 14 * dayMs;

/** Whether to ask now. A tenant asks an address at most once a day. */
export const mayAsk = ({ askedAt }: Pick<KnownAddress, 'askedAt'>, now: Date): boolean =>
  askedAt === null || now.getTime() - askedAt.getTime() > dayMs;

/** What identifies an address of a client: the parts of a keyed digest. */
export const addressParts = (
  { dataAppId, clientId }: { readonly dataAppId: string; readonly clientId: string },
  address: string,
): readonly string[] => ['report-address', dataAppId, clientId, address];

/** A user of a tenant whose last session is known. */
export type TenantUser = {
  readonly userIdentifier: string;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
};

/** Whom a user may send a dashboard to. */
export type Audience = {
  /** The users of the tenant whose last session is known. `address`: null if no report can be sent to them. */
  readonly users: readonly { readonly userIdentifier: string; readonly address: string | null }[];
  /** The roles that these users have. */
  readonly roles: readonly string[];
  /** The domains of addresses without an account; empty: there are none. */
  readonly domains: readonly string[];
};

export const isNamed = ({ users, roles }: Recipients, user: Pick<TenantUser, 'userIdentifier' | 'roles'>): boolean =>
  users.includes(user.userIdentifier) || user.roles.some((role) => roles.includes(role));

export const hasNone = ({ users, roles, addresses }: Recipients): boolean =>
  users.length + roles.length + addresses.length === 0;
