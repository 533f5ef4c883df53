/** One dashboard's filters in the page's address. It replaces the present entry of the history, and leaves the hash alone. */
import type { GuestFilter } from '../../domain/guest-view.js';
import type { FilterValues } from '../base/client.js';
import { ownUrlFilters, readUrlFilters, writeUrlFilters } from './url-filters.js';

export type UrlMirror = {
  /** What the guest chose, as the address has it. */
  readonly read: (filters: readonly GuestFilter[], prefix: string) => FilterValues;
  /** Shows what is set, in the place of what was shown before. */
  readonly write: (filters: readonly GuestFilter[], values: FilterValues, prefix: string) => void;
  /** `values` as the address has them after going back or forward; what it could not hold stays. */
  readonly follow: (values: FilterValues) => FilterValues;
  /** Takes the token's values out, and leaves the guest's. */
  readonly dropApplied: () => void;
  /** Takes out what was written, unless somebody else has changed it since. */
  readonly clear: () => void;
};

type Written = {
  readonly filters: readonly GuestFilter[];
  readonly values: FilterValues;
  readonly prefix: string;
  /** What stood in the address then. */
  readonly own: string;
  /** The page it was written on: a page that was navigated to has parameters of its own. */
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
    // Pages without an address of their own (`srcdoc`, a sandbox) may not change it, and browsers limit how often others may.
    if (!(error instanceof DOMException)) throw error;
  }
};
