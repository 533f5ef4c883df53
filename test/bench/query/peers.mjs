// The peers as variants of the bench: the same grouped sum of one tenant over HTTP, each server a process of its own. See peers.sh.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { launch, root } from '../server.mjs';
import { load, once } from './load.mjs';

const query = (cube) => ({
  measures: [`${cube}.delay`, `${cube}.count`],
  dimensions: [`${cube}.destination`],
  order: { [`${cube}.destination`]: 'asc' },
  limit: 10_000,
});

const variantOf = async (name, server, target) => {
  const answer = await once(server.url, target);
  const { data } = answer.results?.[0] ?? answer;
  if (!(data?.length > 50)) throw new Error(`${name} answered ${JSON.stringify(answer).slice(0, 200)}`);
  return { name, ask: (order) => load(server.url, target, order), stop: server.stop };
};

const startDrizzle = async (folder, databaseUrl, isCached) => {
  const server = await launch([process.execPath, join(root, 'test/bench/query/peer-drizzle.mjs')], {
    dataDir: folder,
    env: { PEER_FOLDER: join(folder, 'drizzle'), PEER_DATABASE_URL: databaseUrl, PEER_CACHE: isCached ? '1' : '0' },
  });
  const target = { path: '/cubejs-api/v1/load', token: 'LAX', body: JSON.stringify({ query: query('Flights') }) };
  return variantOf(`drizzle-cube 0.5.5${isCached ? ', cached' : ''}`, server, target);
};

/** The peer caches by query. A filter that changes each time, and excludes no row, avoids its cache. */
const startCube = async (folder, databaseUrl) => {
  const secret = randomBytes(32).toString('hex');
  const dataDir = join(folder, 'cube-data');
  mkdirSync(dataDir, { recursive: true });
  const server = await launch([process.execPath, join(root, 'test/bench/query/peer-cube.cjs')], {
    dataDir,
    env: { PEER_FOLDER: join(folder, 'cube'), PEER_DATABASE_URL: databaseUrl, PEER_SECRET: secret },
  });
  const jwt = createRequire(join(folder, 'cube/package.json'))('jsonwebtoken');
  const token = jwt.sign({ tenant: 'LAX', u: { tenant: 'LAX' } }, secret);
  const body = JSON.stringify({ query: query('Flights') });
  let asked = 0;
  const anew = {
    path: '/cubejs-api/v1/load',
    token,
    get body() {
      asked += 1;
      const filters = [{ member: 'Flights.destination', operator: 'notEquals', values: [`no ${asked}`] }];
      return JSON.stringify({ query: { ...query('Flights'), filters } });
    },
  };
  const cached = await variantOf('Cube 0.34.62 (old, one-line shim), cached', server, { ...anew, body });
  const uncached = await variantOf('Cube 0.34.62 (old, one-line shim)', { ...server, stop: async () => {} }, anew);
  return [uncached, cached];
};

export const startPeers = async (folder, databaseUrl) => {
  if (folder === undefined) return [];
  return [
    await startDrizzle(folder, databaseUrl, false),
    await startDrizzle(folder, databaseUrl, true),
    ...(await startCube(folder, databaseUrl)),
  ];
};
