/** Which tenant comes when: first the canary, then those below each percentage. Pure. */

export type CohortPlan = {
  /** References of the tenants that come first. */
  readonly canary: readonly string[];
  /** Percentages, rising: the tenants of a step are those of the step before and more. */
  readonly steps: readonly number[];
};

/** Between 0 and 100 (not reached), the same at every roll-out: a tenant's reference is a keyed digest, and so evenly spread. */
export const shareOf = (tenantRef: string): number => (Number.parseInt(tenantRef.slice(0, 8), 16) / 2 ** 32) * 100;

/** 0: the canary; then one for each step. Undefined: beyond the last step, and so left out. */
export const cohortOf = (tenantRef: string, { canary, steps }: CohortPlan): number | undefined => {
  if (canary.includes(tenantRef)) return 0;
  const step = steps.findIndex((percent) => shareOf(tenantRef) < percent);
  return step < 0 ? undefined : step + 1;
};

export const cohortName = (cohort: number, { steps }: CohortPlan): string =>
  cohort === 0 ? 'canary' : `${steps[cohort - 1] ?? '?'} %`;
