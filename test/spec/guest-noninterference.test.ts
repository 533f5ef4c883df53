/** Whatever guests of one client write in any order, no answer to another client, data app or user changes. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boardOf, create, embedOf, guest, openBoard, openSettings, revenueBy } from './guests.js';
import { call, type House, type Input, ok, openHouse } from './house.js';

let house: House;
let shared: string;
let writers: readonly string[];
/** Returns everything that the others read, as one text. */
let read: () => Promise<string>;

type Reader = { readonly bearer: string; readonly dashboardId: string; readonly metricIds: readonly string[] };

const readAs = async ({ bearer, dashboardId, metricIds }: Reader): Promise<unknown> => {
  const asked = metricIds.map((metricId) => call(house, 'queryGuestMetric', { dashboardId, metricId }, { bearer }));
  const answers = await Promise.all([
    ...asked,
    call(house, 'listGuestFilterOptions', { dashboardId, filter: 'Region' }, { bearer }),
    call(house, 'listGuestViews', { dashboardId }, { bearer }),
    call(house, 'listGuestBoards', { dashboardId }, { bearer }),
  ]);
  const bodies = answers.map(({ status, text }) => [
    status,
    text.replace(/"timeTaken":\d+/, '').replace(/Reference: [\w-]+/, ''),
  ]);
  return [await boardOf(house, bearer, dashboardId), bodies];
};

const openReaders = async (): Promise<readonly Reader[]> => {
  const globex = await guest(house, 'globex');
  const otherUser = await guest(house, 'acme', { userIdentifier: 'bob' });
  const input = { embedType: 'dashboard', dashboardId: 'board', workspaceName: 'shop', accessSettings: openSettings };
  const other = await ok(house, 'createEmbed', input, { bearer: house.otherKey });
  const minted = { clientId: 'acme', dataAppName: 'other' };
  const { token: otherApp } = await ok(house, 'createGuestToken', minted, { bearer: house.otherKey });
  const places = [
    [globex, 'globex-board'],
    [globex, shared],
    [otherApp, other.id],
    [otherUser, 'private-board'],
  ] as const;
  return Promise.all(
    places.map(async ([bearer, dashboardId]) => {
      if (bearer === globex) await create(house, bearer, dashboardId, 'Of globex');
      const { metrics } = await boardOf(house, bearer, dashboardId);
      const asked = metrics.filter(({ name }) => ['Metric revenue', 'Of globex'].includes(name));
      return { bearer, dashboardId, metricIds: asked.map(({ metricId }) => metricId) };
    }),
  );
};

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, 'acme-board', 'acme');
  await openBoard(house, 'globex-board', 'globex');
  await openBoard(house, 'private-board', 'acme');
  shared = await embedOf(house, 'board');
  // On `private-board`, only ann writes. Her metrics, layouts and views are her own.
  writers = [await guest(house, 'acme', { userIdentifier: 'ann' }), await guest(house, 'acme')];
  const readers = await openReaders();
  read = async () => JSON.stringify(await Promise.all(readers.map(readAs)));
});
afterAll(() => house.close());

/** One write by a guest of acme, to any metric, visible to it or not. */
type Step = {
  readonly writer: number;
  readonly board: number;
  readonly write:
    | 'make'
    | 'update'
    | 'archive'
    | 'restore'
    | 'delete'
    | 'arrange'
    | 'giveUp'
    | 'save'
    | 'drop'
    | 'build'
    | 'rebuild';
  readonly pick: number;
  readonly column: string;
};

const step: fc.Arbitrary<Step> = fc.record({
  writer: fc.nat(1),
  board: fc.nat(2),
  write: fc.constantFrom(
    'make',
    'make',
    'update',
    'archive',
    'restore',
    'delete',
    'arrange',
    'giveUp',
    'save',
    'drop',
    'build',
    'rebuild',
  ),
  pick: fc.nat(30),
  column: fc.constantFrom('sales.region', 'sales.client', 'products.label', 'clients.id'),
});

const boards = () => ['acme-board', shared, 'private-board'];
const seen: string[] = [];
const views: string[] = [];
const built: string[] = [];

const run = async ({ writer, board, write, pick, column }: Step): Promise<number> => {
  const dashboardId = boards()[board] ?? '';
  // A write of a token without a user changes the client's dashboard for all its users, so only ann writes there.
  const bearer = (dashboardId === 'private-board' ? writers[0] : writers[writer]) ?? '';
  const { metrics } = await boardOf(house, bearer, dashboardId);
  const isHers = dashboardId === 'private-board';
  const open = metrics.map(({ metricId }) => metricId).filter((id) => !isHers || seen.includes(id));
  const pool = [...(isHers ? open : [...open, ...seen]), 'revenue', 'by-region'];
  const metricId = pool[pick % pool.length] ?? '';
  const definition = revenueBy(column);
  const send = (name: Parameters<typeof call>[1], input: Input) => call(house, name, input, { bearer });
  const writes: Record<Step['write'], () => ReturnType<typeof call>> = {
    make: () => send('createGuestMetric', { dashboardId, name: `Made ${pick}`, definition }),
    update: () => send('updateGuestMetric', { metricId, name: 'Updated', definition }),
    archive: () => send('archiveGuestMetric', { metricId }),
    restore: () => send('archiveGuestMetric', { metricId, isArchived: false }),
    delete: () => send('deleteGuestMetric', { metricId }),
    arrange: () =>
      send('saveGuestLayout', {
        dashboardId,
        layout: metrics.slice(pick % 3).map((metric, y) => ({ metricId: metric.metricId, x: 0, y, w: 12, h: 1 })),
      }),
    giveUp: () => send('restoreGuestLayout', { dashboardId }),
    save: () => send('createGuestView', { dashboardId, name: `View ${pick}`, dashboardFilter: { Region: 'north' } }),
    build: () => send('createGuestBoard', { dashboardId, name: `Board ${pick}`, layout: [], isShared: !isHers }),
    rebuild: () =>
      send('updateGuestBoard', {
        ...{ dashboardId, boardId: built[pick % Math.max(1, built.length)] ?? 'none', version: 1 },
        layout: [{ metricId, x: 0, y: 0, w: 6, h: 2 }],
      }),
    drop: () => send('deleteGuestView', { dashboardId, viewId: views[pick % Math.max(1, views.length)] ?? 'none' }),
  };
  const answer = await writes[write]();
  const made = (answer.body as { readonly data?: { readonly metricId?: string; readonly id?: string } }).data;
  if (answer.status === 200 && write === 'make' && made?.metricId !== undefined) seen.push(made.metricId);
  if (answer.status === 200 && write === 'build' && made?.id !== undefined) built.push(made.id);
  if (answer.status === 200 && write === 'save' && made?.id !== undefined) views.push(made.id);
  return answer.status;
};

test('no sequence of one client’s writes changes what another client, data app or user reads', async () => {
  const before = await read();
  const statuses: number[] = [];
  const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
    for (const one of steps) statuses.push(await run(one));
    expect(await read()).toBe(before);
  });
  await fc.assert(property, { seed: 11, numRuns: 8, endOnFailure: true });
  expect(statuses.filter((status) => ![200, 400, 403, 409].includes(status))).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(20);
}, 120_000);
