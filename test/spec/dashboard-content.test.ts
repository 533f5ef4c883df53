/** A dashboard's content is read and replaced; references to its metrics stay valid. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { columnRef } from '../engine/world.js';
import { guest, openBoard, openSettings, revenueOf } from './guests.js';
import { call, cloneBoard, type House, type Input, metricOf, mint, ok, openHouse, refused } from './house.js';
import { definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const workspaceName = 'shop';
const read = (dashboardId: string, sent = {}) => ok(house, 'getDashboardContent', { dashboardId, workspaceName }, sent);
const exported = async (embedId: string) => (await call(house, 'exportEmbed', { embedId })).text;

type Data = Awaited<ReturnType<typeof read>>['data'];

/** Reads the content, changes it and writes it. Returns the new digest. */
const replace = async (dashboardId: string, change: (data: Data) => object, sent = {}) => {
  const { data, digest } = await read(dashboardId, sent);
  const input = { dashboardId, workspaceName, content: change(data), expectedDigest: digest };
  return (await ok(house, 'replaceDashboardContent', input, sent)).digest;
};
const rename =
  (from: string, to: string) =>
  (data: Data): object => ({
    ...data,
    metrics: data.metrics.map((one) => (one.name === from ? { ...one, name: to } : one)),
  });
const without =
  (name: string) =>
  (data: Data): object => {
    const metrics = data.metrics.filter((metric) => metric.name !== name);
    const layout = data.layout.filter(({ metricId }) => metrics.some((metric) => metric.metricId === metricId));
    return { ...data, metrics, layout };
  };
const added = (metricId: string, parts: Input = {}) => ({
  metricId,
  name: `Metric ${metricId}`,
  lineage: [],
  placement: 'METRIC',
  definition: definition(parts),
});

