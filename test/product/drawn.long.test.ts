/** Files of the built product hold what the cards show: filters of the dashboard, and marks of other cards. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import readXlsx from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { hasOffice, sheetsByOffice } from '../suites/office.js';
import { makeBoards, mintFor } from './card-board.js';
import { ask, login, manager, openDashboard } from './guest.js';
import { type Product, startProduct } from './product.js';

const run = promisify(execFile);
const hasPoppler = await run('pdftotext', ['-v']).then(
  () => true,
  () => false,
);
/** `TEST_SCREENSHOTS=folder` keeps pictures there, to be looked at. */
const screenshots = process.env.TEST_SCREENSHOTS;

const dashboardId = 'cards--LAX';

describe.skipIf(!hasChromium())('files of the product', { timeout: 120_000 }, () => {
  let product: Product;
  let token = '';
  let folder = '';
  /** Ids of the metrics by name. */
  const ids: Record<string, string> = {};
  let crossFilter: readonly object[] = [];

  beforeAll(async () => {
    [product, folder] = await Promise.all([startProduct(), mkdtemp(join(tmpdir(), 'guestlist-drawn-'))]);
    await makeBoards(product);
    token = await mintFor(product, { isEnableDownloadMetrics: true });
    const { metrics } = await openDashboard(product, token, dashboardId);
    for (const { name, metricId } of metrics) ids[name] = metricId;
    crossFilter = [
      { metricId: ids.States, columnName: 'State', value: 'CA' },
      { metricId: ids.Months, columnName: 'Month', from: '2001-01-01T00:00:00', to: '2001-02-01T00:00:00' },
    ];
  }, 120_000);
  afterAll(async () => {
    await product.stop();
    await product.remove();
    await rm(folder, { recursive: true });
  });

  const answerTo = (path: string, body: object) =>
    fetch(`${product.url}/api/v2/guest/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const fileOf = async (path: string, body: object): Promise<Buffer> => {
    const answer = await answerTo(path, body);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${bytes.toString()}`);
    return bytes;
  };
  const textOfPdf = async (bytes: Buffer, name: string): Promise<string> => {
    const file = join(screenshots ?? folder, `${name}.pdf`);
    await writeFile(file, bytes);
    if (screenshots !== undefined) await run('pdftoppm', ['-r', '60', '-png', file, join(screenshots, name)]);
    const { stdout } = await run('pdftotext', ['-layout', file, '-']);
    return stdout.replaceAll(/\s+/g, ' ');
  };

  test.runIf(hasPoppler)('a drawn dashboard states the marks, and its cards are filtered by them', async () => {
    const marks = crossFilter.slice(0, 1);
    const { data } = await ask(product, token, dashboardId, 'Months', { crossFilter: marks });
    expect(new Set(data.map(({ State }) => State))).toEqual(new Set(['CA']));
    const pdf = await fileOf(`dashboards/${dashboardId}/pdf`, { crossFilter: marks });
    const text = await textOfPdf(pdf, 'dashboard');
    expect(text).toContain('State: CA');
    expect(text).toContain('Not filtered by State: CA');
    // The marked card keeps all states; after it, no other state is named.
    const [, after = ''] = text.split('January 2001');
    expect(after).toContain('CA');
    expect(after).not.toMatch(/\b(?:NV|AZ|HI)\b/);
  });

  test.runIf(hasPoppler)('a drawn metric of a dashboard holds and states filters and marks', async () => {
    const options = await fetch(
      `${product.url}/api/v2/guest/dashboards/${dashboardId}/filters/Airport/options?search=San%20Francisco`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    const { data } = (await options.json()) as { data: { value: string }[] };
    const airport = data[0]?.value ?? '';
    // The filter's name in another spelling means the same filter.
    const asked = { dashboardId, crossFilter, dashboardFilter: { airport: [airport] } };
    const text = await textOfPdf(await fileOf(`metrics/${ids.Months}/pdf`, asked), 'metric');
    expect(text).toContain(airport);
    expect(text).toContain('State: CA');
    // Its own marks do not filter it, so they are not stated.
    expect(text).not.toMatch(/Bars|Month: /);
    const shown = { ...asked, dashboardFilter: { Airport: [airport] } };
    const answer = await ask(product, token, dashboardId, 'Months', shown);
    for (const { Flights } of answer.data) expect(text).toContain(Number(Flights).toLocaleString('en-US'));
    const png = await fileOf(`metrics/${ids.Months}/png`, asked);
    if (screenshots !== undefined) await writeFile(join(screenshots, 'metric.png'), png);
  });

  test.each([
    [{ dashboardFilter: { Colour: ['red'] } }, 400],
    [{ dashboardFilter: { Airport: { min: 1 } } }, 400],
    [{ mark: 'Flights' }, 400],
    [{ mark: 'State', of: 'another' }, 403],
  ])('a choice that the drawing could not hold is refused: %j', async (asked, status) => {
    const { mark: columnName, of } = asked as { readonly mark?: string; readonly of?: string };
    const marks = [{ metricId: of ?? ids.States, columnName, value: 'CA' }];
    const choices = columnName === undefined ? asked : { crossFilter: marks };
    expect((await answerTo(`dashboards/${dashboardId}/pdf`, choices)).status).toBe(status);
    expect((await answerTo(`metrics/${ids.Days}/pdf`, { dashboardId, ...choices })).status).toBe(status);
  });

  test('a workbook states the marks of the cards', async () => {
    const asked = { crossFilter, metrics: [{ metricId: ids.Days }, { metricId: ids.Total }] };
    const file = await fileOf(`dashboards/${dashboardId}/xlsx`, asked);
    const [about, days] = await readXlsx(file);
    const text = JSON.stringify(about?.data);
    expect(text).toContain('2001-01 to 2001-02');
    expect(text).not.toContain('"CA"');
    const { data } = await ask(product, token, dashboardId, 'Days', { crossFilter });
    expect(days?.data.length).toBe(data.length + 1);
  });

  test.runIf(hasPoppler)('each row of a drawn table is in its PDF, as the answer has it', async () => {
    const text = await textOfPdf(await fileOf(`metrics/${ids.States}/pdf`, { dashboardId }), 'table');
    const { data } = await ask(product, token, dashboardId, 'States');
    expect(data.length).toBeGreaterThan(10);
    const shown = (value: number, digits: number) =>
      value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const lines = data.map(({ State, Flights, 'Average delay': delay }) =>
      [State, shown(Number(Flights), 0), shown(Number(delay), Math.abs(Number(delay)) < 1 ? 2 : 1)].join(' '),
    );
    const places = lines.map((line) => text.indexOf(line));
    expect(lines.filter((_, index) => places[index] === -1)).toEqual([]);
    expect(places).toEqual(places.toSorted((a, b) => Number(a) - Number(b)));
  });

  test.skipIf(!hasOffice())(
    'LibreOffice reads in a workbook what the cards answer: text, numbers and dates',
    async () => {
      const timezone = 'America/Los_Angeles';
      const there = await mintFor(product, { isEnableDownloadMetrics: true }, { timezone });
      const names = ['States', 'Months', 'Days', 'Total'];
      const answer = await fetch(`${product.url}/api/v2/guest/dashboards/${dashboardId}/xlsx`, {
        method: 'POST',
        headers: { authorization: `Bearer ${there}`, 'content-type': 'application/json' },
        body: JSON.stringify({ metrics: names.map((name) => ({ metricId: ids[name] })) }),
      });
      expect(answer.status).toBe(200);
      const sheets = await sheetsByOffice(new Uint8Array(await answer.arrayBuffer()));
      expect(sheets.get('About')?.join('\n')).toContain(`"Time zone","${timezone}"`);
      for (const name of names) {
        const { data, metaData } = await ask(product, there, dashboardId, name);
        const [titles, ...lines] = sheets.get(name) ?? [];
        expect(titles).toBe(metaData.columns.map((column) => JSON.stringify(column.name)).join(','));
        // LibreOffice shows fifteen digits. Text is in quotes, and a date is not.
        const cell = (value: unknown) => {
          if (typeof value === 'number') return Number(value.toPrecision(15));
          return /^\d{4}-\d\d-\d\d$/.test(String(value)) ? value : JSON.stringify(value);
        };
        const isNumber = (text: string) => /^-?[\d.]+(?:E[+-]\d+)?$/.test(text);
        // It shows a month by its first day.
        const plain = (text: string) => text.replace(/^(\d\d)\/(\d\d)\/(\d{4})$/, '$3-$1-$2');
        const read = lines.map((line) => line.split(',').map((text) => (isNumber(text) ? Number(text) : plain(text))));
        expect(read).toEqual(data.map((row) => metaData.columns.map((column) => cell(row[column.name]))));
      }
    },
  );

  test('more drawings at once than a client may have are refused with 429 and a time to try again', async () => {
    const asked = Array.from({ length: 8 }, () => answerTo(`dashboards/${dashboardId}/pdf`, {}));
    const answers = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const answer of refused) {
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await answer.json()).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    }
  });

  test('a dashboard whose charts are taller than their cards is one picture', async () => {
    const { token: own } = await login(product, manager('LAX'));
    const answer = await fetch(`${product.url}/api/v2/guest/dashboards/delays--LAX/png`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, bytes.subarray(1, 4).toString()]).toEqual([200, 'PNG']);
    if (screenshots !== undefined) await writeFile(join(screenshots, 'dashboard.png'), bytes);
  });
});
