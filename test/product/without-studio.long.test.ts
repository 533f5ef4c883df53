/** A build that leaves Studio out, as an image for production may. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get } from './guest.js';
import { type Product, startProduct } from './product.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = [
  'bin',
  'build.mjs',
  'config',
  'docs',
  'package-lock.json',
  'package.json',
  'src',
  'test/bench/RESULTS.md',
];
const others = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'tsconfig.build.json', 'tsconfig.json'];

let copy: string;
let product: Product;
const build = (...args: readonly string[]) =>
  execFileSync(process.execPath, ['build.mjs', ...args], { cwd: copy, encoding: 'utf8', stdio: 'pipe' });

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'guestlist-build-'));
  for (const path of [...sources, ...others, 'web-bundle.mjs'])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  build('--without', 'studio');
  product = await startProduct({ root: copy });
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await product?.remove();
  rmSync(copy, { recursive: true, force: true });
});

test('serves all but Studio, and names it nowhere', async () => {
  expect((await get(`${product.url}/demo`)).status).toBe(200);
  for (const path of ['/studio', '/studio/session', '/studio/studio.js'])
    expect([path, (await get(`${product.url}${path}`)).status]).toEqual([path, 404]);
  expect((await get(product.url)).text).not.toContain('/studio');
  expect(product.output()).not.toMatch(/^ {2}studio/m);
});

test('is made anew when the other parts are wanted, and not when they are the same', () => {
  expect(build('--without', 'studio')).toContain('up to date');
  expect(build()).toContain('built dist/');
  expect(existsSync(join(copy, 'dist/web/studio/studio.js'))).toBe(true);
  expect(() => build('--without', 'charts')).toThrow(/only studio can be left out/);
});
