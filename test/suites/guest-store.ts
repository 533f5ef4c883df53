/** What every metadata database must do with content that guests create. Part of the store's suite. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { GuestMadeMetric, Owner, Viewer } from '../../src/model/dashboard/metric.js';
import type { SavedView } from '../../src/model/guest/saved-view.js';
import { whole } from '../../src/model/slices.js';
import type { Database } from '../../src/platform/databases/database.js';
import type { NewBoard } from '../../src/service/store/guest-boards.js';
import type { Store } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { dashboardSample, insertOrganization, metricSample, moment } from './store-samples.js';

/** Enough repetitions for simultaneous writers to collide if nothing separates them. */
const times = 12;

export const guestMetricSample = (
  workspaceId: string,
  dashboardId: string,
  owner: Owner,
  fields: Partial<GuestMadeMetric> = {},
): GuestMadeMetric => ({
  ...metricSample(workspaceId),
  owner,
  guest: {
    dashboardId,
    userIdentifier: 'ann',
    isPublished: false,
    card: { x: 1, y: 2, w: 3, h: 4 },
    createdAt: moment,
  },
  ...fields,
});

const viewSample = (fields: Partial<SavedView> = {}): SavedView => ({
  id: randomUUID(),
  name: 'Mine',
  dashboardFilter: { State: ['CA'] },
  metricFilter: { m: { delay: { min: 1 } } },
  filterNames: { State: 'Where' },
  isShared: false,
  isDefault: false,
  ...fields,
});

const noChoices = { dashboardFilter: {}, metricFilter: {}, filterNames: {} };

const insertBoard = async (store: Store) => {
  const organization = await insertOrganization(store);
  const { workspace, owner, otherOwner } = organization;
  const board = dashboardSample(workspace.id);
  await store.dashboards.insert(board);
  const ann: Viewer = { ...owner, userIdentifier: 'ann' };
  const others: readonly Viewer[] = [
    { ...owner, userIdentifier: 'Ann' },
    { ...owner, userIdentifier: null },
    { ...owner, clientId: 'lax', userIdentifier: 'ann' },
    { ...otherOwner, userIdentifier: 'ann' },
  ];
  return { ...organization, board, ann, others };
};

const metricTests = (store: () => Store): void => {
  it('returns a metric completely, and lists it only for its client and dashboard, oldest first', async () => {
    const { workspace, board, owner, otherOwner } = await insertBoard(store());
    const metric = guestMetricSample(workspace.id, board.id, owner);
    const older = guestMetricSample(workspace.id, board.id, owner, {
      guest: { ...metric.guest, userIdentifier: null, card: null, createdAt: new Date(0) },
    });
    for (const one of [metric, older]) expect(await store().guestMetrics.insert(one)).toBe(true);
    expect(await store().guestMetrics.insert({ ...metric, name: 'second' })).toBe(false);
    expect(await store().guestMetrics.findById(metric.metricId)).toEqual(metric);
    expect(await store().guestMetrics.list(board.id, owner)).toEqual([older, metric]);
    expect(await store().guestMetrics.list(board.id, otherOwner)).toEqual([]);
    expect(await store().guestMetrics.list(board.id, { ...owner, clientId: 'lax' })).toEqual([]);
    expect(await store().guestMetrics.list(randomUUID(), owner)).toEqual([]);
  });

  it('keeps it out of everything that the host lists', async () => {
    const { workspace, board, owner, dataApp } = await insertBoard(store());
    const metric = guestMetricSample(workspace.id, board.id, owner);
    await store().guestMetrics.insert(metric);
    expect(await store().metrics.findById(metric.metricId)).toBeUndefined();
    expect(await whole(store().metrics.listByWorkspace(workspace.id, dataApp.id, null))).toEqual([]);
    expect(await store().dashboards.listMetrics(board.id)).toEqual([]);
    await store().dashboards.placeMetrics(board.id, [], moment);
    expect(await store().guestMetrics.findById(metric.metricId)).toEqual(metric);
  });

  it('changes only what is named, also in two simultaneous changes', async () => {
    const { workspace, board, owner } = await insertBoard(store());
    const metric = guestMetricSample(workspace.id, board.id, owner);
    await store().guestMetrics.insert(metric);
    const { metricId, guest } = metric;
    const definition = { ...metric.definition, limit: 5 };
    const changes = [{ name: 'Changed' }, { definition }, { isArchived: true }, { isPublished: true }, { card: null }];
    const done = await Promise.all(changes.map((change) => store().guestMetrics.change(metricId, change)));
    expect(done).toEqual(changes.map(() => true));
    expect(await store().guestMetrics.change(metricId, {})).toBe(true);
    expect(await store().guestMetrics.findById(metricId)).toEqual({
      ...metric,
      name: 'Changed',
      definition,
      isArchived: true,
      guest: { ...guest, isPublished: true, card: null },
    });
    expect(await store().guestMetrics.delete(metricId)).toBe(true);
    expect(await store().guestMetrics.delete(metricId)).toBe(false);
    expect(await store().guestMetrics.change(metricId, { name: 'Late' })).toBe(false);
  });

  it('changes a metric of the host only for its owner, and marks a definition that a guest wrote', async () => {
    const { workspace, owner, otherOwner } = await insertBoard(store());
    const metric = metricSample(workspace.id, { owner, lineage: ['copy', 'original'] });
    await store().metrics.insert(metric);
    const { metricId } = metric;
    for (const other of [otherOwner, { ...owner, clientId: 'lax' }])
      expect(await store().metrics.change(metricId, other, { name: 'Taken' })).toBe(false);
    expect(await store().metrics.change(metricId, owner, { name: 'Renamed', isArchived: true })).toBe(true);
    expect(await store().metrics.findById(metricId)).toEqual({ ...metric, name: 'Renamed', isArchived: true });
    const definition = { ...metric.definition, limit: 5 };
    await store().metrics.change(metricId, owner, { definition, isArchived: false });
    expect(await store().metrics.findById(metricId)).toEqual({
      ...metric,
      name: 'Renamed',
      definition,
      isChangedByGuest: true,
    });
    const organizations = metricSample(workspace.id);
    await store().metrics.insert(organizations);
    expect(await store().metrics.change(organizations.metricId, owner, { name: 'Taken' })).toBe(false);
  });
};

