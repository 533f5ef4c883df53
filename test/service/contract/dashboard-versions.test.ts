import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { encodeExport } from '../../../src/service/dashboards/contract/export.js';
import { importedData, readExport } from '../../../src/service/dashboards/contract/versions.js';

const json = async (path: string) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'));

describe('version 1', () => {
  test('a file that it wrote is, upgraded, what version 2 wrote, and is written as this one', async () => {
    const [old, now] = [await json('../../fixtures/dashboard-v1.json'), await json('../../../config/demo/delays.json')];
    expect([old._meta.version, now._meta.version]).toEqual([1, 2]);
    // Translations came later.
    const { metadata: _, ...untranslated } = now.data;
    expect(readExport(old)).toEqual(readExport({ ...now, data: untranslated }));
    expect(encodeExport(readExport(old))).toMatchObject({ _meta: { ...now._meta, version: 3 }, data: { version: 3 } });
  });

  test('does not take what only version 2 knows', async () => {
    const { data } = await json('../../../config/demo/delays.json');
    expect(importedData.safeParse({ ...data, version: 1 }).success).toBe(false);
    expect(importedData.safeParse({ ...data, version: undefined }).success).toBe(true);
  });
});

test('what is written is read back as it was, bare and in its envelope', async () => {
  const exported = readExport(await json('../../../config/demo/routes.json'));
  const written = JSON.parse(JSON.stringify(encodeExport(exported)));
  expect(readExport(written)).toEqual(exported);
  expect(importedData.parse(written.data)).toEqual(exported.content);
});
