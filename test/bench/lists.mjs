/**
 * How long the event loop is blocked while the server works on long lists: percentiles of the loop's delay in the server's process, 1 ms
 * resolution, over each piece of work. `BENCH_BEFORE=FOLDER` (another checkout, built) is measured in turns with this one. Metadata in the embedded
 * database, which answers in the server's own thread: the worst case.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { stringify } from 'yaml';
import { seedMetadata } from './lists-seed.mjs';
import { credentialsIn, freePort, inTemporaryFolder, root, untilReady } from './server.mjs';
import { writeTenantTable } from './tenants.mjs';

const sizes = {
  tenants: Number(process.env.BENCH_TENANTS ?? 4000),
  tokens: Number(process.env.BENCH_TOKENS ?? 20_000),
  entries: Number(process.env.BENCH_ENTRIES ?? 100_000),
  rows: Number(process.env.BENCH_TABLE_ROWS ?? 1_000_000),
};
const only = process.env.BENCH_ONLY;
const secret = 'a secret of the bench, which is long enough';

const launch = async (checkout, args, { dataDir, env = {} }) => {
  const port = await freePort();
  const since = performance.now();
  const command = [
    '--import',
    join(root, 'test/bench/loop-delay.mjs'),
    join(checkout, 'bin/guestlist.mjs'),
    'serve',
    ...args,
  ];
  const child = spawn(process.execPath, command, {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, PORT: String(port), GUESTLIST_DATA_DIR: dataDir, ...env },
  });
  const url = `http://127.0.0.1:${port}`;
  const ask = async (message) => {
    child.send(message);
    const [answer] = await once(child, 'message');
    return answer;
  };
  await untilReady(child, `${url}/readyz`, since);
  return {
    url,
    ask,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
};

const call = async (url, bearer, path, { method = 'POST', body } = {}) => {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
};

const login = (url, key, claims) =>
  call(
    url,
    jwt.sign({ iss: 'guestlist-demo', sub: 'lax-manager', org_id: 'LAX', roles: ['manager'], ...claims }, key, {
      expiresIn: '1h',
    }),
    '/embed-token',
  );

/** One data folder for all: what the product makes for one tenant, and thousands of copies. */
const makeData = async (checkout, folder) => {
  const dataDir = join(folder, 'seed');
  const server = await launch(checkout, [], { dataDir });
  const credentials = await credentialsIn(dataDir);
  await login(server.url, credentials.demoJwtSecret, {});
  await server.stop();
  await seedMetadata(dataDir, sizes);
  return dataDir;
};

const pages = async (ask, field = 'next') => {
  for (let after; ; ) {
    const { data } = await ask(after === undefined ? {} : { after });
    after = data[field];
    if (after === null || after === undefined) return;
  }
};

const untilIdle = async (admin, id) => {
  for (;;) {
    const { data } = await admin('rollout-status', { id });
    if (!data.isAtWork) return data;
    await pause(200);
  }
};

