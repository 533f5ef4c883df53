/** A page of a list. `number` starts at 1; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** Items on a page, for every list. spec-gap: the interface gives this number only for datamarts. */
export const pageSize = 10;
