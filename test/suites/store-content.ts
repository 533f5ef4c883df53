/**
 * What every metadata database must do with the content's revision, and with content that is cached between two
 * revisions. Part of the store's suite.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ContentRevision } from '../../src/model/brand.js';
import { hostOwner } from '../../src/model/schedule/host-schedule.js';
import type { Schedule, ScheduleOwner } from '../../src/model/schedule/schedule.js';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';
import { guestMetricSample } from './guest-store.js';
import { scheduleSample } from './store-deliveries.js';
import {
  dashboardSample,
  embedSample,
  firstEpoch,
  grantSample,
  insertOrganization,
  metricSample,
  moment,
} from './store-samples.js';

const setUp = async (store: Store) => {
  const organization = await insertOrganization(store);
  const { dataApp, workspace, owner } = organization;
  const board = dashboardSample(workspace.id, { owner });
  await store.dashboards.insert(board);
  const embed = embedSample(dataApp.id, board.id);
  await store.embeds.insert(embed);
  const metric = { ...metricSample(workspace.id), owner };
  await store.metrics.insert(metric);
  const made = guestMetricSample(workspace.id, board.id, owner);
  await store.guestMetrics.insert(made);
  const hash = hashToken(createToken());
  await store.guestTokens.insert(hash, grantSample(dataApp.id), firstEpoch);
  const revision = async (): Promise<ContentRevision> => {
    const found = await store.guestTokens.findByHash(hash);
    if (found === undefined) throw new Error('the token is not there');
    return found.revision;
  };
  return { ...organization, board, embed, metric, made, hash, revision };
};

type Made = Awaited<ReturnType<typeof setUp>>;

/** The changes run in this order; each one needs the results of the earlier ones. */
const changes: Readonly<Record<string, (store: Store, made: Made) => Promise<unknown>>> = {
  'a datasource': (store, { datasource }) => store.datasources.update({ ...datasource, name: `${datasource.name}-2` }),
  'the databases of clients': (store, { datasource }) =>
    store.transaction((inner) =>
      inner.datasources.saveSync(
        datasource.id,
        { tables: [], clientDatabases: { DATABASE: ['acme'], MULTI_DATABASE: [] } },
        moment,
      ),
    ),
  'a datamart': (store, { datamart }) => store.datamarts.update({ ...datamart, sharedTables: ['main.flights'] }),
  'a workspace': (store, { workspace }) => store.workspaces.update({ ...workspace, datamartId: null }),
  'a new dashboard': (store, { workspace }) => store.dashboards.insert(dashboardSample(workspace.id)),
  'a dashboard': (store, { board }) => store.dashboards.update({ ...board, name: 'another' }),
  'a layout for all': (store, { board }) => store.dashboards.setLayout(board.id, []),
  'which metrics a dashboard has': (store, { board, metric }) =>
    store.dashboards.placeMetrics(board.id, [{ metricId: metric.metricId, placement: 'METRIC' }], moment),
  'a new metric': (store, { workspace }) => store.metrics.insert(metricSample(workspace.id)),
  'a metric': (store, { metric, owner }) => store.metrics.change(metric.metricId, owner, { name: 'another' }),
  'a metric of a guest': (store, { made }) => store.guestMetrics.change(made.metricId, { name: 'another' }),
  'a metric of a guest that goes': (store, { made }) => store.guestMetrics.delete(made.metricId),
  'an embed': (store, { embed }) => store.embeds.update({ ...embed, name: 'another' }),
  'an embed that goes': (store, { dataApp, embed }) => store.embeds.delete(dataApp.id, embed.embedId),
  'a dashboard that goes': (store, { board }) => store.dashboards.delete(board),
  'a datamart that goes': (store, { datamart }) => store.datamarts.remove(datamart.id),
};

