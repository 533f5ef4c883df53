import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));
const src = join(root, 'src/');
const web = join(src, 'web/');

/**
 * Tests load the built modules of the server, as Node does: transforming the sources in each process takes longer than
 * most of the tests. test/suites/run.ts builds them anew where a source is newer. The browser's sources are transformed.
 */
const builtSources: Plugin = {
  name: 'built-sources',
  enforce: 'pre',
  resolveId: (source, importer) => {
    if (importer === undefined || !source.startsWith('.') || !source.endsWith('.js')) return null;
    const path = fileURLToPath(new URL(source, `file://${importer}`));
    if (!path.startsWith(src) || path.startsWith(web) || importer.startsWith(web)) return null;
    return { id: join(root, 'dist', path.slice(src.length)), external: true };
  },
};

/** `npm run test:long`: the files that take minutes, or guard what seldom changes. Their names end in `.long.test.ts`. */
const isLong = process.env.TEST_LONG === '1';
const suffix = isLong ? '.long.test.ts' : '.test.ts';
const left = isLong ? [] : ['**/*.long.test.ts'];
const folders = [
  'cli',
  'client',
  'deploy',
  'evaluation',
  'fault',
  'packages',
  'pages',
  'product',
  'delivery/rendering',
];
/** These start processes, servers and browsers. All others work in their own process. */
const starting = folders.map((name) => `test/${name}/**/*${suffix}`);

export default defineConfig({
  plugins: [builtSources],
  test: {
    server: { deps: { external: [/\/dist\//] } },
    // Real servers and browsers share two cores: a test is given time, and never asserts it.
    testTimeout: isLong ? 240_000 : 60_000,
    hookTimeout: 120_000,
    // Files share a process and what it has imported. What one changes, it puts back.
    isolate: false,
    maxWorkers: 3,
    setupFiles: process.env.NODE_V8_COVERAGE === undefined ? [] : ['test/suites/coverage.ts'],
    reporters: ['default', 'test/suites/slowest.ts'],
    globalSetup: ['test/suites/run.ts', 'test/suites/clickhouse-server.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: [`test/**/*${suffix}`], exclude: [...starting, ...left] } },
      { extends: true, test: { name: 'process', include: starting, exclude: left } },
    ],
  },
});
