/** Lists a page at a time, and stores of things with a unique name. */
/** `number` is 1-based; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** The size of a page in every listing. spec-gap: the interface gives it for datamarts only. */
export const pageSize = 10;

/** `insert` answers false when the name is taken, and writes nothing: two simultaneous creates make exactly one. */
export type NamedStore<T> = {
  readonly insert: (item: T) => Promise<boolean>;
  readonly update: (item: T) => Promise<void>;
  readonly findByName: (name: string) => Promise<T | undefined>;
  readonly findById: (id: string) => Promise<T | undefined>;
};
