// Loaded by a process before anything else (`--import`, with `--expose-gc`): on SIGUSR2 it collects, and says what is left.
import { writeSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  // What the first collection let go of may have finalizers.
  setImmediate(() => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    writeSync(1, `heap after a collection: ${heapUsed + external}\n`);
  });
});
