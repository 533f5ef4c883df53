// The dashboards that `page.mjs` opens, over the demo's flights, and the host's page that shows them.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './server.mjs';

/** The dashboard with a card of each chart type is the tests', in TypeScript. */
const everyChart = async () => {
  const bundled = await rolldown({ input: join(root, 'test/product/chart-metrics.ts'), platform: 'node' });
  const { output } = await bundled.generate({ format: 'esm' });
  await bundled.close();
  const { chartsDashboard } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
  return chartsDashboard;
};

const column = (columnName) => ({ schemaName: 'main', tableName: 'flights', columnName });
const date = (grain) => ({ name: grain, column: column('date'), grain });
const flights = { name: 'Flights', aggregate: 'COUNT' };
const delay = { name: 'Average delay', aggregate: 'AVG', column: column('delay') };

const accessSettings = {
  datamartName: 'flights',
  isAllowEmailReports: false,
  isAllowManageMetrics: false,
  isAllowCreateDashboardView: false,
  isAllowMetricCreation: false,
  isAllowMetricDeletion: false,
  isAllowMetricLayoutChange: false,
  isAllowMetricUpdate: false,
  isAllowUnderlyingData: true,
  metricCreationMode: 'DRAG_DROP',
};

const stateFilter = {
  name: 'State',
  dataType: 'string',
  applyOnTables: [{ schemaName: 'main', tableName: 'airports', columnName: 'state', dataType: 'string' }],
};

const dashboardOf = (metricId, parts) => ({
  layout: [{ metricId, x: 0, y: 0, w: 12, h: 6 }],
  filters: [],
  gridMargin: [],
  metrics: [
    {
      metricId,
      name: `The ${metricId}`,
      lineage: [],
      placement: 'METRIC',
      definition: {
        kind: 'visual',
        from: { schemaName: 'main', tableName: 'flights' },
        underlying: [],
        drillPath: [],
        limit: null,
        sort: [],
        ...parts,
      },
    },
  ],
  version: 2,
});

const dashboards = async () => ({
  charts: { ...(await everyChart()), filters: [stateFilter] },
  rows: dashboardOf('rows', {
    dimensions: [date('minute'), { name: 'To', column: column('destination') }],
    measures: [flights, delay],
    chart: { type: 'table' },
    limit: 10_000,
    sort: [{ name: 'minute', direction: 'ASC' }],
  }),
  points: dashboardOf('points', {
    dimensions: [date('minute')],
    measures: [delay],
    chart: { type: 'line' },
    sort: [{ name: 'minute', direction: 'ASC' }],
  }),
});

const call = async (url, body, key) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const found = await answer.json();
  if (found.error) throw new Error(`${url}: ${JSON.stringify(found.error)}`);
  return found;
};

/** Creates the dashboards for the client LAX and returns a token that may read them. */
export const openDashboards = async (url, { demoApiKey }) => {
  const allowedEmbeds = [];
  for (const [name, importDashboardData] of Object.entries(await dashboards())) {
    const made = await call(
      `${url}/api/v2/data-app/dashboard-embeds`,
      {
        dashboardId: `${name}--LAX`,
        workspaceName: 'flights',
        clientId: 'LAX',
        accessSettings,
        importDashboardData,
      },
      demoApiKey,
    );
    allowedEmbeds.push(made.id);
  }
  const made = await call(
    `${url}/api/v2/guest-token/create`,
    { clientId: 'LAX', dataAppName: 'flights', params: { allowedEmbeds, timezone: 'UTC' }, permissions: {} },
    demoApiKey,
  );
  return made.token;
};

/** `/NAME` is a page with the dashboard of that name; the service has another origin. */
export const startHost = async (service, token) => {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><html lang="en"><head><title>host</title><link rel="icon" href="data:,"><script type="module" src="${service}/elements.js"></script></head><body style="margin:0"><guestlist-dashboard token="${token}" service-url="${service}" dashboard-id="${url.slice(1)}--LAX"></guestlist-dashboard></body></html>`,
    );
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
};
