/** Who gets the messages of a schedule that is not for its owner alone. */
import type { Tag } from '../ports.js';
import { mailboxOf } from './address.js';

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

type OfClient = { readonly dataAppId: string; readonly clientId: string };

/** A mailbox that a schedule names, by one or more addresses. */
export type Mailbox = {
  /** Where mail goes: the first of its addresses, as written. */
  readonly address: string;
  /** What deliveries, questions and stops of this client know the mailbox by. */
  readonly digest: string;
  /** What earlier releases knew its addresses by: each as written. */
  readonly earlier: readonly string[];
};

/** The mailboxes of addresses, each once. */
export const listMailboxes = async (
  tag: Tag,
  { dataAppId, clientId }: OfClient,
  addresses: readonly string[],
): Promise<readonly Mailbox[]> => {
  const digestOf = (text: string): Promise<string> => tag(['report-address', dataAppId, clientId, text]);
  const found = new Map<string, Mailbox>();
  for (const address of addresses) {
    const digest = await digestOf(mailboxOf(address));
    const known = found.get(digest);
    const earlier = [...(known?.earlier ?? []), await digestOf(address)];
    found.set(digest, { address: known?.address ?? address, digest, earlier });
  }
  return [...found.values()];
};

/** Whether a digest that is stored with a delivery or a stop is this mailbox's, of this or of an earlier release. */
export const isOfMailbox = ({ digest, earlier }: Mailbox, stored: string): boolean =>
  stored === digest || earlier.includes(stored);

/** What is known of a mailbox. A confirmation of an address as written, from an earlier release, is one of its mailbox. */
export const findMailbox = async (
  find: (owner: OfClient, digest: string) => Promise<KnownAddress | undefined>,
  owner: OfClient,
  { digest, earlier }: Mailbox,
): Promise<KnownAddress | undefined> => {
  const known = await find(owner, digest);
  if (known !== undefined && known.confirmedAt !== null) return known;
  for (const one of earlier) {
    const before = one === digest ? undefined : await find(owner, one);
    if (before !== undefined && before.confirmedAt !== null) return before;
  }
  return known;
};

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
