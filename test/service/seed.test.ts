/** What every start writes. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDemoBundle } from '../../src/demo/bundle.js';
import { seedDemo } from '../../src/demo/seed.js';
import { whole } from '../../src/model/slices.js';
import { hashToken } from '../../src/platform/keys/keys.js';
import { rotateApiKey } from '../../src/service/keys/api-keys.js';
import { createWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const apiKey = '11111111-1111-4111-8111-111111111111';
const start = async (): Promise<void> => {
  const bundle = await readDemoBundle(join(fileURLToPath(new URL('../../config', import.meta.url)), 'demo'));
  await seedDemo(world.deps, bundle, { dataDir: '.', apiKey });
};
const isThere = async (key: string) => (await world.store.apiKeys.findByHash(hashToken(key))) !== undefined;

test('the configured API key is made once; rotated or revoked, no start brings it back', async () => {
  await start();
  await start();
  const first = await world.store.apiKeys.findByHash(hashToken(apiKey));
  if (first === undefined) throw new Error('the key was not made');
  expect(await whole(world.store.apiKeys.listByDataApp(first.dataAppId, null))).toHaveLength(1);
  const caller = { kind: 'apiKey', keyId: first.id, dataAppId: first.dataAppId, dataAppName: 'flights' } as const;
  const { key } = await rotateApiKey(world.deps)(caller, { expireAt: 0 });
  await start();
  expect((await whole(world.store.apiKeys.listByDataApp(first.dataAppId, null))).map(({ hash }) => hash)).toEqual([
    hashToken(key),
  ]);
  await world.store.apiKeys.revoke(first.dataAppId, first.name, new Date());
  await start();
  expect([await isThere(apiKey), await isThere(key)]).toEqual([false, false]);
  expect(await whole(world.store.apiKeys.listByDataApp(first.dataAppId, null))).toEqual([]);
});
