/** `guestlist pull`, `plan` and `push` with running products: a folder of YAML, and the service that it describes. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { compare } from '../../src/cli/files/differences.js';
import { connectToService } from '../../src/cli/service-client.js';
import { listMetrics, updateWorkspaceDashboards } from '../../src/service/dashboards/contract/workspace-dashboards.js';
import { listDatamarts } from '../../src/service/datamarts/contract/datamarts.js';
import { createDatasource } from '../../src/service/datasources/contract/datasources.js';
import { createWorkspace } from '../../src/service/workspaces/contract.js';
import { blocksOfKind, nameOf } from '../documents/blocks.js';
import { type Product, startProduct } from '../product/product.js';
import { runCli } from './in-process.js';

let product: Product;
let folder: string;
beforeAll(async () => {
  product = await startProduct();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-files-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

type Name = 'pull' | 'plan' | 'push';

/** Returns what was printed. Rejects with the exit code and the errors if the command fails. */
const runAt = async (at: Product, name: Name, ...args: string[]): Promise<string> => {
  const env = { ...process.env, GUESTLIST_SERVICE_TOKEN: at.credentials.serviceToken };
  const { code, out, err } = await runCli([name, folder, ...args, '--url', at.url], { env });
  if (code !== 0) throw Object.assign(new Error(err.trimEnd()), { code });
  return out.trimEnd();
};
const run = (name: Name, ...args: string[]): Promise<string> => runAt(product, name, ...args);

const connect = (at: Product) => {
  vi.stubEnv('GUESTLIST_SERVICE_TOKEN', at.credentials.serviceToken);
  return connectToService('serviceToken', at.url);
};

const edit = async (file: string, from: string, to: string): Promise<void> => {
  const text = await readFile(join(folder, file), 'utf8');
  expect(text).toContain(from);
  await writeFile(join(folder, file), text.replace(from, to));
};

test('after a pull there is nothing to change; a second pull leaves each file and its comments', async () => {
  await mkdir(join(folder, 'datamarts'));
  await writeFile(join(folder, 'datamarts/notes.txt'), 'mine');
  expect(await run('pull')).toBe(
    [
      'ACTION   FILE                    NAME',
      'written  datamarts/flights.yaml  datamart flights',
      'written  dashboards/delays.yaml  dashboard flights/delays',
      'written  dashboards/routes.yaml  dashboard flights/routes',
    ].join('\n'),
  );
  expect(await run('plan')).toBe('Nothing to change.');
  const text = await readFile(join(folder, 'datamarts/flights.yaml'), 'utf8');
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../.schemas/datamart.json');
  const written = `${text}# a remark\n`;
  await writeFile(join(folder, 'datamarts/flights.yaml'), written);
  expect(await run('pull')).not.toContain('written');
  expect(await readFile(join(folder, 'datamarts/flights.yaml'), 'utf8')).toBe(written);
  expect(await readFile(join(folder, 'datamarts/notes.txt'), 'utf8')).toBe('mine');
  const schema = JSON.parse(await readFile(join(folder, '.schemas/dashboard.json'), 'utf8'));
  expect(Object.keys(parse(await readFile(join(folder, 'dashboards/delays.yaml'), 'utf8')))).toSatisfy(
    (fields: string[]) => fields.every((field) => field in schema.properties),
  );
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = all
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
  expect((await Promise.all(texts)).join('\n')).not.toMatch(/password|\.duckdb|\bkey:/i);
}, 60_000);

