/** Writes what the process has run so far, for `npm run test:coverage`: processes of tests are ended before Node would. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

afterAll(() => {
  const folder = process.env.NODE_V8_COVERAGE;
  if (folder === undefined) return;
  const earlier = readdirSync(folder).filter((name) => name.startsWith(`coverage-${process.pid}-`));
  takeCoverage();
  for (const name of earlier) rmSync(join(folder, name));
});
