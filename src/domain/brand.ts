declare const brand: unique symbol;

/** A value that was checked: only the module that owns the check can make one. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The SHA-256 of a credential in lower-case hex. Credentials themselves are never stored. */
export type HashedToken = Brand<string, 'HashedToken'>;

/** How often the tokens of a subject have been revoked: a token is good only while this is what it was when its mint began. */
export type Epoch = Brand<string, 'Epoch'>;

/**
 * How often the organization's content was changed: datasources, datamarts, workspaces, dashboards, metrics and embeds. Whatever was read of it after
 * its revision was, is still so for whoever reads the same revision later.
 */
export type ContentRevision = Brand<string, 'ContentRevision'>;
