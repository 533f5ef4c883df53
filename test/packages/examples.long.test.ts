/** The examples that need no installation. `installed-examples.test.ts` runs the others. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOfKind, root } from '../documents/blocks.js';
import { hasChromium } from '../suites/chromium.js';
import { lookAtExample, runExample } from './example.js';

test('the policies pass their tests, and every rule has one', () => {
  const [block] = blocksOfKind('example').filter(({ page }) => page === 'examples/policies/README.md');
  const [build, command = ''] = block?.text.trim().split('\n') ?? [];
  // The packages and dist/ of this run are those that the first line makes.
  expect(build).toBe('npm ci && npm run build');
  const { status, stdout } = spawnSync('bash', ['--norc', '-c', command], { cwd: root, encoding: 'utf8' });
  expect(stdout).toMatch(/\d+ tests, all hold/);
  expect(status).toBe(0);
});

test('each example is listed, and has two commands', async () => {
  const entries = await readdir(join(root, 'examples'), { withFileTypes: true });
  const shown = blocksOfKind('example').filter(({ page }) => page !== 'examples/README.md');
  expect(shown.map(({ page }) => page).sort()).toEqual(
    entries.filter((entry) => entry.isDirectory()).map(({ name }) => `examples/${name}/README.md`),
  );
  expect(shown.filter(({ text }) => text.trim().split('\n').length !== 2)).toEqual([]);
});

describe.runIf(hasChromium())('in a browser', () => {
  test('the example of a plain page works in a browser', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-example-'));
    await cp(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
    for (const name of ['bin', 'dist', 'config', 'node_modules', 'package.json'])
      await symlink(join(root, name), join(folder, name));
    const example = await runExample('html', join(folder, 'examples/html'));
    try {
      await lookAtExample(example.url);
    } finally {
      await example.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
