/** Paging of lists. */
import { type Page, pageSize } from '../../model/page.js';

export type Paged = { readonly isPagination?: boolean | undefined; readonly pageNumber?: number | undefined };

/** Returns the page that a request selects, or null for all items. */
export const pageOf = ({ isPagination, pageNumber }: Paged): Page | null =>
  isPagination === true ? { number: pageNumber ?? 1, size: pageSize } : null;

/** Returns the items of the page that a request selects. */
export const pageItems = <Item>(items: readonly Item[], command: Paged): readonly Item[] => {
  const page = pageOf(command);
  return page === null ? items : items.slice((page.number - 1) * page.size, page.number * page.size);
};
