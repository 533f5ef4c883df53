import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceCaller } from '../../src/model/guest/caller.js';
import { deleteDatamart } from '../../src/service/datamarts/datamarts.js';
import type { Store } from '../../src/service/store/store.js';
import { createWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const caller: ServiceCaller = { kind: 'serviceToken', tokenId: 't' };

/** A store that cannot remove datamarts. All earlier steps have run when it fails. */
const failing = (store: Store): Store => ({
  ...store,
  transaction: (work) =>
    store.transaction((inner) =>
      work({
        ...inner,
        datamarts: {
          ...inner.datamarts,
          remove: async () => {
            throw new Error('the database is gone');
          },
        },
      }),
    ),
});

test('a failed deletion changes nothing: embeds and tokens of the datamart still work', async () => {
  await world.template('board');
  const metricId = await world.clone('board', 'a-board');
  const token = await world.mint({ allowedEmbeds: ['a-board'] });
  expect(await world.count(token, metricId, 'a-board')).toBe(5);
  const remove = (store: Store) => deleteDatamart({ store })(caller, { datamartName: 'sales' });
  await expect(remove(failing(world.deps.store))).rejects.toThrow('the database is gone');
  expect(await world.count(token, metricId, 'a-board')).toBe(5);
  expect(await world.deps.store.datamarts.findByName('sales')).toBeDefined();
  await remove(world.deps.store);
  await expect(world.count(token, metricId, 'a-board')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});
