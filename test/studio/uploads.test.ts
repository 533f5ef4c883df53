/** Uploads in Studio: who may, what is refused before a byte is read, and that nothing stays of what does not succeed. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUploads } from '../../src/compose/uploads.js';
import type { Datasource } from '../../src/model/organization.js';
import { studioRoles } from '../../src/model/person.js';
import { sliceOf } from '../../src/model/slices.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import type { Dispatch } from '../../src/platform/http/wire/bind.js';
import { personWith, type StudioServer, startStudioServer } from './studio-server.js';

const clock = { now: () => new Date() };
let dataDir: string;
let server: StudioServer;
let headers: Readonly<Record<string, string>>;
/** The sources of the service, as its own operations would keep them. */
const kept = new Map<string, Datasource>();
let refusesSources = false;

const datasources = {
  findByName: async (name: string) => kept.get(name),
  list: () => sliceOf([...kept.values()]),
} as never;
const settingsWith = (changed: object) => ({ ...defaultSettings(), dataDir, ...changed });
const studioWith = (uploadMegabytes: number | null) => ({ studio: { ...defaultSettings().studio, uploadMegabytes } });

const dispatch: Dispatch = async ({ readBody }) => {
  const answered = { headers: {}, contentType: 'application/json', operation: 'any' };
  const refused = { code: 'DATASOURCE_CONNECTION_ERROR', reason: 'datasource-unavailable' } as never;
  if (refusesSources) return { ...answered, status: 400, body: { error: { code: 'X' } }, refused };
  const body = await readBody?.({ maxBytes: 1_000_000, multipart: undefined });
  const { credentials } = body as { credentials: { name: string; path: string } };
  kept.set(credentials.name, { datasourceType: 'DUCKDB', ...credentials } as never);
  return { ...answered, status: 200, body: { name: credentials.name } };
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'guestlist-uploads-'));
  const uploads = createUploads(settingsWith(studioWith(1)), { datasources }, clock);
  server = await startStudioServer(clock, null, undefined, { uploads, dispatch });
  headers = { ...(await server.as(personWith(['author']))), 'content-type': 'application/octet-stream' };
});
beforeEach(() => {
  kept.clear();
  refusesSources = false;
  server.audited.length = 0;
  server.dispatched.length = 0;
});
afterAll(async () => {
  server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const folder = () => join(dataDir, 'sources', 'uploads');
const left = async (): Promise<readonly string[]> => readdir(folder()).catch(() => []);
const pathOf = (name: string): string => {
  const source = kept.get(name);
  if (source?.datasourceType !== 'DUCKDB') throw new Error(`no file of ${name}`);
  return source.path;
};
type Answer = { readonly status: number; readonly message: string };
const send = async (
  body: string | Buffer,
  { source = 'sales', file = 'sales.csv', method = 'POST', given = headers, url = server.url } = {},
): Promise<Answer> => {
  const query = new URLSearchParams({ source, file });
  const answer = await fetch(`${url}/studio/uploads?${query}`, {
    method,
    headers: given,
    body: new Uint8Array(Buffer.from(body)),
  });
  const { error } = (await answer.json()) as { error?: { message?: string } | null };
  return { status: answer.status, message: error?.message ?? '' };
};

const isJson = { 'content-type': 'application/json' };

test.each(studioRoles)('the role %s uploads files only if it builds sources', async (role) => {
  const own = { ...(await server.as(personWith([role]))), 'content-type': 'application/octet-stream' };
  const before = await left();
  const status = ['owner', 'author'].includes(role) ? 200 : 403;
  server.audited.length = 0;
  expect((await send('id\n1\n', { given: own })).status).toBe(status);
  // Who may not upload is refused before the file is read.
  expect(server.audited.some(({ detail }) => detail?.command === 'upload-file')).toBe(status === 200);
  expect(
    (
      await fetch(`${server.url}/studio/commands/uploads-list`, {
        method: 'POST',
        headers: { ...own, ...isJson },
        body: '{}',
      })
    ).status,
  ).toBe(status);
  expect((await left()).length - before.length).toBe(status === 200 ? 1 : 0);
});

test('a file becomes a source by the ordinary operation, in the name of the organization, and is in the audit', async () => {
  expect((await send('id,tenant\n1,acme\n', { source: '../../etc', file: '../../../x.csv' })).status).toBe(200);
  expect(server.dispatched).toMatchObject([
    { method: 'POST', path: '/api/v2/datasource', caller: { kind: 'serviceToken' } },
  ]);
  expect(server.audited).toMatchObject([
    { kind: 'admin', code: 'OK', detail: { command: 'upload-file', source: '../../etc', step: 'asked' } },
    { kind: 'admin', code: 'OK', detail: { command: 'createDatasource', step: 'asked' } },
  ]);
  expect(pathOf('../../etc')).toMatch(new RegExp(`^${folder()}/[0-9a-f-]{36}/tables\\.duckdb$`));
  expect((await readdir(dirname(pathOf('../../etc')))).length).toBe(1);
});

test('a newer file replaces the earlier one, whose folder goes; another kind, source or name is refused', async () => {
  await send('id\n1\n');
  const first = pathOf('sales');
  expect(await send('id\n1\n')).toMatchObject({ status: 400, message: expect.stringContaining('already') });
  expect((await send('id\n2\n', { method: 'PUT' })).status).toBe(200);
  expect(server.dispatched.at(-1)).toMatchObject({ method: 'PUT', path: '/api/v2/datasource' });
  expect(pathOf('sales')).not.toBe(first);
  await expect(readdir(dirname(first))).rejects.toMatchObject({ code: 'ENOENT' });
  expect((await send('id\n2\n', { method: 'PUT', source: 'none' })).status).toBe(404);
  const other = join(dataDir, 'sources', 'own.duckdb');
  kept.set('own', { datasourceType: 'DUCKDB', name: 'own', path: other } as never);
  expect(await send('id\n2\n', { method: 'PUT', source: 'own' })).toMatchObject({
    status: 400,
    message: expect.stringContaining('not uploaded'),
  });
  expect(pathOf('own')).toBe(other);
});

test('the file of a source goes with the source, and only if the source is gone', async () => {
  await send('id\n1\n');
  await send('id\n1\n', { source: 'other' });
  const path = pathOf('sales');
  const deletes = (isGone: boolean) => async () => {
    if (isGone) kept.delete('sales');
    return { status: 200, headers: {}, contentType: 'application/json', body: {}, operation: 'any' };
  };
  for (const isGone of [false, true]) {
    const uploads = createUploads(settingsWith(studioWith(1)), { datasources }, clock);
    const deleting = await startStudioServer(clock, null, undefined, {
      uploads,
      dispatch: deletes(isGone) as Dispatch,
    });
    const asked = { ...(await deleting.as(personWith(['author']))) };
    await fetch(`${deleting.url}/studio/api/v2/datasource?name=sales`, { method: 'DELETE', headers: asked });
    deleting.close();
    expect((await readdir(dirname(path)).catch(() => [])).length).toBe(isGone ? 0 : 1);
  }
  expect((await readFile(pathOf('other'))).length).toBeGreaterThan(0);
});

describe('nothing stays of a file', () => {
  const untouched = async (work: () => Promise<unknown>): Promise<void> => {
    const before = await left();
    await work();
    expect(await left()).toEqual(before);
    expect(kept.size).toBe(0);
  };

  test('nothing stays of a file that is refused by its content', () =>
    untouched(async () => {
      expect(await send('{"id":1}')).toMatchObject({ status: 400, message: expect.stringContaining('JSON') });
      expect(server.audited.map(({ code }) => code)).toEqual(['OK', 'INVALID_REQUEST_BODY']);
    }));

  test('nothing stays of a file whose source is refused', () =>
    untouched(async () => {
      refusesSources = true;
      expect((await send('id\n1\n')).status).toBe(400);
      const refused = 'DATASOURCE_CONNECTION_ERROR';
      expect(server.audited.map(({ code }) => code)).toEqual(['OK', 'OK', refused, refused]);
    }));

  test('nothing stays of a file that is too large, by its announced length or by what arrives', () =>
    untouched(async () => {
      const large = randomBytes(1_048_577);
      expect((await send(large)).status).toBe(413);
      expect(await chunked(large)).toBe(413);
    }));

  test('nothing stays of a file that is cut off', () =>
    untouched(async () => expect(await chunked(randomBytes(300_000), true)).toBe('cut')));
});

/** Sends a body without its length, and answers the status; or cuts the connection after half of it. */
const chunked = async (body: Buffer, cuts = false): Promise<number | 'cut'> => {
  const before = server.audited.length;
  const status = await new Promise<number | 'cut'>((resolve) => {
    const asking = httpRequest(`${server.url}/studio/uploads?source=cut&file=cut.csv`, { method: 'POST', headers });
    asking.on('response', (answer) => resolve(answer.statusCode ?? 0)).on('error', () => resolve('cut'));
    asking.write(body, () => (cuts ? asking.destroy() : asking.end()));
  });
  // The refusal is recorded when everything is removed.
  while (server.audited.length < before + 2) await new Promise((resolve) => setImmediate(resolve));
  return status;
};

test.each([
  [{ 'content-type': 'text/csv' }, 400],
  [{ 'content-type': 'multipart/form-data; boundary=x' }, 400],
  [{ 'content-encoding': 'gzip' }, 400],
])('a body with %j is refused before it is read', async (other, status) => {
  expect((await send('id\n1\n', { given: { ...headers, ...other } })).status).toBe(status);
  expect(server.audited).toEqual([]);
});

test.each(['', '?source=a', '?file=a', '?source=&file=a', '?source=a&file=a&path=/etc/x'])(
  'the query %s is refused',
  async (query) => {
    const answer = await fetch(`${server.url}/studio/uploads${query}`, { method: 'POST', headers, body: 'id\n1\n' });
    expect(answer.status).toBe(400);
  },
);

test.each([
  ['by default with a shared database', { databaseUrl: 'postgres://db/x' }, 'databaseUrl'],
  ['if they are turned off', studioWith(0), 'studio.uploadMegabytes'],
])('files are refused %s, with the setting', async (_, changed, named) => {
  const uploads = createUploads(settingsWith(changed), { datasources }, clock);
  const closed = await startStudioServer(clock, null, undefined, { uploads, dispatch });
  const own = { ...(await closed.as(personWith(['author']))), 'content-type': 'application/octet-stream' };
  const { status, message } = await send('id\n1\n', { given: own, url: closed.url });
  expect([status, kept.size]).toEqual([409, 0]);
  expect(message).toContain(named);
  const { data } = (await (
    await fetch(`${closed.url}/studio/commands/uploads-list`, {
      method: 'POST',
      headers: { ...own, ...isJson },
      body: '{}',
    })
  ).json()) as {
    data: { refusal: string };
  };
  expect(data.refusal).toBe(message);
  closed.close();
});

test('of two files for one source at once, one waits for its turn elsewhere', async () => {
  const answers = await Promise.all([send('id\n1\n'), send('id\n2\n')]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429]);
});
