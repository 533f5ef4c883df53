// Preloaded into a product by path.mjs. Each SIGUSR2 writes which functions ran since the previous one, and starts
// counting again.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result
    .filter(({ url }) => url.includes('/dist/'))
    .map(({ url, functions }) => ({
      url,
      // A complete module appears as a function without a name at offset 0, which ran when the module was loaded.
      offsets: functions.flatMap(({ ranges: [{ startOffset, count }] }) => (count > 0 ? [startOffset] : [])),
    }));
  const file = process.env.COVERAGE_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(ran));
  renameSync(`${file}.part`, file);
});
