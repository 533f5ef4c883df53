// A tenant table of any size, for benches and tests: key `org-<n>` has the tenant `tenant-<n>`.
import { closeSync, openSync, writeSync } from 'node:fs';

export const keyOf = (index) => `org-${String(index).padStart(8, '0')}`;
export const tenantOf = (index) => `tenant-${String(index).padStart(8, '0')}`;

/** Writes a CSV file for the policy's `session.tenant.table`. */
export const writeTenantTable = (file, count) => {
  const out = openSync(file, 'w');
  try {
    writeSync(out, 'key,tenant\n');
    for (let start = 0; start < count; start += 10_000) {
      const rows = Array.from({ length: Math.min(10_000, count - start) }, (_, offset) => start + offset);
      writeSync(out, rows.map((index) => `${keyOf(index)},${tenantOf(index)}\n`).join(''));
    }
  } finally {
    closeSync(out);
  }
};
