/**
 * Writes what the process has run since the last file, for `npm run test:coverage`: processes of tests are ended before
 * Node would. V8 counts anew after each writing, so every file is kept. Of each, only the product's code is.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

type Coverage = { readonly result: readonly { readonly url: string }[] };

afterAll(() => {
  const folder = process.env.NODE_V8_COVERAGE;
  if (folder === undefined) return;
  const own = () => readdirSync(folder).filter((name) => name.startsWith(`coverage-${process.pid}-`));
  const earlier = new Set(own());
  takeCoverage();
  for (const name of own().filter((one) => !earlier.has(one))) {
    const file = join(folder, name);
    const { result, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Coverage;
    const ofProduct = result.filter(({ url }) => url.includes('/dist/') && !url.includes('/node_modules/'));
    writeFileSync(file, JSON.stringify({ ...rest, result: ofProduct }));
  }
});
