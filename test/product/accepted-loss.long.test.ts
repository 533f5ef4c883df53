import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runToEnd, startProduct } from './product.js';

test('a loss that was accepted is in an audit that verifies', async () => {
  const first = await startProduct({ isEmbedded: true });
  const { dataDir } = first;
  expect(await first.stop()).toBe(0);
  const mark = join(dataDir, 'metadata.mark');
  const text = await readFile(mark, 'utf8');
  await writeFile(mark, text.replace(/"seq":\d+/, '"seq":99999'));
  const { code, output } = await runToEnd(['serve'], { GUESTLIST_DATA_DIR: dataDir });
  expect([code, output]).toEqual([1, expect.stringMatching(/metadata\.mark was changed.*--accept-loss/s)]);
  const again = await startProduct({ dataDir, args: ['--accept-loss'] });
  const env = { GUESTLIST_DATA_DIR: dataDir };
  const [verified, exported] = await Promise.all([
    runToEnd(['audit', 'verify', '--url', again.url], env),
    runToEnd(['audit', 'export', '--url', again.url], env),
  ]);
  expect(verified.code).toBe(0);
  expect(exported.output).toContain('LOSS_ACCEPTED');
  await again.stop();
  await again.remove();
});