/** What is measured on a server with all data, in this order: name and work. */
const works = async ({ url }, dataDir) => {
  const { demoApiKey, serviceToken, gatewayToken, demoJwtSecret } = await credentialsIn(dataDir);
  const get = (path, bearer = demoApiKey) => call(url, bearer, `/api/v2${path}`, { method: 'GET' });
  const post = (path, body, bearer = demoApiKey) => call(url, bearer, `/api/v2${path}`, { body });
  const admin = (command, body) => call(url, gatewayToken, `/gateway/admin/${command}`, { body });
  const { token } = await login(url, demoJwtSecret, {});
  const board = await get('/guest/dashboards/delays--LAX', token);
  const metric = board.data.metrics.find(({ name }) => name === 'Flights a day').metricId;
  const ofMetric = (what, body = {}) =>
    post(`/guest/metrics/${metric}/${what}`, { dashboardId: 'delays--LAX', ...body }, token);
  const inWorkspace = { workspaceName: 'flights' };
  const someTenants = Array.from({ length: 200 }, (_, index) => `N${index}`);
  return [
    // The delay that the machine itself causes.
    ['nothing, for 5 s', () => pause(5000)],
    [`list ${sizes.tenants} embeds`, () => get('/data-app/embeds')],
    [
      'the same, page by page (100 pages)',
      async () => {
        for (let number = 1; number <= 100; number += 1)
          await get(`/data-app/embeds?isPagination=true&pageNumber=${number}`);
      },
    ],
    [`list ${sizes.tenants} dashboards of a workspace`, () => post('/workspace/dashboards', inWorkspace)],
    [`list ${sizes.tenants * 4} metrics of a workspace`, () => post('/workspace/metrics', inWorkspace)],
    [`list ${sizes.tenants + sizes.tokens} guest tokens`, () => get('/guest-token')],
    [`list data apps with ${sizes.tenants} embeds`, () => get('/data-app', serviceToken)],
    ['list tenants by 500', () => pages((after) => admin('tenants-list', { limit: 500, ...after }))],
    ['roll-out plan of 500 tenants', () => admin('rollout-plan', { template: 'delays', limit: 500 })],
    [
      `roll-out plan of ${sizes.tenants} tenants`,
      () => pages((after) => admin('rollout-plan', { template: 'delays', limit: 500, ...after })),
    ],
    [
      'roll-out to a tenth of them',
      async () => {
        const { data } = await admin('rollout-apply', { template: 'delays', steps: [10], maxFailures: 10_000 });
        await untilIdle(admin, data.id);
      },
    ],
    [
      'provision 200 new tenants',
      async () => {
        for (let at = 0; at < someTenants.length; at += 100)
          await admin('tenants-provision', {
            clientIds: someTenants.slice(at, at + 100),
            isNew: true,
            templates: ['delays'],
          });
      },
    ],
    [
      `verify ${sizes.entries} audit entries`,
      async () => {
        const { data } = await admin('audit-verify', {});
        if (data.fault !== null) throw new Error(data.fault.message);
      },
    ],
    [
      `export ${sizes.entries} audit entries by 1,000`,
      () => pages((after) => admin('audit-export', { limit: 1000, ...after })),
    ],
    ['query of 10,000 rows', () => ofMetric('query')],
    ['underlying rows: 1,000', () => ofMetric('underlying')],
    ['CSV of 115,000 rows', () => ofMetric('csv')],
    ['options of a filter', () => get('/guest/dashboards/delays--LAX/filters/Destination%20state/options', token)],
    [`erase a tenant with ${sizes.tokens} tokens`, () => admin('tenant-delete', { clientId: 'LAX' })],
  ];
};

const measure = async (server, work) => {
  await server.ask('reset');
  const since = performance.now();
  let failure;
  try {
    await work();
  } catch (error) {
    failure = error.message;
  }
  const seconds = (performance.now() - since) / 1000;
  return { ...(await server.ask('read')), seconds, failure };
};

const threeOf = ({ p50, p99, max }) => [p50, p99, max].map((value) => value.toFixed(1)).join(' / ');
const cell = (result) => {
  if (result === undefined) return ' | ';
  return result.failure === undefined
    ? `${threeOf(result.clock)} | ${threeOf(result.processor)}`
    : `${result.failure} | `;
};

const results = new Map();
const note = (name, which, result) => {
  results.set(name, { ...results.get(name), [which]: result });
  console.error(`${which}: ${name}: ${result.seconds?.toFixed(1)} s | ${cell(result)}`);
};

/** A gateway alone in front of a service, with a policy of its own. */
const startGateway = async (checkout, folder, { service, dataDir, change, roles }) => {
  mkdirSync(folder, { recursive: true });
  const { demoApiKey } = await credentialsIn(dataDir);
  const shipped = readFileSync(join(checkout, 'config/policies/flights.yaml'), 'utf8');
  writeFileSync(join(folder, 'policy.yaml'), change(shipped));
  const issuers = [{ issuer: 'bench', algorithms: ['HS256'], secretVariable: 'BENCH_SECRET' }];
  const limits = { userPerMinute: 1_000_000, tenantPerMinute: 1_000_000 };
  writeFileSync(
    join(folder, 'guestlist.yaml'),
    stringify({ gateway: { policies: './policy.yaml', session: { issuers }, limits } }),
  );
  const env = {
    GUESTLIST_CONFIG: join(folder, 'guestlist.yaml'),
    GUESTLIST_SERVICE_URL: service.url,
    GUESTLIST_API_KEY: demoApiKey,
    BENCH_SECRET: secret,
  };
  const gateway = await launch(checkout, ['--only', 'gateway'], { dataDir: join(folder, 'data'), env });
  const ask = (index) => login(gateway.url, secret, { iss: 'bench', sub: `user-${index}`, org_id: 'ATL', roles });
  return { ...gateway, login: ask };
};

