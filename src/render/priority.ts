/** Lowers the priority of the browser, so that a drawing takes no processor time that interactive queries need. Linux only. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import type { Browser } from 'playwright-core';

/** Files name the fault by a code, the functions of priorities by a number only. */
const isGone = (error: unknown): boolean =>
  (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) ||
  (error instanceof Error && 'errno' in error && error.errno === -constants.errno.ESRCH);

/** The result, or `otherwise` if the process, or the file of this kernel, does not exist. */
export const unlessGone = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (isGone(error)) return otherwise;
    throw error;
  }
};

/** Whether the thread was not lowered before. */
const lower = (thread: number, niceness: number): boolean => {
  if (getPriority(thread) >= niceness) return false;
  setPriority(thread, niceness);
  return true;
};

/** The process that started each process of the machine. The kernel's own lists of children may miss some of them. */
const readParents = async (): Promise<ReadonlyMap<number, number>> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parentOf = async (pid: string): Promise<readonly [number, number]> => {
    const stat = await unlessGone(() => readFile(`/proc/${pid}/stat`, 'latin1'), '');
    // The name of the program, in brackets, may hold blanks and brackets.
    return [Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)];
  };
  return new Map(await Promise.all(pids.map(parentOf)));
};

/**
 * On Linux, a priority is one of a thread. Threads and processes that start later inherit it. Answers how many threads
 * of the process and of those below it were not lowered before.
 */
const lowerTree = async (pid: number, niceness: number, parents: ReadonlyMap<number, number>): Promise<number> => {
  let lowered = 0;
  for (const thread of await unlessGone(() => readdir(`/proc/${pid}/task`), []))
    if (await unlessGone(async () => lower(Number(thread), niceness), false)) lowered += 1;
  for (const [child, parent] of parents) if (parent === pid) lowered += await lowerTree(child, niceness, parents);
  return lowered;
};

/**
 * Lowers all processes of a browser that was just started. Where the kernel groups processes by session, priorities of
 * threads count within a session only, and the browser has a session of its own: its group is lowered too.
 */
export const lowerPriority = async (browser: Browser, niceness: number): Promise<void> => {
  if (process.platform !== 'linux' || niceness === 0) return;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  if (pid === undefined) throw new Error('the browser does not name its process');
  await unlessGone(() => writeFile(`/proc/${pid}/autogroup`, String(niceness), { flag: 'r+' }), undefined);
  // What a thread starts just before it is lowered has the old priority. So the tree is walked until two walks in a row
  // find nothing.
  for (let quiet = 0; quiet < 2; ) {
    const lowered = await lowerTree(pid, niceness, await readParents());
    quiet = lowered === 0 ? quiet + 1 : 0;
  }
};
