/** What a rollup reads of its source: the same groups for a closed period, and for a tenant's open time. */
import type { Rollup } from '../../model/datamart/datamart.js';
import type { Expression, Field, OutputColumn, Plan, Where } from '../plan/plan.js';
import { bindPredicate } from '../plan/values.js';
import { type Layout, type RollupColumn, sourceColumn } from './layout.js';

/** From the first moment to before the second one; null: without that end. */
export type Span = { readonly from: string | null; readonly to: string | null };

const expressionOf = (layout: Layout, { role, of }: Pick<RollupColumn, 'role' | 'of'>): Expression => {
  if (of === null) return { kind: 'rowCount', leaf: 0, once: null };
  const field: Field = { leaf: 0, column: sourceColumn(layout, of) };
  const aggregated = (aggregate: 'SUM' | 'COUNT' | 'MIN' | 'MAX'): Expression => ({
    ...{ kind: 'aggregate', aggregate, field },
    ...{ indicator: null, among: null, fraction: null, once: null },
  });
  switch (role) {
    case 'sum':
      return aggregated('SUM');
    case 'count':
      return aggregated('COUNT');
    case 'min':
      return aggregated('MIN');
    case 'max':
      return aggregated('MAX');
    case 'time':
      return layout.isTimeExact ? { kind: 'field', field } : { kind: 'grain', field, grain: layout.rollup.grain };
    default:
      return { kind: 'field', field };
  }
};

const planOf = (layout: Layout, columns: readonly OutputColumn[], where: Where | null, limit: number | null): Plan => ({
  leaves: [{ table: layout.rollup.from, isMarked: false }],
  ...{ joins: [], tests: [], semiJoins: [], where },
  output: { kind: 'group', columns, search: null },
  ...{ having: null, order: [], page: { cap: null, limit, offset: 0 } },
});

const timeOf = (layout: Layout): Field => ({ leaf: 0, column: sourceColumn(layout, layout.rollup.partition.column) });

const within = (field: Field, { from, to }: Span): Where | null => {
  if (from === null && to === null) return null;
  const predicate = bindPredicate({ kind: 'range', from, to, toIsExclusive: true }, field.column);
  return { kind: 'test', field, predicate };
};

/** The groups of a closed period. */
export const partitionPlan = (layout: Layout, span: Span): Plan => {
  const columns = layout.columns.map((column) => ({ name: column.name, expression: expressionOf(layout, column) }));
  return planOf(layout, columns, within(timeOf(layout), span), null);
};

/** The columns of the open time, which the tenant's own value stands for. */
export const tailColumns = (layout: Layout, isClientBound: boolean): readonly RollupColumn[] =>
  layout.columns.filter(({ role }) => !(isClientBound && role === 'client'));

/** The groups from the first moment that no file has, and those without a time. */
export const tailPlan = (
  layout: Layout,
  closedUntil: string,
  columns: readonly RollupColumn[],
  limit: number,
): Plan => {
  const field = timeOf(layout);
  const open = within(field, { from: closedUntil, to: null });
  const where: Where = {
    kind: 'any',
    items: [...(open === null ? [] : [open]), { kind: 'test', field, predicate: { kind: 'isNull' } }],
  };
  const written = columns.map((column) => ({ name: column.name, expression: expressionOf(layout, column) }));
  return planOf(layout, written, where, limit);
};

/** Changes with each row that is written or removed, if the column keeps its promise. */
const changesOf = (layout: Layout, changeColumn: string, sumOfTimes: readonly [string, string]): Expression => {
  const field: Field = { leaf: 0, column: sourceColumn(layout, changeColumn) };
  if (field.column.type.kind === 'integer') return expressionOf(layout, { role: 'sum', of: changeColumn });
  const [before, after] = sumOfTimes;
  return { kind: 'custom', template: [before, field, after], readCast: null, once: null };
};

const measures: ReadonlySet<RollupColumn['role']> = new Set(['sum', 'count', 'min', 'max']);

/** The periods that have rows, how many, and what tells whether these are the rows that the files were made of. */
export const periodsPlan = (layout: Layout, sumOfTimes: readonly [string, string]): Plan => {
  const field = timeOf(layout);
  const { by } = layout.rollup.partition;
  const { changeColumn } = layout;
  const kept = layout.columns.filter(({ role }) => measures.has(role));
  const columns: readonly OutputColumn[] = [
    { name: 'period', expression: { kind: 'grain', field, grain: by } },
    { name: 'rows', expression: { kind: 'rowCount', leaf: 0, once: null } },
    ...kept.map((column) => ({ name: column.name, expression: expressionOf(layout, column) })),
    ...(changeColumn === null ? [] : [{ name: 'gl_changes', expression: changesOf(layout, changeColumn, sumOfTimes) }]),
  ];
  return planOf(layout, columns, null, null);
};

const pad = (number: number, length = 2): string => String(number).padStart(length, '0');
const dayText = (date: Date): string =>
  `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;

/** The first day of the period that the moment is in. */
export const startOf = (by: Rollup['partition']['by'], moment: Date): string => {
  const [year, month] = [moment.getUTCFullYear(), moment.getUTCMonth()];
  if (by === 'day') return dayText(moment);
  const first = by === 'month' ? month : by === 'quarter' ? month - (month % 3) : 0;
  return dayText(new Date(Date.UTC(year, first, 1)));
};

/** The first day of the next period. */
export const nextStart = (by: Rollup['partition']['by'], start: string): string => {
  const date = new Date(`${start}T00:00:00Z`);
  if (by === 'day') date.setUTCDate(date.getUTCDate() + 1);
  else date.setUTCMonth(date.getUTCMonth() + (by === 'month' ? 1 : by === 'quarter' ? 3 : 12));
  return dayText(date);
};