const revisionTests = (store: () => Store): void => {
  it('every change of it is another revision', async () => {
    const made = await setUp(store());
    for (const [what, change] of Object.entries(changes)) {
      const before = BigInt(await made.revision());
      await change(store(), made);
      expect(BigInt(await made.revision()), what).toBeGreaterThan(before);
    }
  });

  it('a transaction increases it once, however much it changes, and not at all if it is rolled back', async () => {
    const made = await setUp(store());
    const before = BigInt(await made.revision());
    const insertTwo = async (inner: Store): Promise<void> => {
      await inner.metrics.insert(metricSample(made.workspace.id));
      await inner.metrics.insert(metricSample(made.workspace.id));
    };
    await store().transaction(insertTwo);
    expect(BigInt(await made.revision())).toBe(before + 1n);
    const failing = store().transaction(async (inner) => {
      await insertTwo(inner);
      throw new Error('on the way');
    });
    await expect(failing).rejects.toThrow('on the way');
    expect(BigInt(await made.revision())).toBe(before + 1n);
  });

  it('of many simultaneous changes, none is lost and none waits forever', async () => {
    const made = await setUp(store());
    const before = BigInt(await made.revision());
    const writes = Array.from({ length: 12 }, (_, index) =>
      store().transaction(async (inner) => {
        await inner.metrics.insert(metricSample(made.workspace.id));
        await inner.workspaces.update({ ...made.workspace, themeName: `theme ${index}` });
      }),
    );
    await Promise.all(writes);
    expect(BigInt(await made.revision())).toBe(before + 12n);
  });

  it('tokens, their use and what guests keep for themselves leave it as it is', async () => {
    const made = await setUp(store());
    const before = await made.revision();
    const { dataApp, board, owner } = made;
    await store().guestTokens.insert(hashToken(createToken()), grantSample(dataApp.id), firstEpoch);
    await store().guestTokens.revoke(dataApp.id, { kind: 'client', clientId: 'nobody', userIdentifier: null }, moment);
    await store().lastUses.write([{ kind: 'guestToken', id: 'nobody', at: moment }]);
    await store().guestLayouts.save(board.id, { ...owner, userIdentifier: 'ann' }, { cards: [], known: [] });
    expect(await made.revision()).toBe(before);
  });
};

const keepingTests = (store: () => Store): void => {
  it('is read once while its revision stays', async () => {
    const { board, revision } = await setUp(store());
    const first = await store()
      .contentAt(await revision())
      .dashboards.findById(board.id);
    expect(first).toEqual(await store().dashboards.findById(board.id));
    expect(
      await store()
        .contentAt(await revision())
        .dashboards.findById(board.id),
    ).toBe(first);
    expect(await store().contentAt(null).dashboards.findById(board.id)).not.toBe(first);
  });

  it('changed content is read again, also by a request with an earlier revision', async () => {
    const { board, revision } = await setUp(store());
    const before = await revision();
    await store().contentAt(before).dashboards.findById(board.id);
    await store().dashboards.update({ ...board, name: 'another' });
    const after = await revision();
    for (const read of [after, before]) {
      expect((await store().contentAt(read).dashboards.findById(board.id))?.name).toBe('another');
    }
    // The revision may come from an older backup of the database, where the cached content does not exist.
    const kept = await store().contentAt(after).dashboards.findById(board.id);
    expect(await store().contentAt(before).dashboards.findById(board.id)).not.toBe(kept);
  });

  it('what one client’s guests made is never another’s', async () => {
    const { board, owner, otherOwner, made, revision } = await setUp(store());
    const content = store().contentAt(await revision());
    for (const stranger of [otherOwner, { ...owner, clientId: 'lax' }]) {
      expect(await content.guestMetrics.list(board.id, owner)).toMatchObject([{ metricId: made.metricId }]);
      expect(await content.guestMetrics.list(board.id, stranger)).toEqual([]);
    }
  });

  it('a failed read is repeated', async () => {
    const { revision } = await setUp(store());
    const content = store().contentAt(await revision());
    await expect(content.dashboards.findById('\0')).rejects.toThrow();
    await expect(content.dashboards.findById('\0')).rejects.toThrow();
  });

  it('a transaction reads what it wrote', async () => {
    const { board, revision } = await setUp(store());
    const before = await revision();
    await store().contentAt(before).dashboards.findById(board.id);
    await store().transaction(async (inner) => {
      await inner.dashboards.update({ ...board, name: 'another' });
      expect((await inner.contentAt(before).dashboards.findById(board.id))?.name).toBe('another');
    });
  });

  it('a token is not found any more once it is revoked, alone or with its client', async () => {
    for (const isAlone of [true, false]) {
      const { dataApp, hash } = await setUp(store());
      const found = await store().guestTokens.findByHash(hash);
      expect(await store().guestTokens.findByHash(hash)).toEqual(found);
      const { id = '', clientId = '' } = found ?? {};
      const which = isAlone
        ? ({ kind: 'id', id } as const)
        : ({ kind: 'client', clientId, userIdentifier: null } as const);
      await store().guestTokens.revoke(dataApp.id, which, moment);
      expect(await store().guestTokens.findByHash(hash)).toBeUndefined();
    }
  });
};

