declare const brand: unique symbol;

/** A value that was checked: only the module that owns the check can make one. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The SHA-256 of a credential in lower-case hex. Credentials themselves are never stored. */
export type HashedToken = Brand<string, 'HashedToken'>;
