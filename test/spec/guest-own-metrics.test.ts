/** The metrics that a guest may change: the list, definitions with a digest, and publishing. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type NewGuestDefinition, newDefinition } from '../../src/model/guest/metric.js';
import { metricDigest } from '../../src/service/guest/own-metrics.js';
import { viewMetric } from '../../src/service/guest/reads.js';
import { columnRef } from '../engine/world.js';
import { boardOf, create, everything, guest, hideSome, openBoard, revenueBy } from './guests.js';
import { call, type House, metricOf, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let acme: string;
let ann: string;
let bob: string;
let globex: string;

beforeAll(async () => {
  house = await openHouse();
  await hideSome(house);
  await openBoard(house, 'own-board', 'acme');
  acme = await guest(house, 'acme');
  ann = await guest(house, 'acme', { userIdentifier: 'ann' });
  bob = await guest(house, 'acme', { userIdentifier: 'bob' });
  globex = await guest(house, 'globex');
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const listed = async (bearer: string) =>
  (await ok(house, 'listGuestMetrics', { dashboardId: 'own-board' }, { bearer })).data;
const idsOf = async (bearer: string) => (await listed(bearer)).map(({ metricId }) => metricId);
const read = async (bearer: string, metricId: string) =>
  (await ok(house, 'getGuestMetricDefinition', { metricId }, { bearer })).data;

describe('GET /api/v2/guest/dashboards/{dashboardId}/metrics', () => {
  test('a guest is told of the metrics that it may change, and of archived ones if it may restore them', async () => {
    const [common, mine] = [
      await create(house, acme, 'own-board', 'Common'),
      await create(house, ann, 'own-board', 'Mine'),
    ];
    const all = await listed(ann);
    expect(all).toHaveLength(2);
    expect(all).toEqual(
      expect.arrayContaining([
        { metricId: common, name: 'Common', isArchived: false, isPrivate: false, canPublish: false },
        { metricId: mine, name: 'Mine', isArchived: false, isPrivate: true, canPublish: true },
      ]),
    );
    for (const bearer of [acme, bob]) expect(await idsOf(bearer)).toEqual([common]);
    await ok(house, 'archiveGuestMetric', { metricId: mine }, { bearer: ann });
    expect((await listed(ann)).find(({ metricId }) => metricId === mine)?.isArchived).toBe(true);
    const archiving = await guest(
      house,
      'acme',
      { userIdentifier: 'ann' },
      { ...everything, isEnableManageMetrics: false },
    );
    expect(await idsOf(archiving)).toEqual([common]);
    const none = { isEnableManageMetrics: false, isEnableArchiveMetrics: false, isEnableMetricUpdation: false };
    const reader = await guest(house, 'acme', { userIdentifier: 'ann' }, { ...everything, ...none });
    await refused('listGuestMetrics UNAUTHORIZED', house, { dashboardId: 'own-board' }, { bearer: reader });
    await refused('listGuestMetrics UNAUTHORIZED', house, { dashboardId: 'own-board' }, { bearer: globex });
  });

  test('a metric that another user published is seen, and is not listed as one to change', async () => {
    const metricId = await create(house, ann, 'own-board', 'Published');
    await ok(house, 'publishGuestMetric', { metricId, isPublished: true }, { bearer: ann });
    expect(await idsOf(ann)).toContain(metricId);
    expect(await idsOf(bob)).not.toContain(metricId);
  });

  test('a metric that the token hides is not listed', async () => {
    const hidden = await create(house, acme, 'own-board', 'Hidden');
    const hideDashboardMetrics = [{ dashboardId: 'own-board', metricIds: [hidden] }];
    const hiding = await guest(house, 'acme', { hideDashboardMetrics });
    expect(await idsOf(acme)).toContain(hidden);
    expect(await idsOf(hiding)).not.toContain(hidden);
  });
});

describe('GET /api/v2/guest/metrics/{metricId}/definition', () => {
  test('what was read can be sent back; a digest of an earlier version is 409, and changes nothing', async () => {
    const metricId = await create(house, ann, 'own-board', 'Versions');
    const first = await read(ann, metricId);
    expect(first.definition).toMatchObject(revenueBy());
    const { definition, digest } = first;
    await ok(house, 'updateGuestMetric', { metricId, definition, digest }, { bearer: ann });
    expect((await read(ann, metricId)).digest).toBe(digest);
    await ok(house, 'updateGuestMetric', { metricId, name: 'Later', digest }, { bearer: ann });
    const stale = { metricId, name: 'Lost', digest };
    expect(await refused('updateGuestMetric METRIC_CHANGED', house, stale, { bearer: ann })).toContain('Read');
    expect((await read(ann, metricId)).name).toBe('Later');
  });

  test('of two changes that are sent at once with the same digest, one is 409', async () => {
    const metricId = await create(house, ann, 'own-board', 'Changed at once');
    const { digest } = await read(ann, metricId);
    const change = (name: string) => call(house, 'updateGuestMetric', { metricId, name, digest }, { bearer: ann });
    const statuses = (await Promise.all(['One', 'Other'].map(change))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409]);
  });

  test('with a digest the definition is whole: missing parts are empty', async () => {
    const metricId = await create(house, ann, 'own-board', 'Whole');
    await ok(house, 'updateGuestMetric', { metricId, definition: { limit: 3 } }, { bearer: ann });
    const { definition, digest } = await read(ann, metricId);
    expect(definition.limit).toBe(3);
    await refused(
      'updateGuestMetric INVALID_REQUEST_BODY',
      house,
      { metricId, definition: { limit: 4 }, digest },
      { bearer: ann },
    );
    const { limit: _, ...others } = definition;
    await ok(house, 'updateGuestMetric', { metricId, definition: others, digest }, { bearer: ann });
    expect((await read(ann, metricId)).definition.limit).toBeNull();
  });

  test('of two simultaneous writes with one digest, exactly one succeeds', async () => {
    const metricId = await create(house, acme, 'own-board', 'Both');
    const { digest } = await read(acme, metricId);
    const both = await Promise.all(
      ['One', 'Two'].map((name) => call(house, 'updateGuestMetric', { metricId, name, digest }, { bearer: acme })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test('a definition that names a hidden column is refused, and the refusal does not name it', async () => {
    const metricId = await create(house, ann, 'own-board', 'Hiding');
    const { chart, from, measures } = (await read(ann, metricId)).definition;
    const dimensions = [{ name: 'By', column: { schemaName: 'main', tableName: 'clients', columnName: 'name' } }];
    const definition = newDefinition({ chart, from, measures, dimensions } as NewGuestDefinition);
    await house.stored((store) => store.guestMetrics.change(metricId, { definition }));
    const message = await refused('getGuestMetricDefinition METRIC_QUERY_ERROR', house, { metricId }, { bearer: ann });
    expect(message).not.toContain('name');
  });

  test('neither a metric of the host nor one of another user or client is read', async () => {
    const revenue = await metricOf(house, 'own-board', 'acme', 'revenue');
    const mine = await create(house, ann, 'own-board', 'Secret');
    await ok(house, 'publishGuestMetric', { metricId: mine, isPublished: true }, { bearer: ann });
    for (const [bearer, metricId] of [
      [ann, revenue],
      [bob, mine],
      [globex, mine],
    ] as const)
      await refused('getGuestMetricDefinition UNAUTHORIZED', house, { metricId }, { bearer });
  });
});

describe('values that a user chose in a metric', () => {
  const chosen = {
    name: 'n',
    label: 'N',
    column: columnRef('sales.region'),
    dataType: 'string',
    defaultValue: 'north',
  };
  const restricted = { dashboardAppFilters: [{ dashboardId: 'own-board', values: { Region: 'west' } }] };
  const shownTo = async (bearer: string, metricId: string) =>
    (await boardOf(house, bearer, 'own-board')).metrics.find((metric) => metric.metricId === metricId)?.filters;

  test('are shown to the maker and to users who see all rows of the client, and to nobody else', async () => {
    const definition = revenueBy(undefined, { filters: [chosen] });
    const metricId = await create(house, ann, 'own-board', 'Chosen', { definition });
    await ok(house, 'publishGuestMetric', { metricId, isPublished: true }, { bearer: ann });
    const ofAnn = await guest(house, 'acme', { userIdentifier: 'ann', ...restricted });
    const ofBob = await guest(house, 'acme', { userIdentifier: 'bob', ...restricted });
    for (const bearer of [ann, bob, ofAnn])
      expect(await shownTo(bearer, metricId)).toMatchObject([{ defaultValue: 'north' }]);
    expect(await shownTo(ofBob, metricId)).toMatchObject([{ name: 'N', defaultValue: null }]);
  });

  test('values that a user chose in a metric without an owner are read back by nobody who sees fewer rows', async () => {
    const definition = revenueBy(undefined, { filters: [chosen] });
    const metricId = await create(house, acme, 'own-board', 'Everybody’s choice', { definition });
    for (const params of [restricted, { userIdentifier: 'bob', ...restricted }]) {
      const bearer = await guest(house, 'acme', params);
      expect(await shownTo(bearer, metricId)).toMatchObject([{ defaultValue: null }]);
      await refused('getGuestMetricDefinition UNAUTHORIZED', house, { metricId }, { bearer });
    }
    expect((await read(ann, metricId)).definition.filters).toMatchObject([{ defaultValue: 'north' }]);
  });

  test('are not told by whether a guessed digest is right, nor is the definition of a metric of the host', async () => {
    const definition = revenueBy(undefined, { filters: [chosen] });
    const metricId = await create(house, acme, 'own-board', 'Guessed', { definition });
    const revenue = await metricOf(house, 'own-board', 'acme', 'revenue');
    const bearer = await guest(house, 'acme', restricted);
    const { digest } = await read(acme, metricId);
    const host = await house.stored((store) => store.metrics.findById(revenue));
    if (host === undefined) throw new Error('no metric of the host');
    const ofHost = metricDigest((text) => createHash('sha256').update(text).digest('hex'), host);
    const answers = [];
    for (const [of, right] of [
      [metricId, digest],
      [revenue, ofHost],
    ] as const)
      for (const guessed of [right, '0'.repeat(64)])
        answers.push(
          await refused(
            'updateGuestMetric UNAUTHORIZED',
            house,
            { metricId: of, name: 'Guessed', digest: guessed },
            { bearer },
          ),
        );
    expect(new Set(answers).size).toBe(1);
    expect((await read(acme, metricId)).name).toBe('Guessed');
  });

  const marked = {
    lines: [
      { kind: 'value', value: 98_765 },
      { kind: 'average', measure: 'Revenue' },
    ],
    rules: [{ measure: 'Revenue', operator: '>=', value: 98_765, tone: 'good' }],
    range: { min: 0, max: 98_765 },
  };
  const chartFor = async (bearer: string, metricId: string) =>
    (await boardOf(house, bearer, 'own-board')).metrics.find((metric) => metric.metricId === metricId)?.chart;

  test('are no numbers in a chart for those who may not see them, also in a metric of the host', async () => {
    const metricId = await create(house, ann, 'own-board', 'Marked', {
      definition: revenueBy('sales.region', { chart: { type: 'bar', ...marked } }),
    });
    await ok(house, 'publishGuestMetric', { metricId, isPublished: true }, { bearer: ann });
    const revenue = await metricOf(house, 'own-board', 'acme', 'revenue');
    const change = { metricId: revenue, definition: { chart: { type: 'table', ...marked } } };
    await ok(house, 'updateGuestMetric', change, { bearer: ann });
    const ofAnn = await guest(house, 'acme', { userIdentifier: 'ann', ...restricted });
    const ofBob = await guest(house, 'acme', { userIdentifier: 'bob', ...restricted });
    for (const [bearer, id] of [
      [bob, metricId],
      [ofAnn, metricId],
      [bob, revenue],
    ] as const)
      expect(await chartFor(bearer, id)).toMatchObject(marked);
    for (const [bearer, id] of [
      [ofBob, metricId],
      [ofBob, revenue],
      [ofAnn, revenue],
    ] as const) {
      const chart = await chartFor(bearer, id);
      expect(chart?.lines).toEqual([{ kind: 'average', measure: 'Revenue' }]);
      expect(JSON.stringify(chart)).not.toContain('98765');
    }
    const metric = await house.stored((store) => store.guestMetrics.findById(metricId));
    const host = await house.stored((store) => store.metrics.findById(revenue));
    const grant = {
      columnRules: { hideColumns: [], maskColumns: {} },
      rlsSettings: [],
      appFilters: [],
      dashboardAppFilters: [],
      hideDashboardFilters: [],
    };
    for (const one of [metric, host]) {
      expect(JSON.stringify(viewMetric(grant as never, one as never, false).chart)).toContain('98765');
      expect(JSON.stringify(viewMetric(grant as never, one as never, true).chart)).not.toContain('98765');
    }
  });

  test('are in no view of a person without access to data', async () => {
    const definition = revenueBy(undefined, { filters: [chosen] });
    const metricId = await create(house, acme, 'own-board', 'Looked at', { definition });
    const metric = await house.stored((store) => store.guestMetrics.findById(metricId));
    if (metric === undefined) throw new Error('the metric is not stored');
    const grant = {
      columnRules: { hideColumns: [], maskColumns: {} },
      rlsSettings: [],
      appFilters: [],
      dashboardAppFilters: [],
      hideDashboardFilters: [],
    };
    const shown = (isBlind: boolean) => viewMetric(grant as never, metric, isBlind).filters;
    expect(shown(false)).toMatchObject([{ defaultValue: 'north' }]);
    expect(shown(true)).toMatchObject([{ defaultValue: null }]);
  });
});

describe('PUT /api/v2/guest/metrics/{metricId}/publish', () => {
  test('the maker shows a private metric to all users of the client, and hides it again', async () => {
    const metricId = await create(house, ann, 'own-board', 'Shown');
    const sees = async (bearer: string) =>
      (await boardOf(house, bearer, 'own-board')).metrics.some((metric) => metric.metricId === metricId);
    expect(await sees(bob)).toBe(false);
    await refused('publishGuestMetric UNAUTHORIZED', house, { metricId, isPublished: true }, { bearer: bob });
    await ok(house, 'publishGuestMetric', { metricId, isPublished: true }, { bearer: ann });
    expect(await sees(bob)).toBe(true);
    await refused('publishGuestMetric UNAUTHORIZED', house, { metricId, isPublished: false }, { bearer: bob });
    await ok(house, 'publishGuestMetric', { metricId, isPublished: false }, { bearer: ann });
    expect(await sees(bob)).toBe(false);
  });

  test('a metric of no user cannot become private', async () => {
    const metricId = await create(house, acme, 'own-board', 'Everybody’s');
    await refused('publishGuestMetric INVALID_REQUEST_BODY', house, { metricId, isPublished: false }, { bearer: acme });
  });
});
