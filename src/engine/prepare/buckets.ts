/**
 * Chooses the width of buckets from the wanted number of buckets and the values in the rows that this guest may see.
 */
import type { Cell } from '../../model/query/engine.js';
import type { OutputColumn, Plan } from '../plan/plan.js';
import { type BoundPredicate, bindPredicate } from '../plan/values.js';
import { type Ask, metricTables, rowsOf } from '../question/build-plan.js';
import type { Resolved } from '../question/resolve.js';
import { bindWidth, type ResolvedDimension } from '../question/resolve-dimension.js';
import { planRowSet } from '../question/row-set.js';
import type { RunResult } from '../run/run.js';

/**
 * Sets the width of each dimension that has a bucketCount. `run` scopes and runs the plan that reads the least and
 * the greatest values.
 */
export const fitBuckets = async (
  resolved: Resolved,
  { kind }: Ask,
  run: (plan: Plan) => Promise<RunResult>,
): Promise<Resolved> => {
  const counted = resolved.dimensions.filter(({ bucketCount }) => bucketCount !== null);
  if (kind !== 'answer' || counted.length === 0) return resolved;
  const { rows } = await run(planBounds(resolved, counted));
  const bounds = rows[0] ?? [];
  return {
    ...resolved,
    dimensions: resolved.dimensions.map((dimension) => {
      const index = counted.indexOf(dimension);
      if (index < 0) return dimension;
      const width = widthOf(dimension, bounds[2 * index] ?? null, bounds[2 * index + 1] ?? null);
      return { ...dimension, bucketWidth: bindWidth(dimension.name, dimension.column, width) };
    }),
  };
};

/** Over exactly the rows of the answer: its joins, conditions and leaves. */
const planBounds = (resolved: Resolved, counted: readonly ResolvedDimension[]): Plan => {
  const rows = planRowSet(resolved, metricTables(resolved));
  const columns = counted.flatMap(({ name, column }) => {
    const field = rows.fieldOf(column);
    const rest = { field, indicator: null, among: finiteOf(column), fraction: null, once: null };
    return (['MIN', 'MAX'] as const).map(
      (aggregate): OutputColumn => ({ name, expression: { kind: 'aggregate', aggregate, ...rest } }),
    );
  });
  return {
    ...rowsOf(rows, columns),
    output: { kind: 'group', columns, search: null },
    having: null,
    order: [],
    page: { cap: null, limit: null, offset: 0 },
  };
};

/** Infinite values are excluded, because every width between them would be infinite. */
const finiteOf = ({ ref, type }: ResolvedDimension['column']): BoundPredicate | null => {
  if (type.kind !== 'float') return null;
  const greatest = type.cast === 'FLOAT' ? 3.4e38 : 1.7e308;
  return bindPredicate({ kind: 'range', from: -greatest, to: greatest, toIsExclusive: false }, { ref, type });
};

/**
 * The least width of 1, 2, 2.5 or 5 x 10^k that needs no more buckets than wanted; whole for integers. One value, or
 * none, is one bucket.
 */
const widthOf = ({ column, bucketCount }: ResolvedDimension, least: Cell, greatest: Cell): number => {
  const isWhole = column.type.kind === 'integer';
  const count = bucketCount ?? 1;
  const span = Number(greatest) - Number(least);
  // Near the greatest floats the span overflows, so both ends are divided first; for other values that would round.
  const wanted = Number.isFinite(span) ? span / count : Number(greatest) / count - Number(least) / count;
  if (!Number.isFinite(wanted) || wanted <= 0) return 1;
  const power = Math.floor(Math.log10(wanted)) - 1;
  const widths = [power, power + 1, power + 2].flatMap((exponent) =>
    ['1', '2', '2.5', '5'].map((digits) => Number(`${digits}e${exponent}`)),
  );
  return widths.find((width) => width >= wanted && (!isWhole || Number.isInteger(width))) ?? Math.ceil(wanted);
};
