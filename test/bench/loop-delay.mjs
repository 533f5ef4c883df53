/**
 * Loaded into a server before it (`node --import`): measures how long its event loop is blocked, and reports it over IPC on request. Once by the
 * clock, and once in processor time of the loop's own thread (Linux), which a busy machine does not stretch.
 */
import { existsSync, openSync, readSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

const schedstat = existsSync('/proc/self/schedstat') ? openSync('/proc/self/schedstat') : null;
const text = Buffer.alloc(100);
/** Nanoseconds that the main thread has run. */
const ranNs = () =>
  schedstat === null ? 0 : Number(text.toString('latin1', 0, readSync(schedstat, text, 0, 100, 0)).split(' ', 1)[0]);

const used = createHistogram();
let before = ranNs();
setInterval(() => {
  const now = ranNs();
  used.record(Math.max(1, now - before));
  before = now;
}, 1).unref();

const ms = (nanoseconds) => nanoseconds / 1e6;
const of = (histogram) => ({
  p50: ms(histogram.percentile(50)),
  p99: ms(histogram.percentile(99)),
  max: ms(histogram.max),
});

process.on('message', (message) => {
  if (message === 'reset') {
    delay.reset();
    used.reset();
    process.send('reset');
  }
  if (message === 'read') process.send({ clock: of(delay), processor: of(used) });
});
// The measurement must not keep the server alive.
process.channel?.unref();
