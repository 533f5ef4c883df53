/** Search in Studio, with commands that check their input as in the product. */
import { expect, test } from 'vitest';
import { adminCommand, tokenRun } from '../../src/gateway/common/admin-command.js';
import { listTenantsCommand } from '../../src/gateway/provision/tenants-list.js';
import { tenantNamesCommand } from '../../src/gateway/tenant/names.js';
import { schedulesOfAll } from '../../src/service/schedules/tenant-schedules.js';
import { createSearch, type SearchDeps } from '../../src/studio/search.js';

test('a word that names of many tenants contain finds tenants too', async () => {
  const all = Array.from({ length: 600 }, (_, at) => ({ clientId: `t${at}`, name: `Example ${at}` }));
  const asked: number[] = [];
  const { tenant } = createSearch({
    store: {} as SearchDeps['store'],
    commands: [
      adminCommand(tenantNamesCommand, async ({ clientIds }) => ({
        names: all.filter(({ clientId }) => clientIds?.includes(clientId) ?? true),
      })),
      adminCommand(listTenantsCommand, async ({ clientIds = [], limit }) => {
        asked.push(clientIds.length);
        const tenants = clientIds.slice(0, limit).map((clientId) => ({
          ...{ clientId, tenantRef: clientId, state: 'active' as const, occurredAt: null },
          ...{ createdAt: new Date(0), outcome: 'none' as const, dashboards: [] },
        }));
        return { tenants, next: null };
      }),
    ],
    dataAppId: async () => 'shop',
    now: () => new Date(0),
  });
  const answer = await tenant?.find({ by: tokenRun, wanted: { words: ['example'], after: null, limit: 3 } });
  expect(answer?.found.map(({ id, name }) => [id, name])).toEqual([
    ['t0', 'Example 0'],
    ['t1', 'Example 1'],
    ['t2', 'Example 2'],
  ]);
  expect(asked).toEqual([0, 500]);
});

test('before the data app of the policy is there, nothing of it is found, and no list of schedules fails', async () => {
  const never = () => Promise.reject(new Error('nothing may be asked'));
  const store = { guestTokens: never, schedules: never, hostSchedules: never } as never;
  const search = createSearch({ store, commands: [], dataAppId: async () => undefined, now: () => new Date(0) });
  const asked = { by: tokenRun, wanted: { words: ['daily'], after: null, limit: 3 } };
  for (const kind of ['token', 'schedule', 'tenant-report'])
    expect(await search[kind as keyof typeof search]?.find(asked)).toEqual({ found: [], next: null });
  const parts = { store: { schedules: { listAll: never } }, reports: {}, clock: {} } as never;
  const schedules = schedulesOfAll(parts, async () => undefined);
  expect(await schedules.list(undefined)).toEqual({ schedules: [], hasMore: false });
  expect(await schedules.setPaused('s', true)).toBe(false);
});
