declare const brand: unique symbol;

/** A value that was checked. Only the module that owns the check can create one. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The SHA-256 of a credential in lower-case hex. Credentials themselves are never stored. */
export type HashedToken = Brand<string, 'HashedToken'>;

declare const sealed: unique symbol;

/**
 * Text that a `Sealer` encrypted. It is no string for the compiler: a column that is not declared as sealed cannot take
 * it, so `guestlist keys reseal` knows every column that does.
 */
export type Sealed = { readonly [sealed]: true };

/**
 * The number of revocations that affected the tokens of a subject. A token is valid only while this number is the same
 * as when its mint began.
 */
export type Epoch = Brand<string, 'Epoch'>;

/**
 * The number of changes to the organization's content: datasources, datamarts, workspaces, dashboards, metrics and
 * embeds. Content that was read after its revision may be reused by every request that reads the same revision later.
 */
export type ContentRevision = Brand<string, 'ContentRevision'>;