test('changed names are planned, pushed and then the service’s; a second push does nothing', async () => {
  await run('pull');
  await edit('datamarts/flights.yaml', 'label: Flights', 'label: All flights');
  await edit('dashboards/delays.yaml', 'name: Flights a day', 'name: Flights per day');
  const planned = [
    'change  datamart flights (datamarts/flights.yaml)',
    '  tableList[main.flights].label: "Flights" → "All flights"',
    'change  dashboard flights/delays (dashboards/delays.yaml)',
    '  metrics[flights-a-day].name: "Flights a day" → "Flights per day"',
  ];
  expect(await run('plan')).toBe([...planned, 'unchanged: 1'].join('\n'));
  expect(JSON.parse(await run('plan', '--json'))).toMatchObject([
    {
      kind: 'datamart',
      action: 'change',
      name: 'datamart flights',
      fields: [{ before: 'Flights', after: 'All flights' }],
    },
    { kind: 'dashboard', action: 'change' },
    { kind: 'dashboard', action: 'unchanged', fields: [] },
  ]);
  expect(await run('push')).toBe(planned.join('\n'));
  expect(await run('plan')).toBe('Nothing to change.');
  expect(await run('push')).toBe('Nothing to change.');
  const call = await connect(product);
  const { data: metrics } = await call(listMetrics, { workspaceName: 'flights' });
  expect(metrics).toContainEqual({ metricId: 'flights-a-day', name: 'Flights per day' });
  const [datamart] = (await call(listDatamarts, {})).data;
  expect(datamart?.datamartTables?.map(({ label }) => label)).toContain('All flights');
}, 60_000);

test('what was made in Studio is not lost by a push: it is pulled first, and edited files stay', async () => {
  await run('pull');
  await edit('datamarts/flights.yaml', 'label: Airports', 'label: Fields');
  const call = await connect(product);
  const shared = [{ dashboardId: 'routes', appendMetrics: [{ metricId: 'share-delayed' }] }];
  await call(updateWorkspaceDashboards, { workspaceName: 'flights', dashboards: shared });
  const refused = run('push');
  await expect(refused).rejects.toMatchObject({ code: 2 });
  await expect(refused).rejects.toThrow(
    /never had, and nothing was done:\nchange {2}dashboard flights\/routes .*\n {2}changed in the service since .*\n {2}removes the metric "Delayed over 15 minutes"[\s\S]*run guestlist pull/,
  );
  expect(await run('pull')).toMatch(/kept +datamarts\/flights\.yaml/);
  expect(await run('push')).toContain('→ "Fields"');
  expect(await readFile(join(folder, 'dashboards/routes.yaml'), 'utf8')).toContain('share-delayed');
  await rm(join(folder, '.known.json'));
  await edit('datamarts/flights.yaml', 'label: Fields', 'label: Airports');
  await expect(run('push')).rejects.toThrow(/add --overwrite/);
  expect(await run('push', '--overwrite')).toContain('→ "Airports"');
  const removed = [{ dashboardId: 'routes', removedMetrics: ['share-delayed'] }];
  await call(updateWorkspaceDashboards, { workspaceName: 'flights', dashboards: removed });
}, 60_000);

test('all faults of all files are one message, and nothing is done', async () => {
  await run('pull');
  const before = await readFile(join(folder, 'dashboards/routes.yaml'), 'utf8');
  await edit('datamarts/flights.yaml', 'label: Airports', 'lable: Airports');
  await edit('dashboards/delays.yaml', 'type: line', 'type: lin');
  await edit('dashboards/delays.yaml', 'aggregate: AVG', 'aggregte: AVG');
  await writeFile(join(folder, 'dashboards/again.yaml'), before);
  const faulty = await run('push').catch((error: unknown) => error);
  expect(faulty).toMatchObject({ code: 2 });
  const lines = String((faulty as Error).message).split('\n');
  expect(lines).toEqual([
    'guestlist: 5 faults in the files, and nothing was done:',
    `  ${folder}/datamarts/flights.yaml:22:5: tableList[1].lable: is not a field; did you mean "label"?`,
    expect.stringMatching(/delays\.yaml:\d+:15: metrics\[0\]\.definition\.chart\.type: .*; did you mean "line"\?$/),
    expect.stringMatching(/delays\.yaml:\d+:11: metrics\[1\]\.definition\.measures\[0\]\.aggregate: is missing: /),
    expect.stringMatching(/delays\.yaml:\d+:11: metrics\[1\].*\.aggregte: is not a field; did you mean "aggregate"\?$/),
    expect.stringMatching(
      /routes\.yaml:\d+:\d+: dashboard flights\/routes is described by dashboards\/again\.yaml too/,
    ),
  ]);
  await expect(run('pull')).rejects.toMatchObject({ code: 2 });
}, 60_000);