describe('GET /data-app/dashboards/content: the export with its digest', () => {
  test('the digest changes with the content, and equal content has an equal digest', async () => {
    await cloneBoard(house, 'read', 'acme');
    const { digest, ...envelope } = await read('read');
    expect(envelope).toEqual(JSON.parse(await exported('read')));
    const changed = await replace('read', rename('Metric revenue', 'Revenue'));
    expect(changed).not.toBe(digest);
    expect((await read('read')).digest).toBe(changed);
    expect(await replace('read', rename('Revenue', 'Metric revenue'))).toBe(digest);
  });

  test('an API key reads dashboards of its own clients and the organization, a service token all; others do not exist for it', async () => {
    await cloneBoard(house, 'seen', 'acme');
    await read('board');
    await read('board', { bearer: house.serviceToken });
    expect(await read('seen', { bearer: house.serviceToken })).toEqual(await read('seen'));
    const input = { dashboardId: 'seen', workspaceName };
    await refused('getDashboardContent INVALID_DASHBOARD_ID', house, input, { bearer: house.otherKey });
    await refused('getDashboardContent INVALID_DASHBOARD_ID', house, { ...input, dashboardId: 'nowhere' });
    await refused('getDashboardContent WORKSPACE_ID_ERROR', house, { ...input, workspaceName: 'nowhere' });
    await refused('getDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('getDashboardContent INVALID_REQUEST_BODY', house, { dashboardId: 'seen' });
  });
});

describe('settings of a client’s dashboard, together with its content', () => {
  const target = (dashboardId: string) => ({ dashboardId, workspaceName });
  const withSettings = (dashboardId: string) =>
    ok(house, 'getDashboardContent', { ...target(dashboardId), with: 'settings' });
  const put = async (dashboardId: string, change: object, sent = {}) => {
    const { data, digest, settings } = await withSettings(dashboardId);
    const input = { ...target(dashboardId), content: data, expectedDigest: digest };
    return { input: { ...input, settings: { ...settings, ...change } }, sent };
  };

  test('a replacement writes name and access settings, keeps the datamart, and is guarded by the digest', async () => {
    await cloneBoard(house, 'set', 'acme');
    const before = await withSettings('set');
    expect(before.settings?.accessSettings).not.toHaveProperty('datamartName');
    expect((await read('set')).digest).not.toBe(before.digest);
    const accessSettings = { ...before.settings?.accessSettings, isAllowEmailReports: true, isAllowAiPilot: true };
    const { input } = await put('set', { name: 'Renamed', accessSettings });
    const { digest } = await ok(house, 'replaceDashboardContent', input);
    const after = await withSettings('set');
    expect(after).toMatchObject({ digest, settings: { name: 'Renamed', accessSettings } });
    expect(after.data).toEqual(before.data);
    const { data } = await ok(house, 'listEmbeds', { embedId: 'set' });
    expect(data).toMatchObject([{ name: 'Renamed', accessSettings: { ...accessSettings, datamartName: 'shop' } }]);
    // A setting that changed meanwhile counts as a change, and one that is left out is removed.
    await ok(house, 'updateEmbed', { embedId: 'set', accessSettings: { isAllowUnderlyingData: false } });
    await refused('replaceDashboardContent DASHBOARD_CHANGED', house, { ...input, expectedDigest: digest });
    const { isAllowAiPilot: _, ...fewer } = accessSettings;
    await ok(house, 'replaceDashboardContent', (await put('set', { accessSettings: fewer })).input);
    expect((await withSettings('set')).settings?.accessSettings).not.toHaveProperty('isAllowAiPilot');
  });

  test('settings are refused for a template, from a service token, and if they do not fit the datamart', async () => {
    await cloneBoard(house, 'unset', 'acme');
    expect(await withSettings('board')).not.toHaveProperty('settings');
    const { input } = await put('unset', {});
    const operation = 'replaceDashboardContent INVALID_DASHBOARD_DATA';
    await refused(operation, house, input, { bearer: house.serviceToken });
    const tableTenancySettings = [{ name: 'nowhere', clientColumn: 'x' }];
    const accessSettings = { ...input.settings.accessSettings, tableTenancySettings };
    await refused(operation, house, { ...input, settings: { name: 'x', accessSettings } });
    expect(await withSettings('unset')).toMatchObject({ digest: input.expectedDigest });
    await refused(
      'getDashboardContent INVALID_DASHBOARD_ID',
      house,
      { ...target('unset'), with: 'settings' },
      {
        bearer: house.otherKey,
      },
    );
  });
});

describe('POST /data-app/dashboards/content/compare: what changed since a content was read', () => {
  const service = () => ({ bearer: house.serviceToken });
  const compare = (dashboardId: string, content: object) =>
    ok(house, 'compareDashboardContent', { dashboardId, workspaceName, content }, service());

  test('after a stale write, it says what another author changed, and a merged write loses nothing', async () => {
    await cloneBoard(house, 'merged', 'acme');
    const { data, digest } = await read('merged');
    expect(await compare('merged', data)).toEqual({ data: [], digest, error: null });
    await replace('merged', rename('Metric revenue', 'Revenue'));
    const mine = { ...data, gridMargin: [3, 3] };
    const stale = { dashboardId: 'merged', workspaceName, content: mine, expectedDigest: digest };
    expect(await refused('replaceDashboardContent DASHBOARD_CHANGED', house, stale)).toContain('content/compare');
    const { data: changes, digest: current } = await compare('merged', data);
    expect(changes.map(({ text }) => text)).toEqual(['Metric "Metric revenue" is now called "Revenue".']);
    const now = await read('merged');
    expect(now.digest).toBe(current);
    const merged = { ...stale, content: { ...now.data, gridMargin: [3, 3] }, expectedDigest: current };
    await ok(house, 'replaceDashboardContent', merged);
    expect((await compare('merged', data)).data.map(({ kind }) => kind)).toEqual(['metricRenamed', 'dashboardChanged']);
  });

  test('settings that the content leaves out count as unchanged', async () => {
    const { metadata: _, isAllowPrivateMetricsByDefault: __, ...data } = (await read('board')).data;
    expect((await compare('board', data)).data).toEqual([]);
  });

  test('comparing contents is refused with each declared error', async () => {
    const { data } = await read('board');
    const input = { dashboardId: 'board', workspaceName, content: data };
    const twice = { ...input, content: { ...data, metrics: [...data.metrics, ...data.metrics] } };
    expect(await refused('compareDashboardContent INVALID_DASHBOARD_DATA', house, twice, service())).toContain(
      'occurs twice',
    );
    await refused(
      'compareDashboardContent INVALID_DASHBOARD_ID',
      house,
      { ...input, dashboardId: 'nowhere' },
      service(),
    );
    await refused(
      'compareDashboardContent WORKSPACE_ID_ERROR',
      house,
      { ...input, workspaceName: 'nowhere' },
      service(),
    );
    await refused('compareDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('compareDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: house.otherKey });
    await refused('compareDashboardContent INVALID_REQUEST_BODY', house, { dashboardId: 'board' }, service());
  });
});

