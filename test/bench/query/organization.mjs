// The flights as a customer's organization, made over the interface: for each datasource one datamart by tenant and one of all rows.
const column = (columnName) => ({ schemaName: 'main', tableName: 'flights', columnName });

/** The same grouped sum as the raw query, grouped by `by`. */
const metricOf = (metricId, by) => ({
  metricId,
  name: metricId,
  definition: {
    kind: 'visual',
    chart: { type: 'bar' },
    from: { schemaName: 'main', tableName: 'flights' },
    dimensions: [{ name: 'By', column: column(by) }],
    measures: [
      { name: 'Delay', aggregate: 'SUM', column: column('delay') },
      { name: 'Flights', aggregate: 'COUNT' },
    ],
  },
});

const rename = (value, schemaName) =>
  JSON.parse(JSON.stringify(value).replaceAll('"main"', JSON.stringify(schemaName)));

export const callerOf = (url) => async (credential, method, path, body) => {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path} answered ${JSON.stringify(answer)}`);
  return answer;
};

export const tenancySettingsOf = (schemaName) => ({
  tenancyLevel: 'TABLE',
  clientColumnType: 'STRING',
  schemaName,
  tableName: 'tenants',
  tablePrimaryKeyColumn: 'iata',
  tableClientNameColumn: 'name',
});

export const access = {
  metricCreationMode: 'DRAG_DROP',
  ...Object.fromEntries(
    [
      'EmailReports',
      'ManageMetrics',
      'CreateDashboardView',
      'MetricCreation',
      'MetricDeletion',
      'MetricLayoutChange',
      'MetricUpdate',
      'UnderlyingData',
    ].map((name) => [`isAllow${name}`, false]),
  ),
};

/** Seconds for which an answer is cached; 0: never. */
const kept = { uncached: 0, cached: 600 };

/** What a guest's query needs: `{path, token, body}` by `${source} ${kind} ${cached | uncached}`. */
export const makeOrganization = async (url, serviceToken, sources) => {
  const call = callerOf(url);
  const asService = (method, path, body) => call(serviceToken, method, path, body);
  await asService('POST', '/data-app', { name: 'bench' });
  const { key } = await asService('POST', '/data-app/api-tokens', { dataAppName: 'bench', name: 'bench' });
  const targets = {};
  for (const [source, { schemaName, datasource }] of Object.entries(sources)) {
    await asService('POST', '/datasource', { ...datasource, credentials: { name: source, ...datasource.credentials } });
    for (const [kind, { clientId, by }] of Object.entries({
      selective: { clientId: 'LAX', by: 'destination' },
      full: { clientId: 'None', by: 'origin' },
    })) {
      for (const [caching, cacheTtlSeconds] of Object.entries(kept)) {
        const name = `${source}-${kind}-${caching}`;
        const columns = ['origin', 'destination', 'date', 'delay'].map((each) => ({ name: each }));
        await asService('POST', '/data-app/datamarts', {
          name,
          datasourceName: source,
          cacheTtlSeconds,
          ...(kind === 'full' ? {} : { tenancySettings: tenancySettingsOf(schemaName) }),
          tableList: [{ name: 'flights', schemaName, ...(kind === 'full' ? {} : { clientColumn: 'origin' }), columns }],
          relationships: [],
        });
        await asService('POST', '/workspace', { name, connectionType: 'DATAMART', datamartName: name });
        await asService('POST', '/data-app/import-dashboard', {
          workspaceName: name,
          dashboardId: name,
          dashboardName: name,
          importDashboardData: {
            gridMargin: [],
            filters: [],
            layout: [{ metricId: `sum ${name}`, x: 0, y: 0, w: 12, h: 6 }],
            metrics: [rename(metricOf(`sum ${name}`, by), schemaName)],
          },
        });
        const dashboardId = `${name}--${clientId}`;
        await call(key, 'POST', '/data-app/dashboard-embeds', {
          dashboardId,
          clientId,
          workspaceName: name,
          templateDashboardId: name,
          isImportMetrics: true,
          accessSettings: { datamartName: name, ...access },
        });
        const { token } = await call(key, 'POST', '/guest-token/create', {
          clientId,
          dataAppName: 'bench',
          expiryTime: 3_600_000,
          params: { allowedEmbeds: [dashboardId] },
        });
        const { data } = await call(token, 'GET', `/guest/dashboards/${dashboardId}`);
        targets[`${source} ${kind} ${caching}`] = {
          path: `/api/v2/guest/metrics/${data.metrics[0].metricId}/query`,
          token,
          body: JSON.stringify({ dashboardId }),
        };
      }
    }
  }
  return targets;
};
