/** A client that was generated from the served document passes type checking, and works with the built product. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { type House, openHouse } from '../spec/house.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');

type Ended = { readonly code: number; readonly output: string };

const run = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) =>
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: error === null ? stdout : `${stdout}${stderr}` }),
    ),
  );

let house: House;
let folder: string;
beforeAll(async () => {
  house = await openHouse();
  folder = await mkdtemp(join(tmpdir(), 'guestlist-client-'));
  await cp(join(here, 'program'), folder, { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const { text } = await request(`${house.url()}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), text);
  const { code, output } = await run(join(root, 'packages/openapi-types.mjs'), join(folder, 'openapi.json'));
  if (code !== 0) throw new Error(output);
  await writeFile(join(folder, 'api.d.ts'), output);
});
afterAll(async () => {
  await house.close();
  await rm(folder, { recursive: true, force: true });
});

test('a program over the generated types compiles', async () => {
  expect(await run(compiler, '-p', folder)).toEqual({ code: 0, output: '' });
});

test('a program over the generated types works against the product', async () => {
  const ended = await run(join(folder, 'program.js'), house.url(), house.apiKey, house.serviceToken);
  expect(ended.code, ended.output).toBe(0);
  expect(JSON.parse(ended.output)).toEqual({
    made: 'generated',
    code: 'DATA_APP_ALREADY_EXISTS',
    status: 400,
    embed: 'generated',
    isNamed: true,
    records: expect.any(Number),
    embeds: ['generated'],
  });
});

test('the program does not compile where the document lacks a field: the check can fail', async () => {
  const types = join(folder, 'api.d.ts');
  const text = await readFile(types, 'utf8');
  await writeFile(types, text.replaceAll('totalRecords', 'total'));
  expect((await run(compiler, '-p', folder)).output).toContain("Property 'totalRecords' does not exist");
});
