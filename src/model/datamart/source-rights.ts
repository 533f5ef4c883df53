/** What the user of a datasource may do beyond reading, which a report never needs. */

/** `bypass-rls`: row-level security, the second wall of tenants, does not hold for the user. */
export type ExcessRight = 'superuser' | 'bypass-rls' | 'write' | 'create' | 'administer';

export type SourceRights = {
  /** The version of the server, as it says. */
  readonly version: string;
  readonly excess: readonly ExcessRight[];
  /** The server does not say what the user may do. Left out: it does. */
  readonly isUnknown?: boolean | undefined;
};