const byTable = (policy) =>
  policy.replace(/^ {2}tenant: .*$/m, '  tenant: { key: claims.org_id, table: ./tenants.csv }');
const table = async (checkout, folder, common) => {
  mkdirSync(folder, { recursive: true });
  const write = (file) => {
    writeTenantTable(file, sizes.rows - 1);
    writeFileSync(file, 'ATL,ATL\n', { flag: 'a' });
  };
  write(join(folder, 'tenants.csv'));
  const gateway = await startGateway(checkout, folder, { ...common, change: byTable, roles: ['analyst'] });
  write(join(folder, 'tenants.new'));
  try {
    return await measure(gateway, async () => {
      renameSync(join(folder, 'tenants.new'), join(folder, 'tenants.csv'));
      await pause(10_000);
    });
  } finally {
    await gateway.stop();
  }
};

/** Roles against roles, which neither match nor end early; `now` makes it an expression of the time. */
const ofRoles = (condition) => (policy) =>
  policy.replace(
    /^rules:.*$/m,
    (line) => `${line}\n  - name: bench\n    when: '${condition}'\n    grant: { templates: [delays] }`,
  );
const cel = async (checkout, folder, common, condition) => {
  const roles = ['analyst', ...Array.from({ length: 63 }, (_, index) => `role-${index}`)];
  const gateway = await startGateway(checkout, folder, { ...common, change: ofRoles(condition), roles }).catch(
    () => undefined,
  );
  if (gateway === undefined) return { failure: 'refused at load' };
  try {
    await gateway.login(0);
    return await measure(gateway, async () => {
      for (let index = 1; index <= 20; index += 1) await gateway.login(index);
    });
  } finally {
    await gateway.stop();
  }
};

const isAsked = (name) => only === undefined || new RegExp(only).test(name);

await inTemporaryFolder(async (folder) => {
  const before = process.env.BENCH_BEFORE;
  const checkouts = [...(before === undefined ? [] : [['before', before]]), ['now', root]];
  const seed = await makeData(checkouts[0][1], folder);
  const running = [];
  for (const [which, checkout] of checkouts) {
    const dataDir = join(folder, which);
    cpSync(seed, dataDir, { recursive: true });
    const server = await launch(checkout, [], { dataDir });
    running.push({ which, checkout, server, dataDir, works: await works(server, dataDir) });
  }
  try {
    for (let index = 0; index < running[0].works.length; index += 1) {
      for (const { which, server, works: all } of running) {
        const [name, work] = all[index];
        if (isAsked(name)) note(name, which, await measure(server, work));
      }
    }
    for (const { which, checkout, server, dataDir } of running) {
      const common = { service: server, dataDir };
      const name = `reload of a table of ${sizes.rows} tenants`;
      if (isAsked(name)) note(name, which, await table(checkout, join(folder, `${which}-table`), common));
      const conditions = [
        [
          '20 first logins with 64 roles, each looked for among all',
          'user.roles.all(a, user.roles.exists(b, a == b)) && user.id == "x"',
        ],
        [
          '20 first logins with 64 roles, roles compared with roles',
          'user.roles.exists(a, user.roles.exists(b, a + b == "x"))',
        ],
        ['the same, by the hour', 'user.roles.exists(a, user.roles.exists(b, a + b == "x")) && now.getHours() < 25'],
      ];
      for (const [index, [title, condition]] of conditions.entries())
        if (isAsked(title))
          note(title, which, await cel(checkout, join(folder, `${which}-cel-${index}`), common, condition));
    }
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
});

console.log(`Node ${process.version}, delay of the event loop in ms: median / 99th percentile / longest\n`);
console.log(
  '| work | before: by the clock | in processor time | now: by the clock | in processor time |\n|---|---|---|---|---|',
);
for (const [name, { before, now }] of results) console.log(`| ${name} | ${cell(before)} | ${cell(now)} |`);
