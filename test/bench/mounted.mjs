// The gateway inside a host's Express app, behind the host's own session, as docs/how-to/embedding.md shows it.
import express from 'express';
import { createGateway } from '../../dist/compose/library.js';

const { PORT, MOUNTED_POLICY, MOUNTED_SERVICE_URL, MOUNTED_API_KEY, GUESTLIST_DATA_DIR } = process.env;
const user = { sub: 'ann', org_id: 'LAX', roles: ['analyst'] };

const gateway = await createGateway({
  identify: ({ headers }) => (headers['x-user'] === 'ann' ? user : null),
  policies: MOUNTED_POLICY,
  service: { url: MOUNTED_SERVICE_URL, apiKey: MOUNTED_API_KEY },
  dataDir: GUESTLIST_DATA_DIR,
  limits: { userPerMinute: 1_000_000, tenantPerMinute: 1_000_000 },
});
const app = express();
app.get('/readyz', (_request, response) => response.send('ready'));
// The minimal cost of a route of this app.
app.post('/empty', (_request, response) => response.end());
app.use('/analytics', gateway);
const server = app.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => server.close(() => gateway.close().then(() => process.exit(0))));
