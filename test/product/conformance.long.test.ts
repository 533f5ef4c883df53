/**
 * The conformance kit against the built product: it finds no fault there, it finds faults that a proxy makes, and it
 * cleans up.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { operations as named } from '../../src/conformance/kit/operations.js';
import { operations } from '../../src/service/operations.js';
import { get, post } from './guest.js';
import { openMeddler, type Spoil } from './meddler.js';
import { type Product, runToEnd, startProduct } from './product.js';

type Outcome = {
  readonly operation: keyof typeof named;
  readonly sentence: string;
  readonly result: 'holds' | 'fails' | 'not tried';
  readonly message?: string;
  readonly request?: string;
  readonly answer?: string;
};
type Report = { readonly outcomes: readonly Outcome[]; readonly left: readonly string[] };

let product: Product;
beforeAll(async () => {
  product = await startProduct({ env: { GUESTLIST_LOG_LEVEL: 'silent' } });
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const argsFor = (url: string, ...more: readonly string[]): readonly string[] => [
  'conformance',
  ...['--base-url', url, '--service-token', product.credentials.serviceToken],
  ...['--api-key', product.credentials.demoApiKey, '--data-app', 'flights', '--client', 'LAX', '--json'],
  ...more,
];

const run = async (url: string, ...more: readonly string[]) => {
  const { code, output } = await runToEnd(argsFor(url, ...more), {});
  const report: Report = JSON.parse(output);
  const failures = report.outcomes.filter(({ result }) => result === 'fails');
  return { code, output, report, failures, sentences: failures.map(({ sentence }) => sentence) };
};

/**
 * The contract's names of operations that the kit names differently. An operation that the service does not offer is
 * not a failure.
 */
const contractNames: Readonly<Record<string, string>> = { 'read-semantic-layer': 'getSemanticLayer' };
const isBound = (id: string): boolean =>
  Object.hasOwn(operations, contractNames[id] ?? id.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));

/** Everything that a run could leave behind, as the lists show it. */
const everything = async (): Promise<readonly unknown[]> => {
  const { serviceToken, demoApiKey } = product.credentials;
  const api = `${product.url}/api/v2`;
  const flights = { workspaceName: 'flights' };
  return Promise.all(
    [
      get(`${api}/data-app`, serviceToken),
      get(`${api}/workspace`, serviceToken),
      get(`${api}/data-app/datamarts`, serviceToken),
      get(`${api}/data-app/embeds`, demoApiKey),
      post(`${api}/workspace/dashboards`, flights, demoApiKey),
      post(`${api}/workspace/metrics`, flights, demoApiKey),
    ].map(async (answer) => (await answer).body),
  );
};

describe('against the built product', { timeout: 240_000 }, () => {
  test('nothing fails, nothing is left, and no credential is shown', async () => {
    const before = await everything();
    const { code, output, report, failures } = await run(product.url);
    expect(failures.filter(({ operation }) => isBound(operation))).toEqual([]);
    expect(report.outcomes.length).toBeGreaterThan(300);
    for (const secret of [product.credentials.serviceToken, product.credentials.demoApiKey]) {
      expect(output).not.toContain(secret);
    }
    expect(await everything()).toEqual(before);
    expect(report.left).toEqual([]);
    expect(code).toBe(0);
  });

  test("the conformance run's own additions hold for the built product", async () => {
    const { failures, report } = await run(product.url, '--ours', '--only', 'additions');
    expect(failures).toEqual([]);
    expect(report.outcomes.filter(({ result }) => result === 'not tried')).toEqual([]);
  });

  test('workspaces, which no operation deletes, are made only when asked for, and named', async () => {
    const { failures, report } = await run(product.url, '--make-workspaces', '--only', '12');
    expect(failures).toEqual([]);
    expect(report.outcomes.filter(({ result }) => result === 'not tried')).toEqual([]);
    expect(report.left.length).toBeGreaterThan(0);
    for (const thing of report.left) expect(thing).toMatch(/^workspace conf[0-9a-f]{8}/);
  });
});

/** Replaces the answer of this request. */
const onAnswer =
  (
    method: string,
    path: string,
    status: number,
    change: (body: Record<string, unknown>) => object,
    as = status,
  ): Spoil =>
  (reply, request) =>
    request.method === method && request.path === path && reply.status === status
      ? { status: as, body: change(reply.body as Record<string, unknown>) }
      : reply;

const recode =
  (from: string, to: string): Spoil =>
  (reply) => ({
    ...reply,
    body: JSON.parse(JSON.stringify(reply.body).replaceAll(`"${from}"`, `"${to}"`)),
  });

const dropped =
  (name: string) =>
  ({ [name]: _, ...rest }: Record<string, unknown>): object =>
    rest;

type FaultCase = {
  readonly fault: string;
  readonly only: keyof typeof named;
  readonly spoil: Spoil;
  readonly sentence: RegExp;
};

