// Preloaded into a server: the first SIGUSR2 starts a CPU profile, the second writes it to BENCH_PROFILE.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
let isRunning = false;
process.on('SIGUSR2', async () => {
  if (!isRunning) {
    isRunning = true;
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(process.env.BENCH_PROFILE, JSON.stringify(profile));
});