describe('POST /data-app/dashboards/content/merge: the changes of two authors', () => {
  const service = () => ({ bearer: house.serviceToken });
  const merge = (dashboardId: string, parts: object) =>
    ok(house, 'mergeDashboardContent', { dashboardId, workspaceName, ...parts }, service());

  test('keeps both where they do not collide, asks where they do, and the answer can be written', async () => {
    await cloneBoard(house, 'both', 'acme');
    const { data: base, digest } = await read('both');
    await replace('both', (data) => ({ ...rename('Metric revenue', 'Revenue')(data), metadata: { by: 'them' } }));
    const renamed = rename('Metric revenue', 'Turnover')(base) as Data;
    const content = { ...renamed, gridMargin: [3, 3] };
    const stale = { dashboardId: 'both', workspaceName, content, expectedDigest: digest };
    await refused('replaceDashboardContent DASHBOARD_CHANGED', house, stale);
    const first = await merge('both', { base, content });
    expect(first.conflicts).toMatchObject([
      { kind: 'changed-by-both', base: 'Metric revenue', given: 'Turnover', current: 'Revenue' },
    ]);
    expect(first.changes.given.map(({ text }) => text)).toEqual([
      'Metric "Metric revenue" is now called "Turnover".',
      "The dashboard's grid margin changed.",
    ]);
    expect(first.changes.current.map(({ text }) => text)).toEqual([
      'Metric "Metric revenue" is now called "Revenue".',
      "The dashboard's metadata changed.",
    ]);
    const [conflict] = first.conflicts;
    const chosen = await merge('both', { base, content, choices: { [conflict?.path ?? '']: 'current' } });
    expect(chosen.conflicts).toEqual([]);
    await ok(house, 'replaceDashboardContent', { ...stale, content: chosen.data, expectedDigest: chosen.digest });
    const written = (await read('both')).data;
    expect(written).toEqual({ ...chosen.data, tiles: undefined });
    expect(written).toMatchObject({ gridMargin: [3, 3], metadata: { by: 'them' } });
    expect(written.metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(['Revenue']));
  });

  test('merging contents is refused with each declared error', async () => {
    const { data } = await read('board');
    const input = { dashboardId: 'board', workspaceName, base: data, content: data };
    const twice = { ...data, metrics: [...data.metrics, ...data.metrics] };
    const code = 'mergeDashboardContent INVALID_DASHBOARD_DATA';
    expect(await refused(code, house, { ...input, base: twice }, service())).toContain('base: metrics:');
    expect(await refused(code, house, { ...input, content: twice }, service())).toContain('content: metrics:');
    const nowhere = { ...input, dashboardId: 'nowhere' };
    await refused('mergeDashboardContent INVALID_DASHBOARD_ID', house, nowhere, service());
    await refused('mergeDashboardContent WORKSPACE_ID_ERROR', house, { ...input, workspaceName: 'nowhere' }, service());
    await refused('mergeDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('mergeDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: house.otherKey });
    await refused('mergeDashboardContent INVALID_REQUEST_BODY', house, { ...input, choices: { x: 'mine' } }, service());
  });
});

