/**
 * Row-level security of one metric. Every required variable must have a value, and every value must have a variable;
 * otherwise the query is refused.
 */
import type { Metric, RlsVariable } from '../dashboard/metric.js';
import { isUnsafeNumber, safeAsText } from '../filter/exact-number.js';
import type { Condition, FilterValue, Scalar } from '../filter/filter.js';
import { Refusal } from '../refusal.js';
import type { FilterValues } from './grant.js';

const plainValues = (variable: RlsVariable, value: FilterValue): readonly Scalar[] => {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isPlain = (item: unknown): item is Scalar => typeof item !== 'object';
  if (variable.column === undefined && values.some(isUnsafeNumber)) {
    throw new Refusal('RLS_SETTINGS_PARAM_ERROR', `RLS variable "${variable.name}": ${safeAsText}.`, {
      reason: 'number-unsafe',
    });
  }
  if (values.length > 0 && values.every(isPlain)) return values;
  throw new Refusal(
    'RLS_SETTINGS_PARAM_ERROR',
    `RLS variable "${variable.name}" takes a plain value or an array of at least one.`,
  );
};

/** Returns no condition for a variable without a column, since custom SQL compares with it: see `rlsVariablesOf`. */
const rlsPredicate = (variable: RlsVariable, value: FilterValue): readonly Condition[] => {
  const values = plainValues(variable, value);
  return variable.column === undefined ? [] : [{ column: variable.column, predicate: { kind: 'oneOf', values } }];
};

/**
 * Throws RLS_SETTINGS_PARAM_ERROR if a setting names a variable that the metric does not declare, since the value would
 * restrict nothing. This happens if a copy is older than the setting.
 */
const assertDeclares = ({ name, definition }: Metric, settings: readonly FilterValues[]): void => {
  const declared = new Set(definition.rlsVariables.map((variable) => variable.name));
  if (settings.every((entry) => Object.keys(entry).every((key) => declared.has(key)))) return;
  throw new Refusal(
    'RLS_SETTINGS_PARAM_ERROR',
    `Metric "${name}" declares no variable of a name that this token's rlsSettings give.`,
    { reason: 'rls-variable-unknown' },
  );
};

/**
 * Returns every value that the settings give to the variable. Throws RLS_SETTINGS_PARAM_ERROR if a required value is
 * missing.
 */
const settingsOf = (
  metric: Metric,
  variable: RlsVariable,
  settings: readonly FilterValues[],
): readonly FilterValue[] => {
  const values = settings.flatMap((entry) => {
    const value = Object.hasOwn(entry, variable.name) ? entry[variable.name] : undefined;
    return value === undefined ? [] : [value];
  });
  if (values.length > 0 || variable.isOptional) return values;
  throw new Refusal(
    'RLS_SETTINGS_PARAM_ERROR',
    `Metric "${metric.name}" needs a value for RLS variable "${variable.name}": give it in the token's rlsSettings.`,
    { reason: 'rls-value-missing' },
  );
};

/** Returns the conditions from a token's rlsSettings for this metric. Throws RLS_SETTINGS_PARAM_ERROR. */
export const rlsConditions = (metric: Metric, settings: readonly FilterValues[]): readonly Condition[] => {
  assertDeclares(metric, settings);
  return metric.definition.rlsVariables.flatMap((variable) =>
    settingsOf(metric, variable, settings).flatMap((value) => rlsPredicate(variable, value)),
  );
};

/**
 * Returns the values of a token's rlsSettings for the metric's own SQL, by variable name. Optional variables without a
 * value are left out. Two settings for one variable are intersected. Throws RLS_SETTINGS_PARAM_ERROR, also if no value
 * remains.
 */
export const rlsVariablesOf = (
  metric: Metric,
  settings: readonly FilterValues[],
): ReadonlyMap<string, readonly Scalar[]> => {
  assertDeclares(metric, settings);
  const values = new Map<string, readonly Scalar[]>();
  for (const variable of metric.definition.rlsVariables) {
    const [first, ...others] = settingsOf(metric, variable, settings).map((value) => plainValues(variable, value));
    if (first === undefined) continue;
    // 5 and '5' become the same bound value.
    const isIn = (list: readonly Scalar[], value: Scalar): boolean => list.some((one) => String(one) === String(value));
    const common = first.filter((value) => others.every((list) => isIn(list, value)));
    if (common.length === 0) throw nothingLeft(metric, variable);
    values.set(variable.name, common);
  }
  return values;
};

const nothingLeft = (metric: Metric, variable: RlsVariable): Refusal =>
  new Refusal(
    'RLS_SETTINGS_PARAM_ERROR',
    `Metric "${metric.name}": the settings of this token leave no common value of RLS variable "${variable.name}".`,
    { reason: 'rls-values-apart' },
  );