const layoutTests = (store: () => Store): void => {
  it('keeps one arrangement for each viewer, the last that was saved', async () => {
    const { board, ann, others } = await insertBoard(store());
    const layout = { cards: [{ metricId: 'm', x: 0, y: 0, w: 1, h: 1 }], known: ['m', 'n'] };
    await store().guestLayouts.save(board.id, ann, { cards: [], known: [] });
    await store().guestLayouts.save(board.id, ann, layout);
    expect(await store().guestLayouts.find(board.id, ann)).toEqual(layout);
    for (const other of others) expect(await store().guestLayouts.find(board.id, other)).toBeUndefined();
    await Promise.all(Array.from({ length: times }, () => store().guestLayouts.save(board.id, ann, layout)));
    expect(await store().guestLayouts.find(board.id, ann)).toEqual(layout);
  });

  it('deletes the arrangement of one viewer, and of nobody else', async () => {
    const { board, ann, others } = await insertBoard(store());
    const layout = { cards: [], known: ['m'] };
    for (const viewer of [ann, ...others]) await store().guestLayouts.save(board.id, viewer, layout);
    await store().guestLayouts.delete(board.id, ann);
    await store().guestLayouts.delete(board.id, ann);
    expect(await store().guestLayouts.find(board.id, ann)).toBeUndefined();
    for (const other of others) expect(await store().guestLayouts.find(board.id, other)).toEqual(layout);
  });

  it('sets a dashboard’s own layout, and nothing else of it', async () => {
    const { board } = await insertBoard(store());
    const layout = [{ metricId: 'm', x: 0, y: 0, w: 1, h: 1 }];
    await store().dashboards.setLayout(board.id, layout);
    expect(await store().dashboards.findById(board.id)).toEqual({ ...board, layout });
    await expect(store().dashboards.setLayout(randomUUID(), layout)).rejects.toThrow(/does not exist/);
  });

  it('lets one at a time hold a dashboard', async () => {
    const { board } = await insertBoard(store());
    const grow = (index: number) =>
      store().transaction(async (inner) => {
        const locked = await inner.dashboards.lock(board.id);
        const card = { metricId: `m${index}`, x: 0, y: 0, w: 1, h: 1 };
        await inner.dashboards.setLayout(board.id, [...(locked?.layout ?? []), card]);
      });
    await Promise.all(Array.from({ length: times }, (_, index) => grow(index)));
    const found = await store().dashboards.findById(board.id);
    expect(found?.layout).toHaveLength(board.layout.length + times);
    expect(await store().transaction((inner) => inner.dashboards.lock(randomUUID()))).toBeUndefined();
  });
};

