/** Names of a dashboard, its metrics and its filters in the reader's language. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getGuestDashboard, getGuestMetric } from '../../src/service/guest/reads.js';
import { createWorld, type World } from './world.js';

let world: World;
let metricId: string;
const translations = {
  de: { board: 'Tafel', one: 'Eins', Sales: 'Verkäufe', State: 'Bundesstaat', Secret: 'Geheimnis' },
  'pt-BR': { Sales: 'Vendas' },
};

beforeAll(async () => {
  world = await createWorld();
  await world.template('board', { metadata: { translations, colour: 'blue' } });
  metricId = await world.clone('board', 'one');
});
afterAll(() => world.close());

const read = async (language?: string, params = {}) => {
  const deps = { ...world.deps, findTheme: () => null };
  return getGuestDashboard(deps)(await world.mint(params), { dashboardId: 'one', language });
};
const namesOf = async (language?: string) => {
  const { name, metrics, filters } = await read(language);
  return [name, ...metrics.map((metric) => metric.name), ...filters.map((filter) => [filter.name, filter.label])];
};

test('a copy shows the names that its template has in the reader’s language; filters keep the name that queries use', async () => {
  expect(await namesOf('de')).toEqual([(await read('de')).name, 'Verkäufe', ['State', 'Bundesstaat']]);
  expect(await namesOf('de-AT')).toEqual(await namesOf('de'));
  expect(await namesOf('DE')).toEqual(await namesOf('de'));
});

test('what has no translation stays as it is written', async () => {
  const written = [(await read()).name, 'Sales', ['State', undefined]];
  for (const language of [undefined, 'fr', 'pt', 'constructor']) expect(await namesOf(language)).toEqual(written);
  expect(await namesOf('pt-BR')).toEqual([written[0], 'Vendas', ['State', undefined]]);
});

test('a guest receives the translations of what it sees, and nothing else of the metadata', async () => {
  const all = JSON.stringify(await read('de'));
  expect(all).not.toMatch(/Geheimnis|Secret|blue|Vendas|translations/);
  const hidden = JSON.stringify(await read('de', { hideDashboardFilters: ['State'] }));
  expect(hidden).not.toContain('Bundesstaat');
  const none = JSON.stringify(
    await read('de', { hideDashboardMetrics: [{ dashboardId: 'one', metricIds: [metricId] }] }),
  );
  expect(none).not.toContain('Verkäufe');
});

test('a metric embed has its name in the reader’s language too', async () => {
  const embedId = await world.embed('board', 'board-count');
  const deps = { ...world.deps, findTheme: () => null };
  const caller = await world.mint();
  expect((await getGuestMetric(deps)(caller, { metricId: embedId, language: 'de' })).name).toBe('Verkäufe');
  expect((await getGuestMetric(deps)(caller, { metricId: embedId })).name).toBe('Sales');
});
