/** Labels of values that are chosen before a list was opened: in the address, by the token, by default. A chunk of its own. */
import type { GuestFilter } from '../../model/guest/view.js';
import type { LoadFilterOptions } from '../filters/filter-bar.js';
import type { FilterLabels } from '../filters/filter-values.js';

/** Returns the labels of the filters whose options could be read. Options have only values that this guest may see. */
export const readLabels = async (filters: readonly GuestFilter[], load: LoadFilterOptions): Promise<FilterLabels> => {
  const read = async ({ name }: GuestFilter) => {
    try {
      const { options } = await load(name, '', new AbortController().signal);
      return [[name, new Map(options.map(({ value, label }) => [String(value), label]))] as const];
    } catch (error) {
      console.error(
        `guestlist: labels of the filter "${name}" could not be read, its values are shown as stored`,
        error,
      );
      return [];
    }
  };
  return new Map((await Promise.all(filters.map(read))).flat());
};
