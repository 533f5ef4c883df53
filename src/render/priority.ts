/** Lowers the priority of the browser, so that a drawing takes no processor time that interactive queries need. Linux only. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import type { Browser } from 'playwright-core';

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

/** The result, or `otherwise` if the process, or the file of this kernel, does not exist. */
const unlessGone = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (isGone(error)) return otherwise;
    throw error;
  }
};

/** On Linux, a priority is one of a thread. Threads and processes that start later inherit it. */
const lowerThreads = async (pid: number, niceness: number): Promise<readonly number[]> => {
  const threads = await unlessGone(() => readdir(`/proc/${pid}/task`), []);
  const children: number[] = [];
  for (const thread of threads) {
    await unlessGone(async () => setPriority(Number(thread), niceness), undefined);
    const text = await unlessGone(() => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1'), '');
    children.push(...text.split(' ').filter(Boolean).map(Number));
  }
  return children;
};

const lowerTree = async (pid: number, niceness: number): Promise<void> => {
  for (const child of await lowerThreads(pid, niceness)) await lowerTree(child, niceness);
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
  await lowerTree(pid, niceness);
};
