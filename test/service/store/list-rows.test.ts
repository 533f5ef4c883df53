import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deleteSlices } from '../../../src/service/store/list-rows.js';
import { openTestDatabase } from '../../suites/metadata.js';
import { isPostgresThere } from '../../suites/postgres.js';
import { listSuite } from '../../suites/store-lists.js';

describe('what is deleted in slices', () => {
  it('is all of it, with what a slice passed over', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.nat(5), fc.integer({ min: 1, max: 20 }), async (rows, busy, size) => {
        let left = rows + busy;
        const limits: (number | null)[] = [];
        const remove = async (limit: number | null): Promise<number> => {
          limits.push(limit);
          const count = limit === null ? left : Math.min(limit, Math.max(left - busy, 0));
          left -= count;
          return count;
        };
        expect(await deleteSlices(remove, size)).toBe(rows + busy);
        expect(left).toBe(0);
        expect(limits.at(-1)).toBeNull();
        expect(limits.slice(0, -1)).toEqual(Array.from({ length: Math.floor(rows / size) + 1 }, () => size));
      }),
    );
  });
});

describe.skipIf(!(await isPostgresThere()))('a real server', () => {
  listSuite('PostgreSQL', () => openTestDatabase('postgres'));
});