const viewTests = (store: () => Store): void => {
  it('returns views completely, only to their viewer, and only the viewer can delete them', async () => {
    const { board, ann, others } = await insertBoard(store());
    const view = viewSample();
    expect(await store().guestViews.insert(board.id, ann, view, moment)).toBe(true);
    expect(await store().guestViews.list(board.id, ann)).toEqual([{ ...view, isOwn: true }]);
    for (const other of others) {
      expect(await store().guestViews.list(board.id, other)).toEqual([]);
      expect(await store().guestViews.delete(board.id, other, view.id)).toBe(false);
      expect(await store().guestViews.insert(board.id, other, viewSample(), moment)).toBe(true);
    }
    expect(await store().guestViews.delete(randomUUID(), ann, view.id)).toBe(false);
    expect(await store().guestViews.delete(board.id, ann, view.id)).toBe(true);
    expect(await store().guestViews.list(board.id, ann)).toEqual([]);
  });

  it('returns a shared view to the users of its client only, who can change and delete it', async () => {
    const { board, ann, others } = await insertBoard(store());
    const view = viewSample({ isShared: true, isDefault: true });
    const { guestViews } = store();
    await guestViews.insert(board.id, ann, view, moment);
    const isOfClient = (other: Viewer) => other.dataAppId === ann.dataAppId && other.clientId === ann.clientId;
    expect(new Set(others.map(isOfClient))).toEqual(new Set([true, false]));
    for (const other of others) {
      const listed = isOfClient(other) ? [{ ...view, isOwn: false }] : [];
      expect(await guestViews.list(board.id, other)).toEqual(listed);
      expect(await guestViews.change(board.id, other, view.id, { isDefault: true })).toBe(isOfClient(other));
      const own = viewSample({ name: 'Own', isDefault: true });
      await guestViews.insert(board.id, other, own, moment);
      expect(await guestViews.list(board.id, other)).toEqual([...listed, { ...own, isOwn: true }]);
      await guestViews.delete(board.id, other, own.id);
      if (!isOfClient(other)) expect(await guestViews.delete(board.id, other, view.id)).toBe(false);
    }
    const next = viewSample({ name: 'Next', isShared: true, isDefault: true });
    await guestViews.insert(board.id, ann, next, moment);
    expect(await guestViews.change(board.id, ann, view.id, { name: 'Changed', choices: noChoices })).toBe(true);
    const changed = { ...view, ...noChoices, name: 'Changed', isDefault: false, isOwn: true };
    expect(await guestViews.list(board.id, ann)).toEqual([changed, { ...next, isOwn: true }]);
  });

  it('of simultaneous ones of one name, makes exactly one', async () => {
    const { board, ann, others } = await insertBoard(store());
    for (const viewer of [ann, ...others]) {
      const made = await Promise.all(
        Array.from({ length: times }, () => store().guestViews.insert(board.id, viewer, viewSample(), moment)),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await store().guestViews.list(board.id, viewer)).toHaveLength(1);
    }
  });
};

const boardSample = (fields: Partial<NewBoard> = {}): NewBoard => ({
  id: randomUUID(),
  name: 'Mine',
  isShared: false,
  layout: [{ metricId: 'm', x: 0, y: 1, w: 6, h: 4 }],
  tiles: [{ kind: 'heading', tileId: 't', text: 'Zürich', x: 0, y: 0, w: 12, h: 1 }],
  ...fields,
});
const listed = ({ id, name, isShared }: NewBoard, isOwn: boolean) => ({ id, name, isShared, isOwn });

