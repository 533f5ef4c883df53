// Loaded into a server before its own code: the first SIGUSR2 starts a profile of the processor's time, the second writes it to BENCH_PROFILE.
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
