import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLocalFiles } from '../../src/platform/config/environment.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-environment-'));
  await mkdir(join(folder, 'own'));
  await writeFile(join(folder, 'own/guestlist.yaml'), '{}');
  await writeFile(join(folder, 'own/guestlist.env'), '# secrets\nGUESTLIST_API_KEY=from-the-file\nPORT=1\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a folder without a configuration leaves the environment as it is', () => {
  const env = { PORT: '2' };
  expect(withLocalFiles(env, folder)).toBe(env);
});

test('guestlist.yaml of the folder is the configuration, and guestlist.env beside it is read', () => {
  expect(withLocalFiles({ HOME: '/' }, join(folder, 'own'))).toEqual({
    HOME: '/',
    PORT: '1',
    GUESTLIST_API_KEY: 'from-the-file',
    GUESTLIST_CONFIG: join(folder, 'own/guestlist.yaml'),
  });
});

test('variables of the process come first, but for empty ones, which count as not set', () => {
  const env = { PORT: '2', GUESTLIST_API_KEY: '' };
  expect(withLocalFiles(env, join(folder, 'own'))).toMatchObject({ PORT: '2', GUESTLIST_API_KEY: 'from-the-file' });
});

test('a configuration that is named has its own environment file', () => {
  const env = { GUESTLIST_CONFIG: 'own/guestlist.yaml' };
  expect(withLocalFiles(env, folder)).toMatchObject({ ...env, GUESTLIST_API_KEY: 'from-the-file' });
  expect(withLocalFiles({ GUESTLIST_CONFIG: join(folder, 'other.yaml') }, join(folder, 'own'))).toEqual({
    GUESTLIST_CONFIG: join(folder, 'other.yaml'),
  });
});
