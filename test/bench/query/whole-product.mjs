/**
 * Gateway and service in one process, with the orders in a DuckDB file, a policy that shows everybody one dashboard, and
 * its metadata in PostgreSQL.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { stringify } from 'yaml';
import { credentialsIn, inTemporaryFolder, launch, root } from '../server.mjs';
import { makeDatabase, makeOrdersFile, makeTargets } from './orders.mjs';

const secret = randomBytes(32).toString('base64');

const policy = {
  ...{ version: 1, dataApp: 'bench', workspace: 'shop', datamart: 'shop' },
  session: { claims: { org_id: 'string' }, tenant: 'claims.org_id', roles: '[]' },
  templates: { board: { name: 'Board' } },
  rules: [{ name: 'all see the board', when: 'true', grant: { templates: ['board'] } }],
};

/** A session of a user of a tenant, as the host's page has it. */
export const sessionOf = (tenant, user) => jwt.sign({ sub: user, org_id: tenant }, secret, { expiresIn: '3h' });

const configure = (folder) => {
  const policies = join(folder, 'policies.yaml');
  writeFileSync(policies, stringify(policy));
  const rollups = join(folder, 'rollups');
  mkdirSync(rollups);
  mkdirSync(join(folder, 'data'));
  const settings = { datasources: { duckdbFolders: [folder] }, rollups: { folder: rollups }, gateway: { policies } };
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, stringify(settings));
  return file;
};

/** Starts it for as long as `work` takes. `work` gets its address and process, what each tenant asks, and what builds a rollup. */
export const withWholeProduct = (tenants, work) =>
  inTemporaryFolder(async (folder) => {
    const metadata = await makeDatabase();
    const stops = [metadata.drop];
    try {
      const datasource = await makeOrdersFile(join(folder, 'orders.duckdb'));
      const limits = Object.fromEntries(
        ['GUEST_TOKEN', 'GUEST_ADDRESS', 'USER', 'TENANT'].map((name) => [`GUESTLIST_${name}_PER_MINUTE`, '100000000']),
      );
      const settings = {
        GUESTLIST_CONFIG: configure(folder),
        GUESTLIST_LOG_LEVEL: 'error',
        DATABASE_URL: metadata.url.href,
      };
      const product = await launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'], {
        ...{ dataDir: join(folder, 'data'), env: { ...settings, GUESTLIST_HOST_JWT_SECRET: secret, ...limits } },
      });
      stops.push(product.stop);
      const { serviceToken } = await credentialsIn(join(folder, 'data'));
      const made = await makeTargets(product.url, serviceToken, datasource, tenants);
      return await work({ product, metadata, ...made });
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  });

/** Builds again and again, at most once in so many milliseconds, until `stop` is called, which resolves to the count. */
export const buildAgain = (build, everyMs = 0) => {
  const state = { isOver: false, count: 0 };
  const ended = (async () => {
    while (!state.isOver) {
      const next = performance.now() + everyMs;
      await build();
      state.count += 1;
      while (!state.isOver && performance.now() < next) await pause(500);
    }
  })();
  return {
    count: () => state.count,
    stop: async () => {
      state.isOver = true;
      await ended;
      return state.count;
    },
  };
};

/** Starts requests at a fixed rate until the end, however long the answers take. */
export const atRate = async (rate, ends, work) => {
  const asked = [];
  for (let number = 0, next = performance.now(); next < ends; number += 1, next += 1000 / rate) {
    await pause(Math.max(0, next - performance.now()));
    asked.push(work(number));
  }
  return Promise.all(asked);
};

/** Milliseconds of a login, or null if it failed. */
export const login = async (url, session) => {
  const since = performance.now();
  const answer = await fetch(`${url}/embed-token`, { method: 'POST', headers: { authorization: `Bearer ${session}` } });
  await answer.text();
  return answer.ok ? performance.now() - since : null;
};