const faults: readonly FaultCase[] = [
  {
    fault: 'a code is another',
    only: 'create-data-app',
    spoil: recode('DATA_APP_ALREADY_EXISTS', 'NAME_TAKEN'),
    sentence: /^DATA_APP_ALREADY_EXISTS/,
  },
  {
    fault: 'a field is missing',
    only: 'create-embed',
    spoil: onAnswer('POST', '/api/v2/data-app/embeds', 200, dropped('error')),
    sentence: /^Response 200: \{id: string, error: null\}/,
  },
  {
    fault: 'a status is another',
    only: 'create-embed',
    spoil: onAnswer('POST', '/api/v2/data-app/embeds', 404, (body) => body, 400),
    sentence: /^404 dashboard not found/,
  },
  {
    fault: 'a field has another type',
    only: 'create-guest-token',
    spoil: onAnswer('POST', '/api/v2/guest-token/create', 200, () => ({ token: 7 })),
    sentence: /^Response 200: \{token: string\}/,
  },
  {
    fault: 'unknown fields are let through',
    only: 'create-guest-token',
    spoil: (reply, { body }) => (body.includes('"tenant_id"') ? { status: 200, body: { token: 'x' } } : reply),
    sentence: /^tenant_id may not be/,
  },
  {
    fault: 'every key is a good one',
    only: 'list-metrics',
    spoil: (reply) => (reply.status === 401 ? { status: 200, body: { data: [], error: null } } : reply),
    sentence: /^an invalid credential/,
  },
  {
    fault: 'the legacy path answers a name',
    only: 'create-dashboard-embed',
    spoil: onAnswer('POST', '/api/v2/dataApp/dashboard-embeds', 200, (body) => ({ ...body, name: 'x' })),
    sentence: /^the legacy path returns id and error only/,
  },
  {
    fault: 'an error is no envelope',
    only: 'list-dashboards',
    spoil: (reply) => (reply.status === 400 ? { status: 400, body: { code: 'WORKSPACE_ID_ERROR' } } : reply),
    sentence: /^WORKSPACE_ID_ERROR/,
  },
  {
    fault: 'rows have columns that metaData lacks',
    only: 'query-metric',
    spoil: onAnswer('POST', '/api/v2/data-app/query', 200, (body) => ({ ...body, data: [{ stray: 1 }] })),
    sentence: /^data are row objects/,
  },
];

describe('a fault is found', () => {
  test.each(faults)('the conformance run finds the fault: $fault', async ({ only, spoil, sentence }) => {
    const clean = await run(product.url, '--only', only);
    expect(clean.sentences.filter((found) => sentence.test(found))).toEqual([]);
    const meddler = await openMeddler(product.url, spoil);
    const { code, failures, output } = await run(meddler.url, '--only', only);
    await meddler.close();
    expect(code).toBe(1);
    const found = failures.find((failure) => sentence.test(failure.sentence));
    expect(found, output.slice(0, 2000)).toMatchObject({
      operation: only,
      request: expect.stringContaining('/api/v2/'),
    });
    expect(found?.answer).toMatch(/^\d{3} /);
  });
});

describe('a run that is stopped', () => {
  test('removes what it made, and says what was not tried', async () => {
    const before = await everything();
    const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
    let stop = (): void => {};
    const meddler = await openMeddler(product.url, undefined, (count) => {
      if (count === 120) stop();
    });
    const child = spawn(process.execPath, [entry, ...argsFor(meddler.url)]);
    stop = () => void child.kill('SIGINT');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, 'close');
    await meddler.close();
    const { outcomes, left }: Report = JSON.parse(output);
    expect(code).toBe(1);
    expect(left).toEqual([]);
    expect(outcomes.filter(({ message }) => message === 'the run was stopped').length).toBeGreaterThan(50);
    expect(await everything()).toEqual(before);
  });

  test('what cannot be removed is named', async () => {
    const meddler = await openMeddler(product.url, (reply, { method, path }) =>
      method === 'DELETE' && path === '/api/v2/data-app'
        ? { status: 500, body: { error: { code: 'INTERNAL_SERVER_ERROR', message: 'no' } } }
        : reply,
    );
    const { report } = await run(meddler.url, '--only', 'create-guest-token');
    await meddler.close();
    expect(report.left).toEqual([expect.stringMatching(/^data app conf[0-9a-f]{8}app$/)]);
  });
});

describe('called wrongly', () => {
  test.each([
    [['conformance'], '--base-url'],
    [['conformance', '--base-url', 'nowhere', '--service-token', 'x'], '--base-url'],
    [['conformance', '--base-url', 'http://127.0.0.1:9'], '--service-token'],
    [['conformance', '--base-url', 'http://127.0.0.1:9', '--service-token', 'x', '--only', '17'], 'no operation "17"'],
    [['conformance', '--nonsense'], 'nonsense'],
  ])('%j ends with 2', async (args, said) => {
    const { code, output } = await runToEnd(args, {});
    expect(code).toBe(2);
    expect(output).toContain(said);
  });

  test('--help says how, and the table is for reading', async () => {
    expect((await runToEnd(['conformance', '--help'], {})).output).toContain('guestlist conformance --base-url URL');
    const args = argsFor(product.url, '--only', '13').filter((arg) => arg !== '--json');
    const { code, output } = await runToEnd(args, {});
    expect(code).toBe(0);
    expect(output).toMatch(/13 {2}list-dashboards +\d+ +0 +0/);
  });
});
