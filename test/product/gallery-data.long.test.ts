/**
 * The charts of the theme studio: a page of the documentation shows them without a server, from a file of answers. The
 * file is what the service answers. `npm run test:long -- test/product/gallery-data.long.test.ts -u` writes it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestDashboard } from '../../src/model/guest/view.js';
import { operations } from '../../src/service/operations.js';
import { chartsDashboard } from './chart-metrics.js';
import { get, post } from './guest.js';
import { type Product, startProduct } from './product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const dashboardId = 'charts--LAX';

const makeToken = async ({ url, credentials: { demoApiKey } }: Product): Promise<string> => {
  const accessSettings = { ...operations.createDashboardEmbed.example?.input.accessSettings, datamartName: 'flights' };
  const embed = { dashboardId, workspaceName: 'flights', clientId: 'LAX', accessSettings };
  const board = { ...embed, importDashboardData: chartsDashboard };
  const made = await post<{ id: string }>(`${url}/api/v2/data-app/dashboard-embeds`, board, demoApiKey);
  const asked = { clientId: 'LAX', dataAppName: 'flights', params: { allowedEmbeds: [made.body.id], timezone: 'UTC' } };
  return (await post<{ token: string }>(`${url}/api/v2/guest-token/create`, asked, demoApiKey)).body.token;
};

/** `singleValue` as `Single value`. */
const titleOf = (name: string): string => {
  const words = name.replace('The ', '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

type Part = { readonly metricId: string; readonly answer: Readonly<Record<string, unknown>> };

test('the theme studio shows what the service answers for a chart of each type', async () => {
  const token = await makeToken(product);
  const path = `${product.url}/api/v2/guest/dashboards/${dashboardId}`;
  const { data } = (await get<{ data: GuestDashboard }>(path, token)).body;
  const asked = { metrics: data.metrics.map(({ metricId }) => ({ metricId })) };
  const { text } = await post(`${path}/query`, asked, token);
  const parts = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Part);
  const answers = Object.fromEntries(parts.map(({ metricId, answer }) => [metricId, { ...answer, timeTaken: 0 }]));
  // A choice in one chart asks for other answers of the others, which the file does not have.
  const metrics = data.metrics.map((metric) => ({
    ...metric,
    name: titleOf(metric.name),
    chart: { ...metric.chart, crossFilters: {} },
  }));
  const lines = [{ ...data, name: 'Charts', metrics }, ...metrics.map(({ metricId }) => answers[metricId])];
  expect(lines).not.toContain(undefined);
  // Ids are made anew at each import.
  const stable = metrics.reduce(
    (whole, { metricId, chart: { type } }) => whole.replaceAll(metricId, type),
    `[${lines.map((line) => JSON.stringify(line)).join(',\n')}]\n`,
  );
  await expect(stable).toMatchFileSnapshot('../../src/web/docs/gallery-data.json');
});
