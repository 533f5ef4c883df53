// Cube 0.34 over the bench's PostgreSQL, without its store: the tenant comes from a signed token, and each query is filtered by it.
const { mkdirSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const peer = createRequire(join(process.env.PEER_FOLDER, 'package.json'));
// Its native part would be downloaded: templates are not used here.
peer('@cubejs-backend/native').NativeInstance.prototype.newJinjaEngine = () => ({
  loadTemplate() {},
  renderTemplate() {},
});
const { CubejsServer } = peer('@cubejs-backend/server');

const folder = process.env.GUESTLIST_DATA_DIR;
mkdirSync(join(folder, 'model'), { recursive: true });
writeFileSync(
  join(folder, 'model', 'Flights.js'),
  `cube('Flights', {
    sql: \`SELECT * FROM flights WHERE \${SECURITY_CONTEXT.tenant.filter('origin')}\`,
    measures: { delay: { sql: 'delay', type: 'sum' }, count: { type: 'count' } },
    dimensions: { destination: { sql: 'destination', type: 'string' } },
    refreshKey: { every: '1 hour' },
  });`,
);
process.chdir(folder);
const url = new URL(process.env.PEER_DATABASE_URL);
Object.assign(process.env, {
  CUBEJS_DB_TYPE: 'postgres',
  CUBEJS_DB_HOST: url.hostname,
  CUBEJS_DB_PORT: url.port || '5432',
  CUBEJS_DB_NAME: url.pathname.slice(1),
  CUBEJS_DB_USER: decodeURIComponent(url.username),
  CUBEJS_DB_PASS: decodeURIComponent(url.password),
  CUBEJS_CACHE_AND_QUEUE_DRIVER: 'memory',
  CUBEJS_API_SECRET: process.env.PEER_SECRET,
  CUBEJS_TELEMETRY: 'false',
  CUBEJS_SCHEMA_PATH: 'model',
  NODE_ENV: 'production',
});
const server = new CubejsServer({ schemaPath: 'model', scheduledRefreshTimer: false });
server.listen({ port: Number(process.env.PORT) }).then(() => process.stdout.write('up\n'));
