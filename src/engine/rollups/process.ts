/**
 * The program of a process that reads a datasource and writes files of rollups, so that neither sorting nor a row of a
 * build takes time of those who ask. It gives way to all else on its machine.
 */
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import type { Asked } from './wire.js';

/**
 * On Linux each thread has a priority of its own, and gives it to the threads that it starts. Where the kernel groups
 * processes by session, priorities count within a session only, so that of the session is lowered too.
 */
const giveWay = async (niceness: number): Promise<void> => {
  if (niceness <= getPriority()) return;
  setPriority(niceness);
  if (process.platform !== 'linux') return;
  for (const thread of await readdir('/proc/self/task')) setPriority(Number(thread), niceness);
  // A kernel without such groups has no such file, and it may be read-only in a container.
  await writeFile('/proc/self/autogroup', String(niceness)).catch(() => undefined);
};

// Also while no question is awaited.
process.channel?.ref();
const [first]: Asked[] = await once(process, 'message');
if (first?.kind !== 'open') throw new TypeError('a process that is to open nothing');
await giveWay(first.question.niceness);
// Loaded afterwards: loading it is most of what a start costs.
const { begin } = await import('./writing.js');
begin(first);