test('what the service cannot do is a fault with its line: renaming, moving, unknown names', async () => {
  await run('pull');
  await edit('dashboards/delays.yaml', 'dashboardName: Delays', 'dashboardName: Late');
  await edit('dashboards/routes.yaml', 'workspaceName: flights', 'workspaceName: fligths');
  await edit('datamarts/flights.yaml', 'datasourceName: flights', 'datasourceName: warehouse');
  await expect(run('plan')).rejects.toThrow(
    /3 faults[\s\S]*flights\.yaml:3:17: datasourceName: it stays "flights"[\s\S]*delays\.yaml:4:16: dashboardName: it stays "Delays"[\s\S]*routes\.yaml:2:16: workspaceName: .*did you mean "flights"\?/,
  );
}, 60_000);

/** A product without the demo, with the datasource `flights` and an empty workspace. */
const startEmpty = async (): Promise<Product> => {
  const empty = await startProduct({ env: { GUESTLIST_DEMO: 'false' }, args: ['--only', 'service'] });
  const path = join(empty.dataDir, 'sources/flights.duckdb');
  await mkdir(join(empty.dataDir, 'sources'), { recursive: true });
  await copyFile(join(empty.dataDir, 'demo/flights.duckdb'), path);
  const call = await connect(empty);
  await call(createDatasource, { datasourceType: 'DUCKDB', credentials: { name: 'flights', path } });
  await call(createWorkspace, { name: 'flights', connectionType: 'MULTI_DATAMART' });
  return empty;
};

test('an empty product gets the same, and then changes, deletes and creates by the same files', async () => {
  await run('pull');
  const empty = await startEmpty();
  try {
    expect(await runAt(empty, 'plan')).toMatch(/^create {2}datamart flights .*\ncreate {2}dashboard flights\/delays /);
    await runAt(empty, 'push');
    expect(await runAt(empty, 'plan')).toBe('Nothing to change.');
    const text = await readFile(join(folder, 'dashboards/delays.yaml'), 'utf8');
    await rm(join(folder, 'dashboards/delays.yaml'));
    await runAt(empty, 'pull');
    expect(await readFile(join(folder, 'dashboards/delays.yaml'), 'utf8')).toBe(text);
    // Its metrics have ids of their own, and are changed in place by the files' ids.
    await edit('dashboards/delays.yaml', 'name: Delayed over 15 minutes', 'name: Late');
    expect(await runAt(empty, 'push')).toContain('metrics[share-delayed].name: ');
    expect(await runAt(empty, 'plan')).toBe('Nothing to change.');
    const { data: metrics } = await (await connect(empty))(listMetrics, { workspaceName: 'flights' });
    expect(metrics.filter(({ name }) => /^Late$|^Delayed over/.test(name))).toHaveLength(1);
    await rm(join(folder, 'dashboards/routes.yaml'));
    expect(await runAt(empty, 'push')).toBe('Nothing to change.');
    await expect(runAt(empty, 'push', '--delete')).rejects.toThrow(/add --yes:\ndelete {2}dashboard flights\/routes/);
    expect(await runAt(empty, 'push', '--delete', '--yes')).toBe('delete  dashboard flights/routes');
    expect(await runAt(empty, 'plan', '--delete')).toBe('Nothing to change.');
  } finally {
    await empty.stop();
    await empty.remove();
  }
}, 120_000);

