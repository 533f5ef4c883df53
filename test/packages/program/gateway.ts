// A host's program. It must compile under all strict checks with the packages that `npm install @guestlist/gateway
// express` installs.
import { createGateway, type HostLog, InvalidOptions, type LibraryOptions } from '@guestlist/gateway';
import express from 'express';

const [, , service = '', apiKey = '', policies = '', ledger = '', port = '0'] = process.argv;
const log: HostLog = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error, child: () => log };
const options: LibraryOptions = {
  identify: ({ headers }) => (headers['x-user'] === 'ann' ? { sub: 'ann', org_id: 'LAX', roles: ['analyst'] } : null),
  policies,
  service: { url: service, apiKey },
  ...(ledger.startsWith('postgres') ? { databaseUrl: ledger } : { dataDir: ledger }),
  log,
};
try {
  // @ts-expect-error: the service is required
  await createGateway({ identify: options.identify, policies });
} catch (error) {
  if (!(error instanceof InvalidOptions)) throw error;
  console.log(error.faults.length);
}
const gateway = await createGateway(options);
const server = express()
  .use('/analytics', gateway)
  .listen(Number(port), '127.0.0.1', () => {
    console.log(JSON.stringify(server.address()));
  });
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void gateway.close();
});
