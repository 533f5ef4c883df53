/** Checks that the mutants are up to date. `npm run mutation` applies each one and expects a test to fail. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applied, readMutants, root } from './mutants.mjs';

const mutants = readMutants();

describe('the mistakes that are put back on purpose', () => {
  it.each(mutants)('$name: every edit finds its place, once', (mutant) => {
    expect(applied(mutant).fault).toBeUndefined();
  });

  it('are judged by tests that there are', () => {
    const missing = mutants.flatMap(({ tests }) => tests).filter((file) => !existsSync(join(root, file)));
    expect(missing).toEqual([]);
    expect(mutants.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it('are of every kind that engine and cache can make', () => {
    const leaks = [...new Set(mutants.map(({ leak }) => leak))].sort((a, b) => a - b);
    expect(leaks).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 17, 18, 19, 20, 21, 23, 25, 26, 27, 29]);
  });

  it('are many, and each another one', () => {
    const names = mutants.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(180);
  });
});
