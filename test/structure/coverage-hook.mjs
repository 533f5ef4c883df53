// Loaded into a product by path.mjs: at each SIGUSR2 it writes which functions ran since the one before, and counts anew.
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
      // The function that is a whole module has no name and starts at 0: it ran when the module was loaded.
      offsets: functions.flatMap(({ ranges: [{ startOffset, count }] }) => (count > 0 ? [startOffset] : [])),
    }));
  const file = process.env.COVERAGE_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(ran));
  renameSync(`${file}.part`, file);
});
