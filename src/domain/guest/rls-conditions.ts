/** Row-level security of one metric: every variable has its value, and every value its variable, or nothing is read. */
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

/** Without a column it is custom SQL's to compare with: see `rlsVariablesOf`. */
const rlsPredicate = (variable: RlsVariable, value: FilterValue): readonly Condition[] => {
  const values = plainValues(variable, value);
  return variable.column === undefined ? [] : [{ column: variable.column, predicate: { kind: 'oneOf', values } }];
};

/** A copy may be older than what the setting was written for: a value that it has no variable for would restrict nothing. */
const assertDeclares = ({ name, definition }: Metric, settings: readonly FilterValues[]): void => {
  const declared = new Set(definition.rlsVariables.map((variable) => variable.name));
  if (settings.every((entry) => Object.keys(entry).every((key) => declared.has(key)))) return;
  throw new Refusal(
    'RLS_SETTINGS_PARAM_ERROR',
    `Metric "${name}" declares no variable of a name that this token's rlsSettings give.`,
    { reason: 'rls-variable-unknown' },
  );
};

/** Every value that the settings give the variable. Throws RLS_SETTINGS_PARAM_ERROR where one is needed and there is none. */
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

/** What the values of a token's rlsSettings for this metric restrict. Throws RLS_SETTINGS_PARAM_ERROR. */
export const rlsConditions = (metric: Metric, settings: readonly FilterValues[]): readonly Condition[] => {
  assertDeclares(metric, settings);
  return metric.definition.rlsVariables.flatMap((variable) =>
    settingsOf(metric, variable, settings).flatMap((value) => rlsPredicate(variable, value)),
  );
};

/**
 * The values of a token's rlsSettings that the metric's own SQL compares with, by the variable's name; an optional one without a value is not among them.
 * Two settings for one variable intersect. Throws RLS_SETTINGS_PARAM_ERROR, also where nothing is left.
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
    // 5 and '5' are bound alike.
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
