/**
 * What the previous release does not know and must not use. Release 0.2.0 reads a stored value as if fields that it does
 * not know were not there, so it must not find a row with a field of this file. Later releases refuse such rows by
 * themselves (known-fields.ts). Fields that restrict nobody are not here: sums that are kept beside a source
 * (`rollups`), how long an older answer is shown (`cacheStaleSeconds`), and how names, numbers and dates are written.
 */
import { hasColumnRules } from '../../model/datamart/column-rules.js';
import type { DatamartTable } from '../../model/datamart/datamart.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { hasQuota } from '../../model/quota.js';

export const previousVersion = '0.2.0';

/** Whether a token of this grant would show too much, or would be without its limits. */
export const isGrantHidden = ({ columnRules, quota }: Pick<GuestGrant, 'columnRules' | 'quota'>): boolean =>
  hasColumnRules(columnRules) || hasQuota(quota);

const isTableHidden = ({ through, baseFilters = [], columns }: DatamartTable): boolean =>
  through != null ||
  baseFilters.length > 0 ||
  // Amounts would be too large, or of several currencies in one sum.
  columns.some(({ numbers }) => numbers?.scale !== undefined || typeof numbers?.currency === 'object');

/** Tables as they are stored. */
export type StoredTables = readonly DatamartTable[] | HiddenTables;

/** Release 0.2.0 expects a list, and fails on this before it reads any of it. */
type HiddenTables = { readonly hiddenFrom: string; readonly tables: readonly DatamartTable[] };

export const storedTables = (tables: readonly DatamartTable[]): StoredTables =>
  tables.some(isTableHidden) ? { hiddenFrom: previousVersion, tables } : tables;