test('a metric of two dashboards is in both files, which are pushed together and must say the same', async () => {
  await run('pull');
  const empty = await startEmpty();
  try {
    await runAt(empty, 'push');
    const call = await connect(empty);
    const { data: metrics } = await call(listMetrics, { workspaceName: 'flights' });
    const { metricId = '' } = metrics.find(({ name }) => name === 'Delayed over 15 minutes') ?? {};
    const shared = [{ dashboardId: 'routes', appendMetrics: [{ metricId }] }];
    await call(updateWorkspaceDashboards, { workspaceName: 'flights', dashboards: shared });
    await runAt(empty, 'pull');
    const texts = () =>
      Promise.all(['delays', 'routes'].map((name) => readFile(join(folder, `dashboards/${name}.yaml`))));
    const before = await texts();
    expect(await runAt(empty, 'push')).toBe('Nothing to change.');
    await edit('dashboards/delays.yaml', 'name: Delayed over 15 minutes', 'name: Late');
    await expect(runAt(empty, 'push')).rejects.toThrow(
      /a fault[\s\S]*routes\.yaml:\d+:\d+: metrics\[share-delayed\]\.name: the metric is also at \S+delays\.yaml:\d+:\d+, which says otherwise/,
    );
    await edit('dashboards/routes.yaml', 'name: Delayed over 15 minutes', 'name: Late');
    await edit('dashboards/routes.yaml', 'name: Busiest', 'name: Most used');
    expect(await runAt(empty, 'push')).toMatch(
      /change {2}dashboard flights\/delays[\s\S]*change {2}dashboard flights\/routes/,
    );
    expect(await runAt(empty, 'plan')).toBe('Nothing to change.');
    const after = await texts();
    await runAt(empty, 'pull');
    expect(await texts()).toEqual(after);
    expect(after).not.toEqual(before);
    // The other dashboard keeps the metric of one that is deleted.
    await rm(join(folder, 'dashboards/delays.yaml'));
    expect(await runAt(empty, 'push', '--delete', '--yes')).toBe('delete  dashboard flights/delays');
    expect(await runAt(empty, 'plan', '--delete')).toBe('Nothing to change.');
    expect(await readFile(join(folder, 'dashboards/routes.yaml'), 'utf8')).toContain('name: Late');
  } finally {
    await empty.stop();
    await empty.remove();
  }
}, 120_000);

const embedText = (id: string, settings = ''): string => `embedType: ${id === 'all' ? 'dashboard' : 'metric'}
workspaceName: flights
dashboardId: delays
${id === 'all' ? '' : 'metricId: flights-a-day\n'}name: ${id}
accessSettings:
  datamartName: flights
  isAllowEmailReports: false
  isAllowManageMetrics: false
  isAllowCreateDashboardView: false
  isAllowMetricCreation: false
  isAllowMetricDeletion: false
  isAllowMetricLayoutChange: false
  isAllowMetricUpdate: false
  isAllowUnderlyingData: false
  metricCreationMode: DRAG_DROP
${settings}`;

test('embeds are created by name, pulled, planned and changed; copies of clients stay out', async () => {
  vi.stubEnv('GUESTLIST_API_KEY', product.credentials.demoApiKey);
  await run('pull');
  await mkdir(join(folder, 'embeds'));
  await writeFile(join(folder, 'embeds/all.yaml'), embedText('all'));
  await writeFile(join(folder, 'embeds/one.yaml'), embedText('one'));
  const pushed = await run('push');
  expect(pushed).toMatch(
    /^create {2}embed all \(embeds\/all\.yaml\)\n {2}embed id: \S{36}\ncreate {2}embed one .*\n {2}embed id: \S{36}$/,
  );
  expect(await run('plan')).toBe('Nothing to change.');
  expect(await run('push')).toBe('Nothing to change.');
  await rm(join(folder, 'embeds'), { recursive: true });
  expect(await run('pull')).toMatch(/written +embeds\/one.yaml +embed one/);
  expect(await run('pull')).not.toContain('--');
  expect(parse(await readFile(join(folder, 'embeds/one.yaml'), 'utf8'))).toMatchObject({ metricId: 'flights-a-day' });
  expect(await run('plan')).toBe('Nothing to change.');
  await edit('embeds/one.yaml', 'isAllowUnderlyingData: false', 'isAllowUnderlyingData: true');
  const planned = 'change  embed one (embeds/one.yaml)\n  accessSettings.isAllowUnderlyingData: false → true';
  expect(await run('plan')).toContain(planned);
  expect(await run('push')).toBe(planned);
  expect(await run('plan')).toBe('Nothing to change.');
  await edit('embeds/one.yaml', 'metricId: flights-a-day', 'metricId: flights-a-da');
  await edit('embeds/all.yaml', 'dashboardId: delays', 'dashboardId: routes');
  await writeFile(join(folder, 'embeds/new.yaml'), embedText('new').replace('flights-a-day', 'flights-a-da'));
  await expect(run('plan')).rejects.toThrow(
    /all\.yaml:3:14: dashboardId: it stays "delays"[\s\S]*new\.yaml:4:11: metricId: .*did you mean "flights-a-day"\?[\s\S]*metricId: it stays "flights-a-day"/,
  );
  await rm(join(folder, 'embeds'), { recursive: true });
  await run('pull');
  await rm(join(folder, 'embeds/one.yaml'));
  expect(await run('push', '--delete', '--yes')).toBe('delete  embed one');
  await rm(join(folder, 'embeds/all.yaml'));
  vi.stubEnv('GUESTLIST_API_KEY', undefined);
  await writeFile(join(folder, 'embeds/new.yaml'), embedText('new'));
  await expect(run('plan')).rejects.toThrow(
    /new\.yaml:5:7: name: an embed belongs to a data app: set GUESTLIST_API_KEY/,
  );
}, 60_000);

