/** The files that a browser loads: few, and all that a chart needs at once. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

  it('Inter is among them, with its licence, and only the chunk of the font names it', () => {
    const [latin = '', ...others] = readdirSync(join(folder, 'fonts')).filter((name) => name.endsWith('.woff2'));
    expect(latin).toMatch(/^inter-latin-\d+\.\d+\.\d+\.woff2$/);
    expect(others).toEqual([latin.replace('latin', 'latin-ext')]);
    expect(
      readFileSync(join(folder, 'fonts', latin))
        .subarray(0, 4)
        .toString(),
    ).toBe('wOF2');
    expect(readFileSync(join(folder, 'fonts/OFL.txt'), 'utf8')).toContain('SIL OPEN FONT LICENSE Version 1.1');
    const naming = chunks.filter(({ fileName }) =>
      readFileSync(join(folder, 'charts', fileName), 'utf8').includes(latin),
    );
    expect(naming.map(({ name }) => name)).toEqual(['own-font']);
    expect(script).not.toContain(latin);
  });

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
