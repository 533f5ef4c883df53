/** Colours that the author pinned to values: guests get those of their own rows only. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { colourAnswer } from '../../src/model/query/answer-columns.js';
import { getGuestDashboard, queryGuestMetric } from '../../src/service/guest/reads.js';
import { encodeReply } from '../../src/service/metrics/contract.js';
import { columnRef, metric, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

/** `a` has sales in all three states, `b` in CA only. Nobody has any in TX. */
const colours = ['CA', 'NV', 'TX'].map((value, at) => ({ name: 'State', value, colour: `#00000${at}` }));
const byState = metric('sales', {
  chart: { type: 'pie', colours },
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
});

let world: World;
const metricIds: Record<string, string> = {};

beforeAll(async () => {
  world = await createWorld();
  await world.template('board', {}, byState);
  for (const client of ['a', 'b']) metricIds[client] = await world.clone('board', `of-${client}`, client);
});
afterAll(() => world.close());

const guest = (client: string) => world.mint({}, { clientId: client });
const pinsOf = async (client: string) => {
  const query = { metricId: metricIds[client] ?? '', dashboardId: `of-${client}` };
  const reply = await queryGuestMetric(world.deps)(await guest(client), query, stays);
  return encodeReply(reply).metaData.columns[0]?.valueColours;
};

test('an answer has the colours of values in its rows, and names no other value', async () => {
  expect(await pinsOf('a')).toEqual([
    { value: 'CA', colour: '#000000' },
    { value: 'NV', colour: '#000001' },
  ]);
  expect(await pinsOf('b')).toEqual([{ value: 'CA', colour: '#000000' }]);
});

test('a dashboard as a guest sees it has no pinned values', async () => {
  const [shown] = (await getGuestDashboard(world.deps)(await guest('b'), { dashboardId: 'of-b' })).metrics;
  expect(shown?.chart).not.toHaveProperty('colours');
  expect(JSON.stringify(shown)).not.toMatch(/TX|NV/);
});

test('a pin is of the value itself: NULL, an empty text and “(none)” are three', () => {
  const answer = {
    columns: [{ name: 'State', dataType: 'string' }],
    rows: [{ State: null }, { State: '(none)' }],
    groupbyColumnList: ['State'],
    totalRecords: 2,
  } as const;
  const all = [null, '', '(none)'].map((value) => ({ name: 'State', value, colour: '#123456' }));
  expect(colourAnswer(answer, { colours: all }).columns[0]?.valueColours?.map(({ value }) => value)).toEqual([
    null,
    '(none)',
  ]);
  expect(colourAnswer(answer, {})).toBe(answer);
});