/** A product with a configuration of its own, and the policy of the demo as its policy. */
const startConfigured = async () => {
  const home = await mkdtemp(join(tmpdir(), 'guestlist-policy-'));
  const config = join(home, 'guestlist.yaml');
  await writeFile(config, 'gateway:\n  policies: ./policy.yaml\n');
  const shipped = await readFile('config/policies/flights.yaml', 'utf8');
  await writeFile(join(home, 'policy.yaml'), shipped.replace(/^# yaml-language-server.*\n/, ''));
  const env = { GUESTLIST_CONFIG: config, GUESTLIST_HOST_JWT_SECRET: 'a'.repeat(40) };
  const running = await startProduct({ env });
  vi.stubEnv('GUESTLIST_CONFIG', config);
  vi.stubEnv('GUESTLIST_DATA_DIR', running.dataDir);
  const stop = async (): Promise<void> => {
    await running.stop();
    await running.remove();
    await rm(home, { recursive: true });
  };
  return { running, policy: join(home, 'policy.yaml'), stop };
};

test('the policy is pulled, planned and pushed to where the gateway reads it; a faulty one stops everything', async () => {
  const { running, policy, stop } = await startConfigured();
  try {
    const before = await readFile(policy, 'utf8');
    expect(await runAt(running, 'pull')).toContain('written  policies/policy.yaml  policy policy.yaml');
    expect(await readFile(join(folder, 'policies/policy.yaml'), 'utf8')).toBe(
      `# yaml-language-server: $schema=../.schemas/policy.json\n${before}`,
    );
    const schema = JSON.parse(await readFile(join(folder, '.schemas/policy.json'), 'utf8'));
    expect(Object.keys(parse(before)).every((field) => field in schema.properties)).toBe(true);
    expect(await runAt(running, 'plan')).toBe('Nothing to change.');
    await edit('policies/policy.yaml', 'expiryMinutes: 60', 'expiryMinutes: 30');
    const planned = 'change  policy policy.yaml (policies/policy.yaml)\n  expiryMinutes: 60 → 30';
    expect(await runAt(running, 'plan')).toBe(planned);
    expect(await readFile(policy, 'utf8')).toBe(before);
    expect(await runAt(running, 'push')).toBe(planned);
    expect(await readFile(policy, 'utf8')).toBe(before.replace('expiryMinutes: 60', 'expiryMinutes: 30'));
    await vi.waitFor(() => expect(running.output()).toContain('"policy.loaded"'));
    expect(await runAt(running, 'plan')).toBe('Nothing to change.');
    await edit('policies/policy.yaml', 'expiryMinutes: 30', 'expiryMinutes: 30\nexpiryHours: 1');
    await mkdir(join(folder, 'embeds'));
    await writeFile(join(folder, 'embeds/one.yaml'), 'embedType: metrc');
    await expect(runAt(running, 'push')).rejects.toThrow(/embeds\/one\.yaml/);
    await rm(join(folder, 'embeds'), { recursive: true });
    const faulty = runAt(running, 'push');
    await expect(faulty).rejects.toThrow(
      new RegExp(`nothing was done:\n  ${folder}/policies/policy\\.yaml:\\d+:1: expiryHours: is not a field`),
    );
    expect(await readFile(policy, 'utf8')).not.toContain('expiryHours');
    await edit('policies/policy.yaml', 'expiryHours: 1', '');
    await writeFile(join(folder, 'policies/other.yaml'), before);
    await expect(runAt(running, 'push')).rejects.toThrow(/other\.yaml:1:1: is no part of the policy/);
  } finally {
    await stop();
  }
}, 60_000);

test('a policy is not written where another gateway answers, or without a configuration', async () => {
  const { policy, stop } = await startConfigured();
  try {
    await run('pull');
    await edit('datamarts/flights.yaml', 'label: Airports', 'label: All airports');
    await edit('policies/policy.yaml', 'expiryMinutes: 60', 'expiryMinutes: none');
    await expect(run('push')).rejects.toThrow(/a fault in the files, and nothing was done[\s\S]*expiryMinutes/);
    await edit('policies/policy.yaml', 'expiryMinutes: none', 'expiryMinutes: 30');
    vi.stubEnv('GUESTLIST_GATEWAY_TOKEN', product.credentials.gatewayToken);
    await expect(run('push')).rejects.toThrow(/reads .*flights\.yaml, not .*policy\.yaml, and nothing was done/);
    expect(await readFile(policy, 'utf8')).toContain('expiryMinutes: 60');
    expect(await run('plan')).toContain('"Airports" → "All airports"');
    vi.stubEnv('GUESTLIST_CONFIG', undefined);
    await expect(run('plan')).rejects.toThrow(/policy\.yaml:1:1: a policy is written where .* guestlist\.yaml/);
  } finally {
    await stop();
  }
}, 60_000);

test('a refused step stops the push, which says what is done and what is not', async () => {
  await run('pull');
  await edit('datamarts/flights.yaml', 'label: Airports', 'label: All airports');
  await edit('dashboards/delays.yaml', 'columnName: state', 'columnName: stat');
  await edit('dashboards/routes.yaml', 'gridMargin:', 'isAllowPrivateMetricsByDefault: true\ngridMargin:');
  const refused = run('push');
  await expect(refused).rejects.toMatchObject({ code: 1 });
  await expect(refused).rejects.toThrow(
    /Failed: change dashboard flights\/delays, because INVALID_DASHBOARD_DATA: [\s\S]*\nDone: change datamart flights\. Not done: change dashboard flights\/delays, change dashboard flights\/routes\./,
  );
  await edit('dashboards/delays.yaml', 'columnName: stat\n', 'columnName: state\n');
  expect(await run('push')).toBe(
    'change  dashboard flights/routes (dashboards/routes.yaml)\n  isAllowPrivateMetricsByDefault: false → true',
  );
}, 60_000);

test.each(blocksOfKind('definition').map((block) => ({ name: nameOf(block), block })))(
  'the file in $name is one that plan reads',
  async ({ block }) => {
    const [, kind = ''] = /\.schemas\/(\w+)\.json/.exec(block.text) ?? [];
    await mkdir(join(folder, `${kind}s`));
    await writeFile(join(folder, `${kind}s/one.yaml`), block.text);
    expect(await run('plan')).toMatch(new RegExp(`^(?:create|change) {2}${kind} `));
  },
);

test('a wrong call is named', async () => {
  await expect(run('plan')).rejects.toThrow(/has no datamarts\/\*\.yaml/);
  await expect(run('push', 'another')).rejects.toThrow("too many arguments for 'push'. Expected 1 argument but got 2.");
  await expect(run('pull', '--workspace', 'fligths')).rejects.toThrow('did you mean "flights"?');
});

test('differences name items of lists by what identifies them, and a changed order', () => {
  const before = { list: [{ name: 'a', x: 1 }, { name: 'b' }], points: [{ x: 1 }] };
  const after = { list: [{ name: 'b' }, { name: 'a', x: 2 }, { name: 'c' }], points: [{ x: 2 }] };
  expect(compare('', before, before)).toEqual([]);
  expect(compare('', before, after)).toEqual([
    { path: 'list[a].x', before: 1, after: 2 },
    { path: 'list[c]', before: undefined, after: { name: 'c' } },
    { path: 'list (order)', before: ['a', 'b'], after: ['b', 'a'] },
    { path: 'points[0].x', before: 1, after: 2 },
  ]);
});
