/** Writes one dashboard's filters to the page's URL. Replaces the current history entry and keeps the hash. */
import type { GuestFilter } from '../../model/guest/view.js';
import type { FilterValues } from '../base/client.js';
import { ownUrlFilters, readUrlFilters, unfitUrlFilters, writeUrlFilters } from './url-filters.js';

export type UrlMirror = {
  /** The guest's values in the URL. */
  readonly read: (filters: readonly GuestFilter[], prefix: string) => FilterValues;
  /** The names of filters whose value in the URL does not fit. */
  readonly unfit: (filters: readonly GuestFilter[], prefix: string) => readonly string[];
  /** Writes the values to the URL, instead of those of the last call. */
  readonly write: (filters: readonly GuestFilter[], values: FilterValues, prefix: string) => void;
  /** The values after the user went back or forward. Values that the URL could not hold are kept from `values`. */
  readonly follow: (values: FilterValues) => FilterValues;
  /** Removes the token's values from the URL and keeps the guest's. */
  readonly dropApplied: () => void;
  /** Removes what `write` wrote, unless the page has changed it since. */
  readonly clear: () => void;
};

type Written = {
  readonly filters: readonly GuestFilter[];
  readonly values: FilterValues;
  readonly prefix: string;
  /** The part of the query that was written. */
  readonly own: string;
  /** The path that it was written on. After a navigation, the query belongs to another page. */
  readonly path: string;
};

export const createUrlMirror = (): UrlMirror => {
  let last: Written | undefined;
  const isElsewhere = () => last !== undefined && last.path !== location.pathname;
  const write: UrlMirror['write'] = (filters, values, prefix) => {
    if (isElsewhere()) return;
    if (last !== undefined && last.prefix !== prefix) clear();
    const names = new Set(filters.map(({ name }) => name));
    const gone = last?.filters.filter(({ name }) => !names.has(name)).map(withoutApplied) ?? [];
    const known = Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
    replaceSearch(writeUrlFilters(location.search, [...filters, ...gone], known, prefix));
    const own = ownUrlFilters(location.search, filters, prefix);
    last = { filters, values, prefix, own, path: location.pathname };
  };
  const clear = () => {
    if (last === undefined) return;
    const { filters, prefix, own } = last;
    const isMine = !isElsewhere() && ownUrlFilters(location.search, filters, prefix) === own;
    if (isMine) replaceSearch(writeUrlFilters(location.search, filters.map(withoutApplied), {}, prefix));
    last = undefined;
  };
  return {
    read: (filters, prefix) => readUrlFilters(location.search, filters, prefix),
    unfit: (filters, prefix) => unfitUrlFilters(location.search, filters, prefix),
    write,
    clear,
    dropApplied: () => {
      if (last !== undefined) write(last.filters.map(withoutApplied), last.values, last.prefix);
    },
    follow: (values) => {
      if (last === undefined || isElsewhere()) return values;
      const { filters, prefix, own } = last;
      if (ownUrlFilters(location.search, filters, prefix) === own) return values;
      const held = readUrlFilters(own, filters, prefix);
      const others = Object.entries(values).filter(([name]) => !Object.hasOwn(held, name));
      return { ...Object.fromEntries(others), ...readUrlFilters(location.search, filters, prefix) };
    },
  };
};

const withoutApplied = (filter: GuestFilter): GuestFilter => ({ ...filter, appliedValue: undefined });

const replaceSearch = (search: string): void => {
  if (search === location.search) return;
  const url = new URL(location.href);
  url.search = search;
  try {
    history.replaceState(history.state, '', url);
  } catch (error) {
    // Pages in `srcdoc` or a sandbox may not change their URL, and browsers limit how often other pages may.
    if (!(error instanceof DOMException)) throw error;
  }
};
