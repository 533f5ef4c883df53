// Builds a rollup until it is killed: the parent of a process of a build.
import { createEngine } from '../../dist/engine/engine.js';

process.once('message', async ({ folder, place }) => {
  const engine = createEngine({
    ...{ clock: { now: () => new Date() }, log: { warn: () => {}, error: () => {} }, assertReachable: async () => {} },
    rollups: {
      ...{ folder, limits: { memoryMegabytes: 128, diskMegabytes: 128 }, tailRows: 10 },
      processes: { environment: {}, niceness: 0 },
    },
  });
  await engine.rollups.build(place, new AbortController().signal);
});
