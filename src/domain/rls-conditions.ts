/** Row-level security of one metric: every variable has its value, and every value its variable, or nothing is read. */
import type { Condition, FilterValue } from './filter.js';
import type { FilterValues } from './guest.js';
import type { Metric, RlsVariable } from './metric.js';
import { Refusal } from './refusal.js';

const rlsPredicate = (variable: RlsVariable, value: FilterValue): readonly Condition[] => {
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0 || values.some((item) => typeof item === 'object')) {
    throw new Refusal(
      'RLS_SETTINGS_PARAM_ERROR',
      `RLS variable "${variable.name}" takes a plain value or an array of at least one.`,
    );
  }
  // Without a column it is custom SQL's to compare with: see MetricQuestion's variables.
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

/** What the values of a token's rlsSettings for this metric restrict. Throws RLS_SETTINGS_PARAM_ERROR. */
export const rlsConditions = (metric: Metric, settings: readonly FilterValues[]): readonly Condition[] => {
  assertDeclares(metric, settings);
  return metric.definition.rlsVariables.flatMap((variable) => {
    const values = settings.flatMap((entry) => {
      const value = Object.hasOwn(entry, variable.name) ? entry[variable.name] : undefined;
      return value === undefined ? [] : [value];
    });
    if (values.length === 0 && !variable.isOptional) {
      throw new Refusal(
        'RLS_SETTINGS_PARAM_ERROR',
        `Metric "${metric.name}" needs a value for RLS variable "${variable.name}": give it in the token's rlsSettings.`,
        { reason: 'rls-value-missing' },
      );
    }
    return values.flatMap((value) => rlsPredicate(variable, value));
  });
};
