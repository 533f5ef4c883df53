/** Labels of columns and values in the reader's language: only of the guest's own rows, and never sent back. */
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { translateBy } from '../../src/model/dashboard/translations.js';
import type { Workbook } from '../../src/model/guest/download.js';
import type { GuestQuery } from '../../src/model/guest/view.js';
import type { Cell, MetricAnswer } from '../../src/model/query/engine.js';
import { toCsv } from '../../src/service/guest/contract/csv.js';
import { toXlsx } from '../../src/service/guest/contract/xlsx/workbook.js';
import { queryGuestDashboard } from '../../src/service/guest/dashboard-query.js';
import { downloadGuestCsv, downloadGuestDashboardXlsx, downloadGuestXlsx } from '../../src/service/guest/downloads.js';
import { labelAnswer } from '../../src/service/guest/labels.js';
import { listGuestFilterOptions } from '../../src/service/guest/options.js';
import { getGuestDashboard, listGuestUnderlying, queryGuestMetric } from '../../src/service/guest/reads.js';
import { encodeReply } from '../../src/service/metrics/contract.js';
import { columnRef, metric, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

/** `a` has sales in all three states, `b` in CA only. Nobody has any in TX. */
const states = { CA: 'Kalifornien', NV: 'Nevada (Staat)', NY: 'Neu York', TX: 'Kunde Texas' };
const translations = {
  de: { State: 'Bundesstaat', Sales: 'Verkäufe', pieces: 'Stück', values: { State: states, state: states } },
  fr: { State: 'État' },
};
const byState = metric('sales', {
  chart: { type: 'bar', unit: 'pieces', numbers: [{ measure: 'Sales', unit: 'pieces' }] },
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Sales', aggregate: 'COUNT' }],
  underlying: ['shops.state'].map(columnRef),
});

let world: World;
const metricIds: Record<string, string> = {};

beforeAll(async () => {
  world = await createWorld();
  await world.template('board', { metadata: { translations } }, byState);
  for (const client of ['a', 'b']) metricIds[client] = await world.clone('board', `of-${client}`, client);
});
afterAll(() => world.close());

const guest = (client: string) => world.mint({}, { clientId: client });
const ask = async (client: string, query: Partial<GuestQuery> = {}) => {
  const asked = { metricId: metricIds[client] ?? '', dashboardId: `of-${client}`, ...query };
  return queryGuestMetric(world.deps)(await guest(client), asked, stays);
};
const optionsOf = async (client: string, query: { readonly language?: string; readonly search?: string }) =>
  listGuestFilterOptions(world.deps)(
    await guest(client),
    { dashboardId: `of-${client}`, filter: 'State', ...query },
    stays,
  );

test('an answer has the labels of its own rows, and of no other value of the dictionary', async () => {
  const reply = await ask('b', { language: 'de' });
  expect(encodeReply(reply).metaData.columns).toEqual([
    { name: 'State', dataType: 'string', label: 'Bundesstaat', valueLabels: { CA: 'Kalifornien' } },
    { name: 'Sales', dataType: 'number', label: 'Verkäufe', numbers: { unit: 'Stück' } },
  ]);
  expect(reply.answer.rows).toEqual([{ State: 'CA', Sales: 1 }]);
  expect(JSON.stringify(reply)).not.toMatch(/Nevada|Neu York|Texas/);
  const all = (await ask('a', { language: 'de-AT' })).answer.columns[0]?.valueLabels;
  expect(all).toEqual({ CA: 'Kalifornien', NV: 'Nevada (Staat)', NY: 'Neu York' });
});

test('rows, their order and the answer without a translation are those of today', async () => {
  const [plain, english, german] = [
    await ask('a'),
    await ask('a', { language: 'en' }),
    await ask('a', { language: 'de' }),
  ];
  expect(encodeReply(plain).metaData.columns).toEqual([
    { name: 'State', dataType: 'string' },
    { name: 'Sales', dataType: 'number', numbers: { unit: 'pieces' } },
  ]);
  expect(english.answer).toEqual(plain.answer);
  expect(german.answer.rows).toEqual(plain.answer.rows);
  expect((await ask('a')).answer).toEqual(plain.answer);
});

test('the tag of an answer depends on the language only where there are labels', async () => {
  const tagIn = async (language?: string) => (await ask('a', { language })).tag;
  expect(await tagIn('es')).toBe(await tagIn());
  expect(await tagIn('de')).toBe(await tagIn('de-CH'));
  expect(new Set([await tagIn(), await tagIn('de'), await tagIn('fr')]).size).toBe(3);
});

test('a digest of another language does not count as the same answer', async () => {
  const metricId = metricIds.a ?? '';
  const caller = await guest('a');
  const partIn = async (language: string, digest?: string) => {
    const query = { dashboardId: 'of-a', language, metrics: [{ metricId, digest }] };
    for await (const part of await queryGuestDashboard(world.deps)(caller, query, stays)) return part;
  };
  const english = await partIn('en');
  const digest = english !== undefined && 'digest' in english ? english.digest : '';
  expect(await partIn('en', digest)).not.toHaveProperty('reply');
  const german = await partIn('de', digest);
  expect(JSON.stringify(german)).toContain('Kalifornien');
});

test('filters and drills take the stored value; a label finds nothing', async () => {
  const rowsOf = async (value: string) =>
    (await ask('a', { language: 'de', dashboardFilter: { State: [value] } })).answer.rows;
  expect(await rowsOf('CA')).toEqual([{ State: 'CA', Sales: 2 }]);
  expect(await rowsOf('Kalifornien')).toEqual([]);
});

test('options have labels of the guest’s own values, and a search finds them by label or value', async () => {
  expect(await optionsOf('b', { language: 'de' })).toEqual([{ label: 'Kalifornien', value: 'CA' }]);
  expect(await optionsOf('b', {})).toEqual([{ label: 'CA', value: 'CA' }]);
  const found = async (client: string, search: string, language = 'de') =>
    (await optionsOf(client, { language, search })).map(({ value }) => value);
  expect(await found('a', 'kalif')).toEqual(['CA']);
  expect(await found('a', 'N')).toEqual(['CA', 'NV', 'NY']);
  expect(await found('a', 'ny')).toEqual(['NY']);
  expect(await found('a', 'kalif', 'en')).toEqual([]);
  for (const other of ['Nevada', 'Neu York', 'Texas', 'Kunde', 'TX']) expect(await found('b', other)).toEqual([]);
});

test('a search by label finds nothing that the token hides', async () => {
  const dashboardAppFilters = [{ dashboardId: 'of-a', values: { State: ['CA'] }, isShowOnUrl: false }];
  const caller = await world.mint({ dashboardAppFilters });
  const searched = (search: string) =>
    listGuestFilterOptions(world.deps)(caller, { dashboardId: 'of-a', filter: 'State', search, language: 'de' }, stays);
  expect(await searched('kalif')).toEqual([{ label: 'Kalifornien', value: 'CA' }]);
  expect(await searched('Nevada')).toEqual([]);
});

test('the rows behind a metric have labels of their own values', async () => {
  const query = { metricId: metricIds.b ?? '', dashboardId: 'of-b', language: 'de' };
  const { answer } = await listGuestUnderlying(world.deps)(await guest('b'), query, stays);
  expect(answer.columns[0]?.valueLabels).toEqual({ CA: 'Kalifornien' });
  expect(JSON.stringify(answer)).not.toMatch(/Nevada|Neu York|Texas/);
});

const csvOf = async (client: string, language?: string, more: object = {}) => {
  const query = { metricId: metricIds[client] ?? '', dashboardId: `of-${client}`, language, ...more };
  const pieces: string[] = [];
  const caller = await mayDownload(client);
  for await (const piece of toCsv(await downloadGuestCsv(world.deps)(caller, query, stays))) pieces.push(piece);
  return pieces.join('');
};
const mayDownload = (client: string) =>
  world.mint({}, { clientId: client, permissions: { isEnableDownloadMetrics: true } });

test('a file without a language is as stored; with one, it has labels of its own rows', async () => {
  expect(await csvOf('b')).toBe('State,Sales\r\nCA,1\r\n');
  expect(await csvOf('b', 'en')).toBe(await csvOf('b'));
  expect(await csvOf('b', 'de')).toBe('Bundesstaat,Verkäufe\r\nKalifornien,1\r\n');
  expect((await csvOf('a', 'de')).split('\r\n').sort()).toEqual(
    ['', ',1', 'Bundesstaat,Verkäufe', 'Kalifornien,2', 'Nevada (Staat),1', 'Neu York,1'].sort(),
  );
});

const chunksOf = async (workbook: Workbook): Promise<string> => {
  const chunks: Uint8Array[] = [];
  const failure = (error: unknown) => {
    throw error;
  };
  for await (const chunk of toXlsx(workbook, failure)) chunks.push(chunk);
  return Object.values(unzipSync(Buffer.concat(chunks)))
    .map((part) => Buffer.from(part).toString())
    .join('\n');
};

test('a workbook has labels of its own rows, and states filters with their stored values', async () => {
  const caller = await mayDownload('b');
  const asked = {
    dashboardId: 'of-b',
    dashboardFilter: { State: ['CA', 'TX'] },
    language: 'de',
    metrics: [{ metricId: metricIds.b ?? '' }],
  };
  const whole = await chunksOf(await downloadGuestDashboardXlsx(world.deps)(caller, asked, stays));
  const { metrics: _, ...query } = { ...asked, metricId: metricIds.b ?? '' };
  const one = await chunksOf(await downloadGuestXlsx(world.deps)(caller, query, stays));
  for (const text of [whole, one]) {
    expect(text).toContain('Kalifornien');
    expect(text).toContain('Bundesstaat');
    expect(text).toContain('CA, TX');
    expect(text).not.toMatch(/Nevada|Neu York|Texas/);
  }
});

test('units are translated with the metric; the dashboard has no label of a value', async () => {
  const deps = { ...world.deps, findTheme: () => null };
  const view = await getGuestDashboard(deps)(await guest('a'), { dashboardId: 'of-a', language: 'de' });
  expect(view.metrics[0]?.chart).toMatchObject({
    unit: 'Stück',
    numbers: [{ measure: 'Sales', unit: 'Stück' }],
    dimensions: ['State'],
    measures: ['Sales'],
  });
  expect(JSON.stringify(view)).not.toMatch(/Kalifornien|Nevada|Neu York|Texas/);
});

const text = fc.oneof(fc.constantFrom('A', 'B', 'C', '__proto__', 'constructor', ''), fc.string({ maxLength: 3 }));
const cell: fc.Arbitrary<Cell> = fc.oneof({ weight: 4, arbitrary: text }, fc.constant(null));

test('for any rows and dictionary: labels are of values in the rows, no two values look the same, rows stay', () => {
  fc.assert(
    fc.property(fc.array(cell), fc.array(fc.tuple(text, text)), (cells, pairs) => {
      const labels = Object.fromEntries(pairs);
      const translation = translateBy([{ translations: { de: { values: { C: labels } } } }], 'de');
      const columns = [
        { name: 'C', dataType: 'string' as const },
        { name: 'D', dataType: 'string' as const },
      ];
      const rows = cells.map((value) => ({ C: value, D: value }));
      const answer: MetricAnswer = { rows, columns, groupbyColumnList: ['C', 'D'], totalRecords: rows.length };
      const labelled = labelAnswer(answer, translation);
      expect(labelled.rows).toEqual(rows);
      expect(labelled.columns[1]).toEqual(columns[1]);
      const given = Object.entries(labelled.columns[0]?.valueLabels ?? {});
      for (const [stored, label] of given) {
        expect(cells).toContain(stored);
        expect(label).toBe(labels[stored]);
      }
      const shownAs = new Map(given);
      const texts = [...new Set(cells)].filter((value) => typeof value === 'string');
      expect(new Set(texts.map((value) => shownAs.get(value) ?? value)).size).toBe(texts.length);
    }),
  );
});
