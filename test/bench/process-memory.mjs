// The memory of a process and of all that it started, by Linux' own account.
import { readdir, readFile } from 'node:fs/promises';

const readOrNull = async (path) => {
  try {
    return await readFile(path, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return null;
  }
};

const parents = async () => {
  const found = new Map();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readOrNull(`/proc/${name}/stat`);
    if (stat !== null) found.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  return found;
};

/** Bytes in memory, with pages that processes share counted once (proportional set size). */
export const memoryOf = async (pid) => {
  const parentOf = await parents();
  const isWithin = (one) => one === pid || (parentOf.has(one) && isWithin(parentOf.get(one)));
  let sum = 0;
  for (const one of parentOf.keys()) {
    if (!isWithin(one)) continue;
    const text = await readOrNull(`/proc/${one}/smaps_rollup`);
    sum += Number(text?.match(/^Pss:\s+(\d+) kB/m)?.[1] ?? 0) * 1024;
  }
  return sum;
};
