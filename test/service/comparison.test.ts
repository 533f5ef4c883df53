/** The earlier value of a comparison is read under all restrictions of the present one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import { updateEmbed } from '../../src/service/embeds/settings.js';
import { previewGuestMetric } from '../../src/service/guest/preview.js';
import { getGuestDashboard, queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

const day = columnRef('visits.day');
const visits = metric('visits', {
  chart: { type: 'singleValue' },
  measures: [{ name: 'Visits', aggregate: 'COUNT' }],
  filters: [{ name: 'day', label: 'Day', column: day, dataType: 'date' }],
  rlsVariables: [{ name: 'shop', column: columnRef('visits.shop'), isOptional: true }],
  comparison: { column: day, grain: 'month', periods: 1 },
});

let world: World;
let metricId: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board', {}, visits);
  metricId = await world.clone('board', 'one');
  await updateEmbed(world.deps)(world.api(), { embedId: 'one', accessSettings: { isAllowMetricUpdate: true } });
});
afterAll(() => world.close());

const december = { Day: '2023-12-01 - 2023-12-31' };
type Params = Parameters<World['mint']>[0];
const ask = async (params: Params, metricFilter: Record<string, string> = december) => {
  const query = { metricId, dashboardId: 'one', metricFilter };
  const { answer } = await queryGuestMetric(world.deps)(await world.mint(params), query, stays);
  return [answer.rows[0]?.Visits, answer.comparisonValue];
};

describe('the earlier value', () => {
  test('is of the same client, over the whole of the earlier month', async () => {
    // Client b also has a visit on 30 November.
    expect(await ask({})).toEqual([2, 3]);
    expect(await ask({}, { Day: '2023-11-01 - 2023-11-30' })).toEqual([3, 1]);
  });

  test('is named by its distance in time, without the column', async () => {
    const { metrics } = await getGuestDashboard(world.deps)(await world.mint({}), { dashboardId: 'one' });
    expect(metrics[0]?.chart.comparison).toEqual({ grain: 'month', periods: 1 });
  });

  test('is that of the last complete period if no condition bounds the column, and the answer says which', async () => {
    expect(await ask({}, {})).toEqual(await ask({}));
    const query = { metricId, dashboardId: 'one' };
    const { answer } = await queryGuestMetric(world.deps)(await world.mint({}), query, stays);
    expect(answer.comparedFrom).toBe('2023-12-01');
    const bounded = await queryGuestMetric(world.deps)(
      await world.mint({}),
      { ...query, metricFilter: december },
      stays,
    );
    expect(bounded.answer).not.toHaveProperty('comparedFrom');
  });

  test('carries every condition of the token', async () => {
    const California = [{ dashboardId: 'one', values: { State: 'CA' }, isShowOnUrl: true }];
    expect(await ask({ dashboardAppFilters: California })).toEqual([1, 2]);
    expect(await ask({ rlsSettings: [{ metricId, values: { shop: 's2' } }] })).toEqual([1, 1]);
  });

  test('leaves the time that the token enforces as it is: what it keeps from the guest is not counted', async () => {
    const since = (from: string) => ({ appFilters: [{ metricId, values: { Day: `${from} - 2023-12-31` } }] });
    expect(await ask(since('2023-11-15'))).toEqual([2, 2]);
    expect(await ask(since('2023-12-01'))).toEqual([2, 0]);
    // Only the token restricts the time: the last complete period, of what it leaves.
    expect(await ask(since('2023-12-01'), {})).toEqual([2, 0]);
  });

  test('asks the engine the question of the present value, only earlier', async () => {
    const asked: MetricQuestion[] = [];
    const query: Engine['query'] = (question) => {
      asked.push(question);
      return world.deps.engine.query(question);
    };
    const engine = { until: () => ({ ...world.deps.engine, query }) };
    const rlsSettings = [{ metricId, values: { shop: ['s1', 's2'] } }];
    const guest = await world.mint({
      rlsSettings,
      dashboardAppFilters: [{ dashboardId: 'one', values: { State: 'CA' }, isShowOnUrl: true }],
    });
    await queryGuestMetric({ ...world.deps, engine })(
      guest,
      { metricId, dashboardId: 'one', metricFilter: december },
      stays,
    );
    const [now, earlier, course] = asked;
    expect(asked).toHaveLength(3);
    const onDay = ({ column }: MetricQuestion['conditions'][number]) => column.columnName === 'day';
    for (const other of [earlier, course]) {
      expect(other?.conditions.filter((condition) => !onDay(condition))).toEqual(
        now?.conditions.filter((condition) => !onDay(condition)),
      );
      expect(other?.conditions).toHaveLength(3);
      expect([other?.tenant, other?.datamart]).toEqual([now?.tenant, now?.datamart]);
    }
    expect(now?.conditions).toHaveLength(3);
  });

  test('ends a course of the same client, which keeps what the token keeps', async () => {
    const courseOf = async (params: Params, metricFilter: Record<string, string> = december) => {
      const query = { metricId, dashboardId: 'one', metricFilter };
      const { answer } = await queryGuestMetric(world.deps)(await world.mint(params), query, stays);
      return answer.course?.map(({ at, value }) => [at, Number(value)]);
    };
    const [october, november, now] = [
      ['2023-10-01', 1],
      ['2023-11-01', 3],
      ['2023-12-01', 2],
    ];
    expect(await courseOf({})).toEqual([october, november, now]);
    expect(await courseOf({}, {})).toEqual([october, november, now]);
    // Neither the rows of other clients nor those that the token keeps from the guest.
    expect(await courseOf({ rlsSettings: [{ metricId, values: { shop: 's2' } }] })).toEqual([
      ['2023-11-01', 1],
      ['2023-12-01', 1],
    ]);
    const since = { appFilters: [{ metricId, values: { Day: '2023-11-15 - 2023-12-31' } }] };
    expect(await courseOf(since)).toEqual([['2023-11-01', 2], now]);
    // Two months are no one period of the comparison.
    expect(await courseOf({}, { Day: '2023-11-01 - 2023-12-31' })).toBeUndefined();
  });

  test('stands beside a preview, and in the answer for the host', async () => {
    const definition = { measures: [{ name: 'Visits', aggregate: 'COUNT_DISTINCT' as const, column: day }] };
    const previewed = await previewGuestMetric(world.deps)(
      await world.mint({}),
      {
        dashboardId: 'one',
        metricId,
        definition,
        metricFilter: december,
      },
      stays,
    );
    expect(previewed.answer).toMatchObject({ rows: [{ Visits: 2 }], comparisonValue: 3 });
    const question = { embedId: 'one', metricId, clientId: 'a', metricFilter: { ...december, shop: 's1' } };
    const { answer } = await queryMetric(world.deps)(world.api(), question, stays);
    expect(answer).toMatchObject({ rows: [{ Visits: 1 }], comparisonValue: 2 });
  });
});