describe('POST /data-app/dashboards/content/propose: a first dashboard from tables', () => {
  const service = () => ({ bearer: house.serviceToken });
  const propose = (parts: object = {}) =>
    ok(house, 'proposeDashboardContent', { datamartName: 'shop', ...parts }, service());

  test('cards stand apart on the grid, the service takes them, and each is answered', async () => {
    const { data } = await propose();
    expect(data.metrics.length).toBeGreaterThan(2);
    const ids = data.metrics.map(({ metricId }) => metricId);
    expect([new Set(ids).size, data.layout.map(({ metricId }) => metricId).toSorted()]).toEqual([
      ids.length,
      ids.toSorted(),
    ]);
    await cloneBoard(house, 'proposed', 'acme');
    const empty = await replace('proposed', () => ({ ...data, filters: [], metrics: [], layout: [] }));
    const content = { dashboardId: 'proposed', workspaceName, content: data, expectedDigest: empty };
    await ok(house, 'replaceDashboardContent', content);
    const tried = await ok(house, 'tryDashboardContent', { dashboardId: 'proposed', workspaceName, content: data });
    expect(tried.data.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
  });

  test('only the tables that were chosen are shown', async () => {
    const { data } = await propose();
    const used = [...new Set(data.metrics.map(({ definition: own }) => ('from' in own ? own.from.tableName : '')))];
    const [table = ''] = used;
    const { data: narrow } = await propose({ tables: [`main.${table}`] });
    expect(narrow.metrics.length).toBeGreaterThan(0);
    const text = JSON.stringify(narrow);
    const names = [...text.matchAll(/"tableName":"(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(names)]).toEqual([table]);
  });

  test('proposing a content is refused with each declared error', async () => {
    const input = { datamartName: 'shop' };
    const code = 'proposeDashboardContent INVALID_DATAMART';
    expect(await refused(code, house, { datamartName: 'nowhere' }, service())).toContain('nowhere');
    expect(await refused(code, house, { ...input, tables: ['main.nothing'] }, service())).toContain('main.nothing');
    await refused('proposeDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('proposeDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: house.otherKey });
    await refused('proposeDashboardContent INVALID_REQUEST_BODY', house, { tables: [] }, service());
  });
});

describe('POST /data-app/dashboards/content/draft: a first dashboard, tried with rows', () => {
  const service = () => ({ bearer: house.serviceToken });
  const draft = () => ok(house, 'draftDashboardContent', { datamartName: 'shop' }, service());

  test('each metric has the rows of the largest client alone, and those that answer nothing are left out', async () => {
    const { data, tenants, answers } = await draft();
    const ids = data.metrics.map(({ metricId }) => metricId);
    expect(answers.map(({ metricid }) => metricid).toSorted()).toEqual(ids.toSorted());
    expect(answers.filter(({ totalRecords }) => totalRecords === 0)).toEqual([]);
    const [largest] = tenants;
    await cloneBoard(house, 'drafted', largest?.clientId ?? '');
    const empty = await replace('drafted', () => ({ ...data, filters: [], metrics: [], layout: [] }));
    const content = { dashboardId: 'drafted', workspaceName, content: data, expectedDigest: empty };
    await ok(house, 'replaceDashboardContent', content);
    const token = await guest(house, largest?.clientId ?? '', { allowedEmbeds: ['drafted'] });
    const copied = await ok(house, 'listEmbedMetrics', { embedId: 'drafted', clientId: largest?.clientId ?? '' });
    for (const { metricid, data: rows } of answers) {
      const name = data.metrics.find(({ metricId }) => metricId === metricid)?.name;
      const metricId = copied.data.find((one) => one.name === name)?.metricId ?? '';
      const answered = await ok(house, 'queryGuestMetric', { metricId, dashboardId: 'drafted' }, { bearer: token });
      expect([name, answered.data]).toEqual([name, rows]);
    }
  });

  test('a draft writes nothing', async () => {
    const before = await ok(house, 'listDashboards', { workspaceName }, service());
    await draft();
    expect(await ok(house, 'listDashboards', { workspaceName }, service())).toEqual(before);
  });

  test('drafting a dashboard is refused with each declared error', async () => {
    const input = { datamartName: 'shop' };
    const code = 'draftDashboardContent INVALID_DATAMART';
    expect(await refused(code, house, { datamartName: 'nowhere' }, service())).toContain('nowhere');
    await refused('draftDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('draftDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: house.otherKey });
    await refused('draftDashboardContent INVALID_REQUEST_BODY', house, {}, service());
  });
});

describe('PUT /data-app/dashboards/content', () => {
  test('ids stay, so embeds, existing tokens and settings that name a metric still work', async () => {
    await openBoard(house, 'kept', 'acme');
    const metricId = await metricOf(house, 'kept', 'acme', 'revenue');
    const token = await guest(house, 'acme', { appFilters: [{ metricId, values: {} }], allowedEmbeds: ['kept'] });
    const before = await revenueOf(house, token, { metricId, dashboardId: 'kept' });
    await replace('kept', (data) => ({
      ...data,
      metrics: data.metrics.map((one) =>
        one.metricId === metricId
          ? {
              ...one,
              name: 'North',
              definition: definition({
                filters: [
                  {
                    name: 'only',
                    label: 'Only',
                    column: columnRef('sales.region'),
                    dataType: 'string',
                    predicate: { kind: 'oneOf', values: ['north'] },
                  },
                ],
              }),
            }
          : one,
      ),
    }));
    expect(before).toBe(200);
    expect(await revenueOf(house, token, { metricId, dashboardId: 'kept' })).toBe(130);
  });

  test('a removed metric is added again under its id, and the export is byte-identical', async () => {
    await openBoard(house, 'back', 'acme', { metadata: { b: 1, a: [{ z: null }] } });
    const before = await exported('back');
    const { data } = await read('back');
    await replace('back', without('Metric by-region'));
    await replace('back', (now) => ({
      ...now,
      gridMargin: [1],
      metrics: [...now.metrics, added('fresh')],
      layout: [...now.layout, { metricId: 'fresh', x: 0, y: 50, w: 3, h: 3 }],
    }));
    const grown = JSON.parse(await exported('back'));
    const fresh = grown.data.metrics.at(-1);
    expect(fresh).toMatchObject({ name: 'Metric fresh', lineage: ['fresh'], placement: 'METRIC' });
    expect(grown.data.layout.at(-1)).toMatchObject({ metricId: fresh.metricId });
    await replace('back', () => data);
    expect(await exported('back')).toBe(before);
    // The copy of the first replacement is used again; no other copy is created.
    await replace('back', (now) => ({ ...now, metrics: [...now.metrics, added('fresh')] }));
    expect(JSON.parse(await exported('back')).data.metrics.at(-1).metricId).toBe(fresh.metricId);
  });

  test('metadata and isAllowPrivateMetricsByDefault: missing fields keep their values, null clears', async () => {
    await openBoard(house, 'meta', 'acme', { metadata: { plan: 'pro' } });
    await replace('meta', ({ metadata: _, isAllowPrivateMetricsByDefault: __, ...data }) => data);
    expect((await read('meta')).data).toMatchObject({
      metadata: { plan: 'pro' },
      isAllowPrivateMetricsByDefault: true,
    });
    await replace('meta', (data) => ({ ...data, metadata: null }));
    expect((await read('meta')).data.metadata).toBeNull();
  });

  test('metrics that a guest archived stay archived, and metrics that guests made stay', async () => {
    await openBoard(house, 'guests', 'acme');
    const metricId = await metricOf(house, 'guests', 'acme', 'revenue');
    const token = await guest(house, 'acme');
    const made = { dashboardId: 'guests', name: 'Mine', definition: { from: definition().from } };
    const { data: own } = await ok(
      house,
      'createGuestMetric',
      {
        ...made,
        definition: {
          ...made.definition,
          chart: { type: 'singleValue' },
          dimensions: [],
          measures: definition().measures,
        },
      },
      { bearer: token },
    );
    await ok(house, 'archiveGuestMetric', { metricId, isArchived: true }, { bearer: token });
    await replace('guests', rename('Metric revenue', 'Renamed'));
    const { data: board } = await ok(house, 'getGuestDashboard', { dashboardId: 'guests' }, { bearer: token });
    const ids = board.metrics.map((one) => one.metricId);
    expect(ids).toContain(own.metricId);
    expect(ids).not.toContain(metricId);
  });

  test('only if the content is the expected one: an edit in between gives DASHBOARD_CHANGED and is kept', async () => {
    await openBoard(house, 'edited', 'acme');
    const metricId = await metricOf(house, 'edited', 'acme', 'revenue');
    const { data, digest } = await read('edited');
    const token = await guest(house, 'acme');
    await ok(house, 'updateGuestMetric', { metricId, name: 'Ours' }, { bearer: token });
    const input = { dashboardId: 'edited', workspaceName, content: data, expectedDigest: digest };
    await refused('replaceDashboardContent DASHBOARD_CHANGED', house, input);
    expect((await read('edited')).data.metrics.map(({ name }) => name)).toContain('Ours');
  });

  test('templates need a service token; a metric in them keeps its id by the id in the original file', async () => {
    const content = { layout: [], filters: [], gridMargin: [], metrics: [added('from-file')] };
    await ok(house, 'importDashboard', { workspaceName, dashboardId: 'tpl', importDashboardData: content });
    const bearer = house.serviceToken;
    const { digest, data } = await read('tpl');
    const input = { dashboardId: 'tpl', workspaceName, content: data, expectedDigest: digest };
    expect(await refused('replaceDashboardContent INVALID_DASHBOARD_ID', house, input)).toMatch(/service token/);
    const changed = { ...content, metrics: [{ ...added('from-file'), name: 'Second edition' }] };
    await replace('tpl', () => changed, { bearer });
    expect((await read('tpl')).data.metrics).toEqual([{ ...data.metrics[0], name: 'Second edition' }]);
  });

  test('INVALID_DASHBOARD_DATA: a missing column, a changed lineage, two metrics for one; nothing is changed', async () => {
    await openBoard(house, 'whole', 'acme');
    const before = await exported('whole');
    const { data, digest } = await read('whole');
    const [first, ...rest] = data.metrics;
    const send = (metrics: readonly unknown[]) =>
      refused('replaceDashboardContent INVALID_DASHBOARD_DATA', house, {
        dashboardId: 'whole',
        workspaceName,
        content: { ...data, metrics },
        expectedDigest: digest,
      });
    const nowhere = { underlying: [columnRef('sales.nowhere')] };
    expect(await send([{ ...first, name: 'Other' }, ...rest, added('odd', nowhere)])).toMatch(/sales.nowhere/);
    expect(await send([{ ...first, lineage: ['elsewhere'] }, ...rest])).toMatch(/lineage/);
    expect(await exported('whole')).toBe(before);
  });

  test('a save is refused for its own faults alone: what broke before can be mended or removed piece by piece', async () => {
    await openBoard(house, 'half-broken', 'acme');
    const gone = { underlying: [columnRef('sales.nowhere')] };
    const selected = { kind: 'sql', chart: { type: 'table' }, dimensions: [{ name: 'amount' }], measures: [] };
    const sql = { ...added('sql'), definition: { ...selected, sql: 'SELECT amount FROM sales' } };
    await replace('half-broken', (data) => ({ ...data, metrics: [...data.metrics, added('a'), added('b'), sql] }));
    const { data: whole } = await read('half-broken');
    const [a, b, c] = ['a', 'b', 'sql'].map((id) => whole.metrics.find(({ name }) => name === `Metric ${id}`));
    // The tables changed below the dashboard, and the datamart was saved all the same.
    await house.stored(async (store) => {
      for (const { metricId } of [a, b, c].flatMap((one) => one ?? [])) {
        const metric = await store.metrics.findById(metricId);
        if (metric === undefined) throw new Error('the metric was written');
        const broken = metric.definition.kind === 'sql' ? { sql: 'SELECT amount FROM gone' } : gone;
        await store.metrics.update({ ...metric, definition: { ...metric.definition, ...broken } as MetricDefinition });
      }
    });
    const mended = (data: Data) => data.metrics.map((one) => (one.metricId === a?.metricId ? { ...one, ...a } : one));
    await replace('half-broken', (data) => ({ ...data, metrics: mended(data) }));
    const { data, digest } = await read('half-broken');
    expect(data.metrics.filter(({ definition }) => JSON.stringify(definition).includes('nowhere'))).toHaveLength(1);
    const content = { ...data, metrics: [...data.metrics, added('new', { limit: 3, ...gone })] };
    const input = { dashboardId: 'half-broken', workspaceName, content, expectedDigest: digest };
    const message = await refused('replaceDashboardContent INVALID_DASHBOARD_DATA', house, input);
    expect(message).toMatch(/datamart "\w+": metrics\["new"\]: [^;]*sales\.nowhere/);
    expect(message).not.toContain(b?.metricId);
    await replace('half-broken', without('Metric b'));
    await replace('half-broken', without('Metric sql'));
    expect((await read('half-broken')).data.metrics.map(({ name }) => name)).toContain('Metric a');
  });

  test("refused for another data app's key, another workspace, no credential, and an invalid digest", async () => {
    await cloneBoard(house, 'theirs', 'acme');
    const { data, digest } = await read('theirs');
    const input = { dashboardId: 'theirs', workspaceName, content: data, expectedDigest: digest };
    const bearer = house.otherKey;
    await refused('replaceDashboardContent INVALID_DASHBOARD_ID', house, input, { bearer });
    await refused('replaceDashboardContent WORKSPACE_ID_ERROR', house, { ...input, workspaceName: 'nowhere' });
    await refused('replaceDashboardContent AUTHENTICATION_ERROR', house, input, { bearer: await mint(house, 'acme') });
    await refused('replaceDashboardContent INVALID_REQUEST_BODY', house, { ...input, expectedDigest: 'x' });
  });

  test("another client's metric id is treated as unknown: the metric is created as a copy, with nothing of the other", async () => {
    await cloneBoard(house, 'victim', 'globex');
    // A name that no other test's dashboard has.
    await replace('victim', rename('Metric revenue', 'Of globex alone'));
    await replace('victim', without('Of globex alone'));
    await cloneBoard(house, 'thief', 'acme');
    const all = (await call(house, 'listMetrics', { workspaceName })).text;
    const left = JSON.parse(all).data.find(({ name }: { name: string }) => name === 'Of globex alone') as {
      metricId: string;
    };
    expect(left).toBeDefined();
    await replace('thief', (data) => ({ ...data, metrics: [...data.metrics, added(left.metricId)] }));
    const last = (await read('thief')).data.metrics.at(-1);
    expect(last?.metricId).not.toBe(left.metricId);
    expect(last?.lineage).toEqual([left.metricId]);
  });
});

test('a token whose rlsSettings name a template is refused on a copy that does not have the variable yet', async () => {
  await cloneBoard(house, 'older', 'acme', { accessSettings: openSettings });
  const metricId = await metricOf(house, 'older', 'acme', 'by-region');
  const rlsVariables = [{ name: 'region', column: columnRef('sales.region'), isOptional: false }];
  const guard = (data: Data): object => ({
    ...data,
    metrics: data.metrics.map((one) =>
      one.name === 'Metric by-region' ? { ...one, definition: { ...one.definition, rlsVariables } } : one,
    ),
  });
  await replace('board', guard, { bearer: house.serviceToken });
  const rlsSettings = [{ metricId: 'by-region', values: { region: 'north' } }];
  const token = await guest(house, 'acme', { rlsSettings, allowedEmbeds: ['older'] });
  const question = { metricId, dashboardId: 'older' };
  const message = await refused('queryGuestMetric RLS_SETTINGS_PARAM_ERROR', house, question, { bearer: token });
  expect(message).toBe("This chart can't be shown. Ask your administrator.");
  await replace('older', guard);
  expect(await revenueOf(house, token, question)).toBe(130);
});

describe('tiles', () => {
  const heading = { tileId: 'h', kind: 'heading', text: 'Sales', x: 0, y: 100, w: 12, h: 1 };

  test('a guest reads those of the dashboard that its token opens, and no other', async () => {
    await cloneBoard(house, 'tiled', 'acme');
    await cloneBoard(house, 'tiled-too', 'globex');
    await replace('tiled', (data) => ({ ...data, tiles: [heading] }));
    await replace('tiled-too', (data) => ({ ...data, tiles: [{ ...heading, text: 'Secret' }] }));
    const bearer = await mint(house, 'acme', {});
    const { data } = await ok(house, 'getGuestDashboard', { dashboardId: 'tiled' }, { bearer });
    expect(data.tiles).toEqual([heading]);
    const other = await call(house, 'getGuestDashboard', { dashboardId: 'tiled-too' }, { bearer });
    expect(other.status).toBe(403);
    expect(other.text).not.toContain('Secret');
  });

  test('a client that does not know them keeps them, and an empty list removes them', async () => {
    await cloneBoard(house, 'tiles-kept', 'acme');
    const before = await read('tiles-kept');
    await replace('tiles-kept', (data) => ({ ...data, tiles: [heading] }));
    expect(JSON.parse(await exported('tiles-kept')).data.tiles).toEqual([heading]);
    await replace('tiles-kept', ({ tiles: _, ...data }) => data);
    expect((await read('tiles-kept')).data.tiles).toEqual([heading]);
    await replace('tiles-kept', (data) => ({ ...data, tiles: [] }));
    expect(await read('tiles-kept')).toEqual(before);
  });
});
