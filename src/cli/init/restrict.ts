/** The restriction that init writes into the policy: its users see one value of a category. */
import type { Facts } from '../../model/dashboard/first/facts.js';
import type { FirstDashboard } from '../../model/dashboard/first/first-dashboard.js';
import {
  type FirstRestriction,
  type RestrictionChoice,
  restrictionChoices,
  restrictionsNamed,
} from '../../model/dashboard/first/restriction.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { WrongCall } from '../kit/exit.js';

/**
 * Takes the column that the flag names, as `column`, `table.column` or with its schema, else the best category. The column
 * may be of any table to which a way leads from a chart. Throws WrongCall.
 */
export const chooseRestriction = (
  wanted: string | undefined,
  datamart: Datamart,
  facts: Facts,
  dashboard: FirstDashboard,
): FirstRestriction | null => {
  const choices = restrictionChoices(datamart, facts, dashboard);
  if (wanted === undefined) return choices[0]?.restriction ?? null;
  const isNamed = ({ column }: RestrictionChoice): boolean => `.${column}`.endsWith(`.${wanted}`);
  const others = restrictionsNamed(datamart, facts, dashboard, wanted);
  const usable = others.filter(({ restriction: { hidden } }) => hidden.length < dashboard.metrics.length);
  const found = choices.find(isNamed) ?? (usable.length === 1 ? usable[0] : undefined);
  if (found !== undefined) return found.restriction;
  if (usable.length > 1)
    throw new WrongCall(`--restrict-by ${wanted}: name one of ${usable.map(({ column }) => column).join(', ')}`);
  const because = others[0]?.restriction.hidden[0]?.reason;
  const known = choices.map(({ column }) => column).join(', ') || 'none';
  throw new WrongCall(
    `--restrict-by ${wanted}: no chart can be narrowed by it${because === undefined ? '' : ` (${because})`}; the categories are: ${known}`,
  );
};

/** The dashboard with the filter that the restriction narrows. */
export const withRestriction = (dashboard: FirstDashboard, restriction: FirstRestriction | null): FirstDashboard =>
  restriction === null || dashboard.filters.includes(restriction.filter)
    ? dashboard
    : { ...dashboard, filters: [...dashboard.filters, restriction.filter] };

/** What a restricted user sees, and does not see. */
export const restrictionReport = (restriction: FirstRestriction | null): string => {
  if (restriction === null) return '';
  const { filter, hidden } = restriction;
  const [on] = filter.applyOnTables;
  const reasons = [...new Set(hidden.map(({ reason }) => reason))].map((reason) => {
    const names = hidden.filter((one) => one.reason === reason).map(({ name }) => name);
    return `  ${names.join('; ')}: ${reason}\n`;
  });
  const lost = reasons.length === 0 ? '' : `. Charts that they do not see:\n${reasons.join('').trimEnd()}`;
  return `Users with the role "restricted" see one ${filter.name.toLowerCase()} (${on?.tableName}.${on?.columnName}; another: --restrict-by COLUMN)${lost}\n`;
};
