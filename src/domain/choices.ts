/** What was chosen of filters: values of a guest's, or of the host's own backend. */
import { sameName } from './dashboard.js';
import type { FilterValue } from './filter.js';
import { readFilterValue, readHostFilterValue } from './filter-value.js';
import type { FilterValues } from './guest.js';

/** What a guest chose, by filter name; `isHost`: the host's own backend, which may write values in SQL. */
export type Choices = {
  readonly dashboardFilter: FilterValues;
  readonly metricFilter: FilterValues;
  readonly isHost?: boolean | undefined;
};

/** Every value given under one of the names: a second spelling of a name is a second condition. */
export const valuesFor = (values: FilterValues, names: readonly string[]): readonly FilterValue[] =>
  Object.entries(values)
    .filter(([key]) => names.some((name) => sameName(key, name)))
    .map(([, value]) => value);

/** A default is the host's; a value is of whoever gave it. */
export const chosenValues = (
  { dashboardFilter, metricFilter, isHost }: Choices,
  where: 'dashboardFilter' | 'metricFilter',
  names: readonly string[],
  { defaultValue }: { readonly defaultValue?: FilterValue | undefined },
): { readonly values: readonly FilterValue[]; readonly read: typeof readFilterValue } => {
  const values = valuesFor(where === 'dashboardFilter' ? dashboardFilter : metricFilter, names);
  if (values.length > 0) return { values, read: isHost === true ? readHostFilterValue : readFilterValue };
  return { values: defaultValue === undefined ? [] : [defaultValue], read: readHostFilterValue };
};
