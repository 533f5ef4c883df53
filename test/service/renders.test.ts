/** A drawing is for whoever may open and download its target, with the caller's own grant. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { RenderRequest } from '../../src/model/guest/render.js';
import {
  renderGuestDashboardPdf,
  renderGuestDashboardPng,
  renderGuestMetricPdf,
  renderGuestMetricPng,
} from '../../src/service/guest/renders.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import { refusalOf, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

let world: World;
const asked: RenderRequest[] = [];
const ids = { a: '', b: '' };
const renderer = {
  render: async (request: RenderRequest) => {
    asked.push(request);
    return new Uint8Array([1]);
  },
};
const permissions = { isEnableDownloadMetrics: true };

beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  ids.a = await world.clone('board', 'of-a');
  ids.b = await world.clone('board', 'of-b', 'b');
});
afterAll(() => world.close());

type Draw = (caller: GuestCaller, client: 'a' | 'b') => Promise<Uint8Array>;
const deps = () => ({ ...world.deps, renderer });
const ways: Readonly<Record<string, Draw>> = {
  'dashboard pdf': (caller, of) => renderGuestDashboardPdf(deps())(caller, { dashboardId: `of-${of}` }, stays),
  'dashboard png': (caller, of) => renderGuestDashboardPng(deps())(caller, { dashboardId: `of-${of}` }, stays),
  'metric pdf': (caller, of) =>
    renderGuestMetricPdf(deps())(caller, { metricId: ids[of], dashboardId: `of-${of}` }, stays),
  'metric png': (caller, of) =>
    renderGuestMetricPng(deps())(caller, { metricId: ids[of], dashboardId: `of-${of}` }, stays),
};

test.each(Object.entries(ways))('%s: by the grant of its caller', async (name, draw) => {
  asked.length = 0;
  const caller = await world.mint({}, { permissions });
  expect(await draw(caller, 'a')).toEqual(new Uint8Array([1]));
  expect(asked.map((each) => each.caller)).toEqual([caller]);
  expect(asked[0]?.format).toBe(name.slice(-3));
});

test.each(Object.entries(ways))('%s: refused without permission, and of another client', async (_, draw) => {
  asked.length = 0;
  const without = await world.mint({}, { permissions: { isEnableDownloadMetrics: false } });
  expect(await refusalOf(() => draw(without, 'a'))).toMatchObject({
    code: 'UNAUTHORIZED',
    reason: 'permission-missing',
  });
  const caller = await world.mint({}, { permissions });
  expect(await refusalOf(() => draw(caller, 'b'))).toMatchObject({ code: 'UNAUTHORIZED' });
  expect(asked).toEqual([]);
});

test('a drawing gets the filters by their own names, and refuses what it could not hold', async () => {
  const caller = await world.mint({}, { permissions });
  const at = { dashboardId: 'of-a' };
  asked.length = 0;
  await renderGuestDashboardPdf(deps())(caller, { ...at, dashboardFilter: { sTATE: 'CA' } }, stays);
  await renderGuestMetricPng(deps())(caller, { ...at, metricId: ids.a, dashboardFilter: { State: 'CA' } }, stays);
  const filters = { dashboardFilter: { State: 'CA' }, crossFilter: [] };
  expect(asked.map(({ target }) => target)).toEqual([
    { ...at, ...filters },
    { ...at, metricId: ids.a, ...filters },
  ]);
  const unfit = [{ Colour: 'red' }, { State: { min: 1 } }, { State: 'CA', sTATE: 'NV' }];
  for (const dashboardFilter of unfit) {
    const draw = () => renderGuestDashboardPdf(deps())(caller, { ...at, dashboardFilter }, stays);
    expect(await refusalOf(draw)).toMatchObject({ code: 'INVALID_REQUEST_BODY', reason: 'drawn-choices' });
  }
  const hiding = await world.mint({ hideDashboardFilters: ['State'] }, { permissions });
  const hidden = () => renderGuestDashboardPdf(deps())(hiding, { ...at, dashboardFilter: { State: 'CA' } }, stays);
  expect(await refusalOf(hidden)).toMatchObject({ reason: 'drawn-choices' });
  const foreign = [{ metricId: ids.b, columnName: 'State', value: 'CA' }];
  const marked = () => renderGuestDashboardPdf(deps())(caller, { ...at, crossFilter: foreign }, stays);
  expect(await refusalOf(marked)).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('the renderer learns when the token has ended', async () => {
  asked.length = 0;
  await ways['dashboard pdf']?.(await world.mint({}, { permissions }), 'a');
  await asked[0]?.assertStillGood();
  await revokeGuestTokens(world.deps)(world.api(), { clientId: 'a' });
  expect(await refusalOf(() => asked[0]?.assertStillGood())).toMatchObject({ code: 'AUTHENTICATION_ERROR' });
});