const searchTests = (store: () => Store): void => {
  const first = { after: null, limit: 10 };

  it('finds what the organization built, by all words in upper or lower case, and nothing of a client', async () => {
    const { workspace, owner, datamart, datasource } = await insertOrganization(store());
    const mark = `Ünique${randomUUID().slice(0, 8)}`;
    const board = dashboardSample(workspace.id, { owner: null, name: `${mark} 100%_ Delays` });
    const copy = dashboardSample(workspace.id, { owner, name: `${mark} copy` });
    const metric = metricSample(workspace.id, { owner: null, name: `${mark} sales` });
    const own = metricSample(workspace.id, { owner, name: `${mark} own` });
    for (const one of [board, copy]) await store().dashboards.insert(one);
    await store().metrics.insertAll([metric, own]);
    const placed = (metricId: string) => [{ metricId, placement: 'METRIC' as const }];
    await store().dashboards.placeMetrics(board.id, placed(metric.metricId), moment);
    await store().dashboards.placeMetrics(copy.id, placed(own.metricId), moment);
    const { search } = store();
    const boards = async (...words: string[]) =>
      (await search.dashboards({ ...first, words })).found.map(({ dashboardId }) => dashboardId);
    expect(await boards(mark.toLowerCase(), 'DELAYS')).toEqual([board.externalDashboardId]);
    expect(await boards(mark)).toEqual([board.externalDashboardId]);
    expect(await boards(mark, '100%_')).toEqual([board.externalDashboardId]);
    for (const word of ['%', '_', "'", '\\'].map((text) => `${mark}${text}`)) expect(await boards(word)).toEqual([]);
    expect(await search.metrics({ ...first, words: [mark] })).toEqual({
      found: [
        expect.objectContaining({
          metricId: metric.metricId,
          dashboardId: board.externalDashboardId,
          name: board.name,
        }),
      ],
      next: null,
    });
    expect((await search.datasources({ ...first, words: [datasource.name] })).found).toEqual([
      { name: datasource.name },
    ]);
    expect((await search.datamarts({ ...first, words: [datasource.name] })).found).toEqual([
      { name: datamart.name, datasourceName: datasource.name },
    ]);
  });

  it('a search of the store answers in pages', async () => {
    const { workspace } = await insertOrganization(store());
    const mark = randomUUID();
    const names = ['a', 'b', 'c'].map((letter) => `${mark} ${letter}`);
    for (const name of names) await store().dashboards.insert(dashboardSample(workspace.id, { owner: null, name }));
    const page = (after: string | null) => store().search.dashboards({ words: [mark], after, limit: 2 });
    const [one, two] = [await page(null), await page('2')];
    expect([...one.found, ...two.found].map(({ name }) => name)).toEqual(names);
    expect([one.next, two.next]).toEqual(['2', null]);
    expect((await page('x')).found).toEqual(one.found);
  });

  it('finds schedules by their names, of users and of the host, among more than a person reads at once', async () => {
    const { dataApp, otherApp, workspace, owner } = await insertOrganization(store());
    const { dataAppId, clientId } = owner;
    const board = dashboardSample(workspace.id, { owner: null });
    await store().dashboards.insert(board);
    const mark = randomUUID();
    const [ann, host] = [{ ...owner, userIdentifier: 'ann@customer.example' }, hostOwner(dataAppId)];
    const make = async (name: string, of: ScheduleOwner, parts: Partial<Schedule> = {}) => {
      const schedule = scheduleSample(board.id, of, { name: `${name} ${mark}`, ...parts });
      await store().schedules.insert(schedule);
      return schedule;
    };
    const old = await make('100%_ of Sales', ann, { createdAt: new Date(0) });
    for (let n = 0; n < 12; n += 1) await make(`Newer ${n}`, ann);
    const week = await make('Week', host, { openedId: 'delays' });
    await make('100%_ of Sales', { ...ann, dataAppId: otherApp.id });
    await make('Week', hostOwner(otherApp.id));
    const { search } = store();
    const find = async (byUser: boolean, ...words: string[]) =>
      (await search.schedules({ dataAppId: dataApp.id, byUser }, { ...first, words: [mark, ...words] })).found;
    expect(await find(true, 'SALES')).toEqual([
      { id: old.id, name: old.name, format: 'pdf', clientId, userIdentifier: 'ann@customer.example' },
    ]);
    expect(await find(true, 'ann@', clientId, 'sales')).toMatchObject([{ id: old.id }]);
    expect(await find(false, 'sales')).toMatchObject([{ id: old.id, userIdentifier: null }]);
    expect(await find(false, 'ann@', 'sales')).toEqual([]);
    expect(await find(true, '100%_')).toMatchObject([{ id: old.id }]);
    for (const word of ['1%s', '100_', '%%', '\\']) expect(await find(true, word)).toEqual([]);
    expect(await find(true, 'week')).toEqual([]);
    const cut = await search.schedules({ dataAppId, byUser: true }, { ...first, words: [mark] });
    expect([cut.found.length, cut.next]).toEqual([10, '10']);
    const ofHost = async (...words: string[]) =>
      (await search.hostSchedules(dataAppId, { ...first, words: [mark, ...words] })).found;
    const found = [{ id: week.id, name: week.name, format: 'pdf', template: 'delays' }];
    expect([await ofHost('WEEK'), await ofHost('delays'), await ofHost('sales')]).toEqual([found, found, []]);
  });

  it('finds tokens of the data app that are valid, and users only where they are asked for', async () => {
    const { dataApp, otherApp } = await insertOrganization(store());
    const now = new Date(moment.getTime() + 1000);
    const clientId = `client-${randomUUID().slice(0, 8)}`;
    const grants = [
      grantSample(dataApp.id, { clientId, userIdentifier: 'ann', datamartId: null, expiresAt: null }),
      grantSample(dataApp.id, { clientId, userIdentifier: 'ann', datamartId: null, expiresAt: moment }),
      grantSample(otherApp.id, { clientId, userIdentifier: 'ann', datamartId: null, expiresAt: null }),
    ].map((grant) => ({ ...grant, allowedEmbeds: null }));
    for (const grant of grants) {
      const epoch = await store().guestTokens.currentEpoch(grant);
      expect(await store().guestTokens.insert(hashToken(createToken()), grant, epoch)).toBe(true);
    }
    const find = async (byUser: boolean, ...words: string[]) =>
      (await store().search.guestTokens({ dataAppId: dataApp.id, now, byUser }, { ...first, words })).found;
    expect(await find(true, clientId, 'ANN')).toMatchObject([{ id: grants[0]?.id, clientId, userIdentifier: 'ann' }]);
    expect(await find(false, clientId)).toMatchObject([{ clientId, userIdentifier: null }]);
    expect(await find(false, clientId, 'ann')).toEqual([]);
    await store().guestTokens.revoke(dataApp.id, { kind: 'client', clientId, userIdentifier: null }, now);
    expect(await find(true, clientId)).toEqual([]);
  });
};

export const contentTests = (store: () => Store): void => {
  describe('the revision of the content', () => revisionTests(store));
  describe('content that is kept between requests', () => keepingTests(store));
  describe('the search', () => searchTests(store));
};
