/** How the values of a metric's measures in several groups combine. Pure. */
import type { MeasureAggregate, VisualDefinition } from '../dashboard/metric.js';
import type { Combine, GuestChart } from './view.js';

const combining: Readonly<Partial<Record<MeasureAggregate, Combine>>> = {
  SUM: 'sum',
  COUNT: 'sum',
  MIN: 'min',
  MAX: 'max',
};

/** By the name of the measure or calculation. Those that do not combine are left out. */
export const combiningOf = ({
  measures,
  calculations = [],
}: Pick<VisualDefinition, 'measures' | 'calculations'>): NonNullable<GuestChart['combine']> =>
  Object.fromEntries([
    ...measures.flatMap(({ name, aggregate }) => {
      const combine = aggregate === undefined ? undefined : combining[aggregate];
      return combine === undefined ? [] : [[name, combine] as const];
    }),
    ...calculations.flatMap(({ kind, name }) => (kind === 'shareOfTotal' ? [[name, 'sum'] as const] : [])),
  ]);
