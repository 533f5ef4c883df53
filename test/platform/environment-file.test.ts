import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findUnknownVariables, withLocalFiles } from '../../src/platform/config/environment.js';

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

test('a variable is told as misspelt if each of its words nearly is one of a setting that is not set', () => {
  const told = (env: Record<string, string>) => findUnknownVariables(env, () => false);
  expect(told({ DATABSE_URL: 'x' })).toEqual([{ variable: 'DATABSE_URL', suggestion: 'DATABASE_URL' }]);
  expect(told({ REDDIS_URL: 'x', GUESTLIST_DEMOO: '1' })).toEqual([
    { variable: 'GUESTLIST_DEMOO', suggestion: 'GUESTLIST_DEMO' },
    { variable: 'REDDIS_URL', suggestion: 'REDIS_URL' },
  ]);
  expect(told({ DATABSE_URL: 'x', DATABASE_URL: 'y' })).toEqual([]);
  expect(
    told({ DATABASE_USER: 'x', DATABASE_NAME: 'x', REDIS_DB: '1', REDIS_HOST: 'x', HOSTNAME: 'x', POST: '1' }),
  ).toEqual([]);
});
