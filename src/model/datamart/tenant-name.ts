/** Names of tenants are text of a customer's database, or of another maker's service. */
import type { ColumnRef } from './datamart.js';

export type TenantName = { readonly clientId: string; readonly name: string };

/** A client that has a row. `name` null: the row has none. */
export type FoundTenant = { readonly clientId: string; readonly name: string | null };

export type TenantNames = {
  /** The column that the names are of. Null: the datamart has no table of clients. */
  readonly column: ColumnRef | null;
  readonly found: readonly FoundTenant[];
  /** Whether no client is missing because the datasource did not answer in time. */
  readonly isWhole: boolean;
};

/** Tenants whose names are read at once. */
export const namesAtOnce = 200;

/** Characters of a name that are shown. */
const longest = 120;

/**
 * Controls, and marks that change the direction of the text around them: a name must not turn the words beside it around, or
 * write to a terminal.
 */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the name as people may see it, in one line; longer ones end with an ellipsis. Undefined: nothing is left of it. */
export const shownTenantName = (name: string): string | undefined => {
  const characters = [...name.replaceAll(unsafe, ' ').replaceAll(/\s+/gu, ' ').trim()];
  if (characters.length === 0) return undefined;
  return characters.length <= longest
    ? characters.join('')
    : `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`;
};
