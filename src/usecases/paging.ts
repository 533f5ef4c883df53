/** How listings answer a page at a time. */
import { type Page, pageSize } from '../domain/store/page.js';

export type Paged = { readonly isPagination?: boolean | undefined; readonly pageNumber?: number | undefined };

/** The page that a listing asks for; null: all. */
export const pageOf = ({ isPagination, pageNumber }: Paged): Page | null =>
  isPagination === true ? { number: pageNumber ?? 1, size: pageSize } : null;

/** The items of the page that a listing asks for. */
export const pageItems = <Item>(items: readonly Item[], command: Paged): readonly Item[] => {
  const page = pageOf(command);
  return page === null ? items : items.slice((page.number - 1) * page.size, page.number * page.size);
};
