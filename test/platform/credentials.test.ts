import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadCredentials } from '../../src/platform/config/credentials.js';
import { createSealingKey } from '../../src/platform/keys/sealing.js';

const nothing = { serviceToken: null, demoApiKey: null, demoJwtSecret: null, encryptionKey: null, gatewayToken: null };
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-credentials-'));
  file = join(folder, 'credentials.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const inFile = async (): Promise<Record<string, string>> => JSON.parse(await readFile(file, 'utf8'));
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

it('makes what was not given, readable by its owner alone, and the same at the next start', async () => {
  const first = await loadCredentials(join(folder, 'new'), nothing);
  expect(await modeOf(first.file)).toBe(0o600);
  expect(first.keyRing.map((key) => key.length)).toEqual([32]);
  expect(first.keySource).toBe(`encryptionKey of ${first.file}`);
  expect(await loadCredentials(join(folder, 'new'), nothing)).toEqual(first);
  expect((await loadCredentials(join(folder, 'other'), nothing)).keyRing).not.toEqual(first.keyRing);
});

it('adds the encryption key to an earlier file, and keeps the rest', async () => {
  const earlier = { serviceToken: 'service', demoApiKey: 'api', demoJwtSecret: 'jwt' };
  await writeFile(file, JSON.stringify(earlier));
  await chmod(file, 0o644);
  const loaded = await loadCredentials(folder, nothing);
  const { file: _, keySource: __, keyRing, ...others } = loaded;
  expect(others).toEqual({ ...earlier, gatewayToken: expect.any(String) });
  expect(await inFile()).toEqual({ ...others, encryptionKey: keyRing[0].toString('base64') });
  expect(await modeOf(file)).toBe(0o600);
  expect(await readdir(folder)).toEqual(['credentials.json']);
  expect(await loadCredentials(folder, nothing)).toEqual(loaded);
});

it('what is given is used and never written, and what is written stays', async () => {
  const given = {
    serviceToken: 'given service',
    demoApiKey: 'given api',
    demoJwtSecret: 'given jwt',
    gatewayToken: 'given gateway',
  };
  const [sealing, opening] = [createSealingKey(), createSealingKey()];
  const encryptionKey = `${sealing},${opening}`;
  const first = await loadCredentials(folder, nothing);
  const keyRing = [sealing, opening].map((key) => Buffer.from(key, 'base64'));
  expect(await loadCredentials(folder, { ...given, encryptionKey })).toEqual({
    ...{ ...given, keyRing, keySource: 'GUESTLIST_ENCRYPTION_KEY', file },
  });
  const text = await readFile(file, 'utf8');
  for (const secret of [...Object.values(given), sealing, opening]) expect(text).not.toContain(secret);
  expect(await loadCredentials(folder, nothing)).toEqual(first);
});

it.each([
  '{"serviceToken": "s3cret", oops',
  'null',
  '[]',
  '{"serviceToken": "s3cret"}',
  '{"serviceToken": "s3cret", "demoApiKey": "a", "demoJwtSecret": "j", "encryptionKey": "s3cret"}',
  '{"serviceToken": "s3cret", "demoApiKey": "a", "demoJwtSecret": "j", "other": 1}',
])('a damaged file is told by its name, is left as it is, and none of it is said: %s', async (text) => {
  await writeFile(file, text);
  const failure = await loadCredentials(folder, nothing).catch((error: unknown) => error);
  if (!(failure instanceof Error)) throw new Error('nothing was thrown');
  expect(failure.message).toContain(`${file} is damaged`);
  expect(`${failure.stack} ${String(failure.cause)}`).not.toContain('s3cret');
  expect(await readFile(file, 'utf8')).toBe(text);
});
