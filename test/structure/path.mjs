// `npm run structure -- --path`: the number of source files that a cold `POST /embed-token` and a guest's query run
// through, by V8's coverage of the built demo. Timers that run at the same time are counted too.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { credentialsIn, inTemporaryFolder, launch, root } from '../bench/server.mjs';

const hook = new URL('./coverage-hook.mjs', import.meta.url).href;

const maps = new Map();

const mapOf = (url) => {
  if (!maps.has(url)) {
    const file = fileURLToPath(url);
    const text = readFileSync(file, 'utf8');
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    const map = existsSync(`${file}.map`) ? new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))) : null;
    maps.set(url, { starts, map });
  }
  return maps.get(url);
};

const sourceOf = ({ starts, map }, offset) => {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return map?.findEntry(low, offset - starts[low]).originalSource;
};

const filesOf = (ran) => {
  const sources = ran.flatMap(({ url, offsets }) => {
    const mapped = mapOf(url);
    return offsets.filter((offset) => offset > 0).map((offset) => sourceOf(mapped, offset) ?? '');
  });
  const own = sources
    .filter((source) => !source.includes('node_modules'))
    .map((source) => /(?:^|\/)src\/(.*\.ts)$/.exec(source)?.[1])
    .filter((file) => file !== undefined && existsSync(join(root, 'src', file)));
  return [...new Set(own)].sort();
};

const count = async (server, file) => {
  rmSync(file, { force: true });
  server.child.kill('SIGUSR2');
  while (!existsSync(file)) await pause(20);
  return filesOf(JSON.parse(readFileSync(file, 'utf8')));
};

const during = async (server, file, work) => {
  await count(server, file);
  const answer = await work();
  return { answer, files: await count(server, file) };
};

const assertOk = async (response) => {
  if (response.status !== 200) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** Returns `{ embedToken, guestQuery }`: the source files of each, relative to src. */
export const measurePaths = () =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'coverage.json');
    const dataDir = join(folder, 'data');
    const command = [process.execPath, '--import', hook, join(root, 'bin/guestlist.mjs'), 'serve'];
    const server = await launch(command, { dataDir, env: { COVERAGE_FILE: file, GUESTLIST_LOG_LEVEL: 'info' } });
    try {
      const { default: jwt } = await import('jsonwebtoken');
      const { demoJwtSecret } = await credentialsIn(dataDir);
      const claims = { iss: 'guestlist-demo', sub: 'lax-manager', org_id: 'LAX', roles: ['manager'] };
      const session = jwt.sign(claims, demoJwtSecret, { expiresIn: '1h' });
      const mint = () =>
        fetch(`${server.url}/embed-token`, { method: 'POST', headers: { Authorization: `Bearer ${session}` } });
      const embedToken = await during(server, file, () => mint().then(assertOk));
      const { token, embeds } = embedToken.answer;
      const headers = { Authorization: `Bearer ${token}` };
      const dashboard = embeds.find(({ type }) => type === 'dashboard').id;
      const guest = `${server.url}/api/v2/guest`;
      const { data } = await fetch(`${guest}/dashboards/${encodeURIComponent(dashboard)}`, { headers }).then(assertOk);
      const [metric] = data.metrics;
      const query = () =>
        fetch(`${guest}/metrics/${encodeURIComponent(metric.metricId)}/query`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ dashboardId: dashboard }),
        }).then(assertOk);
      const guestQuery = await during(server, file, query);
      return { embedToken: embedToken.files, guestQuery: guestQuery.files };
    } finally {
      await server.stop();
    }
  });
