/** Where the command line sends the operator's token. Run as built, in folders of others. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
const token = '3f0b7c5e-2d1a-4c8e-9a67-5b1d2e3f4a5b';
let folder: string;
const received: (string | undefined)[] = [];
const listener = createServer((request, response) => {
  received.push(request.headers.authorization);
  response.end('{}');
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-folder-'));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
});
afterAll(async () => {
  listener.close();
  await rm(folder, { recursive: true });
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly code: number; readonly err: string }>((resolve) => {
    const options = { cwd: folder, env: { ...process.env, GUESTLIST_SERVICE_TOKEN: token, ...env } };
    execFile(process.execPath, [bin, ...args], options, (error, _, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, err }),
    );
  });

test('a configuration that was only found in the folder cannot send the token to another machine', async () => {
  // An address for documentation (RFC 5737): nothing answers there.
  await writeFile(join(folder, 'guestlist.yaml'), 'server: { host: 192.0.2.1, port: 3000 }\n');
  for (const command of [
    ['datasources', 'list'],
    ['tenancy', 'shop'],
  ]) {
    expect(await run(command)).toEqual({
      code: 1,
      err: 'guestlist: guestlist.yaml of this folder names the server http://192.0.2.1:3000, which is not this machine. To send your token there, add --url http://192.0.2.1:3000.\n',
    });
  }
});

test('--url and this machine are asked', async () => {
  const { port } = listener.address() as AddressInfo;
  await run(['datasources', 'list', '--url', `http://127.0.0.1:${port}`]);
  await writeFile(join(folder, 'guestlist.yaml'), `server: { host: 127.0.0.1, port: ${port} }\n`);
  await run(['datasources', 'list']);
  expect(received).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
});