const boardTests = (store: () => Store): void => {
  it('keeps a board for exactly its viewer, who alone deletes it', async () => {
    const { board, ann, others } = await insertBoard(store());
    const own = boardSample();
    const { guestBoards } = store();
    expect(await guestBoards.insert(board.id, ann, own, moment)).toBe(true);
    expect(await guestBoards.insert(board.id, ann, boardSample(), moment)).toBe(false);
    expect(await guestBoards.list(board.id, ann)).toEqual([listed(own, true)]);
    expect(await guestBoards.find(board.id, ann, own.id)).toEqual({ ...own, isOwn: true, version: 1 });
    for (const other of others) {
      expect(await guestBoards.list(board.id, other)).toEqual([]);
      expect(await guestBoards.find(board.id, other, own.id)).toBeUndefined();
      expect(await guestBoards.change(board.id, other, { boardId: own.id, version: 1 }, { name: 'X' })).toBe(false);
      expect(await guestBoards.delete(board.id, other, own.id)).toBe(false);
      expect(await guestBoards.insert(board.id, other, boardSample(), moment)).toBe(true);
    }
    expect(await guestBoards.find(randomUUID(), ann, own.id)).toBeUndefined();
    expect(await guestBoards.delete(board.id, ann, own.id)).toBe(true);
    expect(await guestBoards.list(board.id, ann)).toEqual([]);
  });

  it('shows a shared board to the users of its client only, none of whom deletes it', async () => {
    const { board, ann, others } = await insertBoard(store());
    const shared = boardSample({ isShared: true });
    const { guestBoards } = store();
    await guestBoards.insert(board.id, ann, shared, moment);
    for (const other of others) {
      const isOfClient = other.dataAppId === ann.dataAppId && other.clientId === ann.clientId;
      expect(await guestBoards.list(board.id, other)).toEqual(isOfClient ? [listed(shared, false)] : []);
      expect((await guestBoards.find(board.id, other, shared.id)) !== undefined).toBe(isOfClient);
      expect(await guestBoards.delete(board.id, other, shared.id)).toBe(false);
    }
  });

  it('changes a board of that version only, and changes what is given', async () => {
    const { board, ann } = await insertBoard(store());
    const own = boardSample();
    const { guestBoards } = store();
    await guestBoards.insert(board.id, ann, own, moment);
    const at = (version: number) => ({ boardId: own.id, version });
    const changes = Array.from({ length: times }, () => guestBoards.change(board.id, ann, at(1), { name: 'Once' }));
    expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1);
    const content = { layout: [], tiles: [] };
    expect(await guestBoards.change(board.id, ann, at(1), { content })).toBe(false);
    expect(await guestBoards.change(board.id, ann, at(2), { content, isShared: true })).toBe(true);
    const { layout: _, tiles: __, ...rest } = own;
    const expected = { ...rest, ...content, name: 'Once', isShared: true, isOwn: true, version: 3 };
    expect(await guestBoards.find(board.id, ann, own.id)).toEqual(expected);
  });
};

const deletionTests = (store: () => Store, database: () => Database): void => {
  it.each(['dashboards', 'data_apps'] as const)('goes with the row of %s that it belongs to', async (table) => {
    const { workspace, board, owner, otherOwner, ann, dataApp } = await insertBoard(store());
    const other = dashboardSample(workspace.id);
    await store().dashboards.insert(other);
    const kept = guestMetricSample(workspace.id, other.id, otherOwner);
    const metric = guestMetricSample(workspace.id, board.id, owner);
    for (const one of [kept, metric]) await store().guestMetrics.insert(one);
    await store().guestLayouts.save(board.id, ann, { cards: [], known: [] });
    await store().guestViews.insert(board.id, ann, viewSample(), moment);
    await store().guestBoards.insert(board.id, ann, boardSample(), moment);
    const db = database().connect<Tables>().withSchema('guestlist');
    const id = table === 'dashboards' ? board.id : dataApp.id;
    await db.deleteFrom(table).where('id', '=', id).execute();
    expect(await store().guestMetrics.findById(metric.metricId)).toBeUndefined();
    expect(await store().guestLayouts.find(board.id, ann)).toBeUndefined();
    expect(await store().guestViews.list(board.id, ann)).toEqual([]);
    for (const rows of ['guest_metrics', 'guest_layouts', 'guest_views', 'guest_boards'] as const) {
      const left = await db.selectFrom(rows).select('dashboard_id').where('dashboard_id', '=', board.id).execute();
      expect(left, rows).toEqual([]);
    }
    expect(await store().guestMetrics.findById(kept.metricId)).toEqual(kept);
  });
};

/** Runs as part of the store's suite, on its database. */
export const guestTests = (store: () => Store, database: () => Database): void => {
  describe('what guests write', () => {
    metricTests(store);
    layoutTests(store);
    viewTests(store);
    boardTests(store);
    deletionTests(store, database);
  });
};
