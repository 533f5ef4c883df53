/** How much a tenant may use, as its plan says. A part that is left out has no limit. */
import { namesOf, recordOf } from './record-of.js';

/** What each part of a quota limits. */
export const quotaParts = {
  queriesPerDay: 'Questions of the tenant that a database answers in one day of UTC. Kept answers are free.',
  exportsPerDay: 'Files of the tenant in one day of UTC: CSV, XLSX, PDF and PNG.',
  seats:
    'Users of the tenant who may see answers in one calendar month (UTC). A user who has seen one keeps the seat until the month ends.',
} as const;

export const quotaNames = namesOf(quotaParts);
export type QuotaName = (typeof quotaNames)[number];
export type Quota = { readonly [Name in QuotaName]?: number | undefined };

export const noQuota: Quota = {};

export const hasQuota = (quota: Quota): boolean => quotaNames.some((name) => quota[name] !== undefined);

const limitOf = (quota: Quota, name: QuotaName): number => quota[name] ?? Number.POSITIVE_INFINITY;

/** Of each part the smallest. */
export const smallestQuota = (all: readonly Quota[]): Quota => {
  const smallest = recordOf(quotaNames, (name) => Math.min(...all.map((quota) => limitOf(quota, name))));
  return Object.fromEntries(Object.entries(smallest).filter(([, limit]) => Number.isFinite(limit)));
};

/** Whether the first quota allows no more than the second. */
export const isQuotaWithin = (quota: Quota, other: Quota): boolean =>
  quotaNames.every((name) => limitOf(quota, name) <= limitOf(other, name));
