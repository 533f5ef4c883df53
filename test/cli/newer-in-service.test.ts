/** What a folder may overwrite in the service, and a pull in the folder: only what the other side has had. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Definition, namedContent, pullFolder, readFolder } from '../../src/cli/files/folder.js';
import { canonicalDatamart, type DatamartFile, datamartFile } from '../../src/cli/files/formats.js';
import { addKnown, readKnown } from '../../src/cli/files/known.js';
import { planSteps, planText, sameInBoth } from '../../src/cli/files/plan.js';
import type { Stored } from '../../src/cli/files/service.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-known-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const mart = (label: string): DatamartFile =>
  canonicalDatamart(
    datamartFile.parse({
      ...{ name: 'shop', datasourceName: 'shop', relationships: [], sharedTables: [] },
      tableList: [{ name: 'orders', schemaName: 'main', label, columns: [{ name: 'id' }] }],
    }),
  );
const storedMart = (label: string): Definition => ({ kind: 'datamart', value: mart(label) });
const service = (label: string): Stored => ({
  ...{ datasources: ['shop'], workspaces: [], datamarts: [mart(label)] },
  ...{ dashboards: [], embeds: undefined, policy: undefined },
});
const pull = async (label: string, isOverwriting = false) =>
  pullFolder(folder, await readFolder(folder), [storedMart(label)], isOverwriting);
const plan = async (label: string) =>
  planSteps(await readFolder(folder), service(label), await readKnown(folder), false);
const file = () => join(folder, 'datamarts/shop.yaml');
const edit = async (from: string, to: string): Promise<void> =>
  writeFile(file(), (await readFile(file(), 'utf8')).replace(from, to));

test('a push may overwrite what was pulled, and not what somebody changed since', async () => {
  await pull('Orders');
  await edit('label: Orders', 'label: Mine');
  expect(await plan('Orders')).toMatchObject([{ action: 'change' }]);
  expect(await plan('Orders')).not.toMatchObject([{ isNewer: true }]);
  expect(await plan('Theirs')).toMatchObject([{ action: 'change', isNewer: true }]);
  expect(planText(await plan('Theirs'))).toContain('changed in the service since');
});

test('what was pushed may be overwritten by the next push, in another service too', async () => {
  await pull('Orders');
  await edit('label: Orders', 'label: Second');
  await addKnown(folder, sameInBoth(await plan('Second')).map(namedContent));
  await edit('label: Second', 'label: Third');
  for (const label of ['Orders', 'Second']) expect(await plan(label)).not.toMatchObject([{ isNewer: true }]);
});

test('a file that nobody pulled may overwrite nothing', async () => {
  await pull('Orders');
  await rm(join(folder, '.known.json'));
  await edit('label: Orders', 'label: Mine');
  expect(await plan('Orders')).toMatchObject([{ isNewer: true }]);
  expect(await plan('Mine')).toMatchObject([{ action: 'unchanged' }]);
});

test('a pull keeps a file that was edited here, and says if the service has something newer', async () => {
  await pull('Orders');
  await edit('label: Orders', 'label: Mine');
  expect(await pull('Orders')).toEqual([{ file: 'datamarts/shop.yaml', name: 'datamart shop', action: 'kept' }]);
  expect(await pull('Theirs')).toMatchObject([{ action: 'kept', isNewer: true }]);
  expect(await readFile(file(), 'utf8')).toContain('label: Mine');
  expect(await plan('Theirs')).toMatchObject([{ isNewer: true }]);
  expect(await pull('Theirs', true)).toMatchObject([{ action: 'written' }]);
  expect(await readFile(file(), 'utf8')).toContain('label: Theirs');
});

test('a pull writes a file anew that nobody edited, and a second pull changes nothing', async () => {
  await pull('Orders');
  expect(await pull('Theirs')).toMatchObject([{ action: 'written' }]);
  const before = await readFile(join(folder, '.known.json'), 'utf8');
  expect(await pull('Theirs')).toMatchObject([{ action: 'unchanged' }]);
  expect(await readFile(join(folder, '.known.json'), 'utf8')).toBe(before);
  expect(await readdir(folder)).toContain('.known.json');
});

test('the oldest contents are forgotten, and a record that cannot be read is refused', async () => {
  for (let at = 0; at < 25; at += 1) await addKnown(folder, [{ name: 'datamart shop', content: at }]);
  expect((await readKnown(folder)).get('datamart shop')).toHaveLength(20);
  await writeFile(join(folder, '.known.json'), '<<<<<<< HEAD');
  await expect(readKnown(folder)).rejects.toThrow(/\.known\.json cannot be read: take it from version control/);
});
