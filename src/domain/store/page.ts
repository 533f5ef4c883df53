/** Types of paged lists, and of stores of things with a unique name. */
/** A page of a list. `number` starts at 1; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** Items on a page, for every list. spec-gap: the interface gives this number only for datamarts. */
export const pageSize = 10;

/**
 * A store of things with a unique name. `insert` returns false and writes nothing if the name is taken, so only one of
 * two simultaneous creates succeeds.
 */
export type NamedStore<T> = {
  readonly insert: (item: T) => Promise<boolean>;
  readonly update: (item: T) => Promise<void>;
  readonly findByName: (name: string) => Promise<T | undefined>;
  readonly findById: (id: string) => Promise<T | undefined>;
};
