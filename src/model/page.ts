/** A page of a list. `number` starts at 1; a page has `size` items. */
export type Page = { readonly number: number; readonly size: number };

/** Items on a page, for every list. spec-gap: the interface gives this number only for datamarts. */
const pageSize = 10;

export type Paged = { readonly isPagination?: boolean | undefined; readonly pageNumber?: number | undefined };

/** Returns the page that a request selects, or null for all items. */
export const pageOf = ({ isPagination, pageNumber }: Paged): Page | null =>
  isPagination === true ? { number: pageNumber ?? 1, size: pageSize } : null;

/** Returns the items of the page that a request selects. */
export const pageItems = <Item>(items: readonly Item[], command: Paged): readonly Item[] => {
  const page = pageOf(command);
  return page === null ? items : items.slice((page.number - 1) * page.size, page.number * page.size);
};
