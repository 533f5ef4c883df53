/** A datasource's password is in no answer, no log line of any level, and no file. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from './guest.js';
import { type Product, startProduct } from './product.js';

const password = `pass-${randomUUID()}`;
let folder: string;
let product: Product;
/** A server that accepts connections and closes them, so that the driver's error is logged. */
let rude: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-secrets-'));
  rude = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end('no database\n'),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => rude.once('listening', resolve));
  const file = join(folder, 'guestlist.yaml');
  await writeFile(file, 'datasources: { allowedHosts: ["127.0.0.1", "nowhere.invalid"] }\n');
  product = await startProduct({
    isEmbedded: true,
    args: ['--only', 'service'],
    env: { GUESTLIST_CONFIG: file, GUESTLIST_LOG_LEVEL: 'debug' },
  });
});
afterAll(async () => {
  await product.stop();
  await new Promise((resolve) => rude.close(resolve));
  await product.remove();
  await rm(folder, { recursive: true, force: true });
});

const send = (method: string, body: unknown) =>
  request(`${product.url}/api/v2/datasource`, {
    method,
    headers: { authorization: `Bearer ${product.credentials.serviceToken}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const portOf = (server: Server): number => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it does not listen');
  return address.port;
};

const filesIn = async (path: string): Promise<readonly string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('whatever fails, the password is nowhere', async () => {
  const credentials = { name: 'shop', host: '127.0.0.1', port: portOf(rude), username: 'u', password, database: 'd' };
  const server = (parts: object = {}, datasourceType = 'POSTGRES') => ({
    datasourceType,
    credentials: { ...credentials, ...parts },
  });
  const bodies: readonly unknown[] = [
    server(),
    server({}, 'MYSQL'),
    server({ isSsl: true }),
    server({ port: 9 }),
    server({ host: 'nowhere.invalid' }),
    server({ host: 'db.example.com' }),
    server({ port: 'x' }),
    server({ password: [password] }),
    server({ password: { password } }),
    { ...server(), datasourceType: 'ORACLE' },
    `{"credentials": {"password": "${password}", oops`,
    `{"credentials": {"password": "${password}"`,
  ];
  for (const method of ['POST', 'PUT']) {
    for (const [index, body] of bodies.entries()) {
      const answer = await send(method, body);
      expect(answer.status, `${method} ${index}`).toBe(400);
      expect(answer.text, `${method} ${index}`).not.toContain(password);
    }
  }
  const listed = await request(`${product.url}/api/v2/datasource`, {
    headers: { authorization: `Bearer ${product.credentials.serviceToken}` },
  });
  expect([listed.status, listed.body]).toEqual([200, { data: [] }]);
  await product.stop();
  expect(product.output()).toContain('datasource');
  expect(product.output()).not.toContain(password);
  const files = await filesIn(product.dataDir);
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) expect((await readFile(file)).includes(password), file).toBe(false);
}, 120_000);
