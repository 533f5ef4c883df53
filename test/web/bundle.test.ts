/** The files that a browser loads: few, and all that a chart needs at once. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleElements, type Chunk } from '../../web-bundle.mjs';

describe('the files of the elements', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-bundle-'));
  let chunks: readonly Chunk[];
  let script: string;

  beforeAll(async () => {
    chunks = (await bundleElements(folder)).filter(({ fileName }) => fileName !== 'elements.js');
    script = readFileSync(join(folder, 'elements.js'), 'utf8');
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const chunkOf = (name: string): Chunk | undefined => chunks.find((each) => each.name === name);
  const families = ['boxplot', 'cartesian', 'columns', 'gauge', 'parts', 'sankey', 'scatter'];

  it('a chart needs its family, the engine of all charts, and one file that the controls need too', () => {
    const shared = chunkOf('controls')?.imports ?? [];
    expect(shared).toHaveLength(1);
    const engine = chunkOf('echarts')?.fileName;
    for (const family of families) expect(chunkOf(family)?.imports.toSorted()).toEqual([engine, ...shared].toSorted());
    expect(chunkOf('echarts')?.imports).toEqual([]);
  });

  it('the script asks for all files of a chart with the first of them', () => {
    for (const family of families) {
      const { fileName = '', imports = [] } = chunkOf(family) ?? {};
      const at = script.indexOf(`\`./charts/${fileName}\``);
      const before = script.slice(script.lastIndexOf('=>(import(', at), at);
      expect(before.length, family).toBeLessThan(200);
      for (const part of imports) expect(before, `${family}: ${part}`).toContain(part);
    }
  });
});
