import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { run } from '../../src/cli/run.js';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type Place = {
  /** Default: the folder of the tests. */
  readonly cwd?: string;
  /** All variables that the command reads, beside those that find programs. */
  readonly env?: NodeJS.ProcessEnv;
};

const textOf = (parts: readonly unknown[]): string => `${parts.map(String).join(' ')}\n`;

/** Runs `work` in this process, with the folder, environment and output of its own that a process would have. */
export const asProcess = async (
  work: () => Promise<number>,
  { cwd = process.cwd(), env = {} }: Place = {},
): Promise<Ran> => {
  const printed: Record<'log' | 'error', string[]> = { log: [], error: [] };
  const spies = (['log', 'error'] as const).map((stream) =>
    vi.spyOn(console, stream).mockImplementation((...parts) => void printed[stream].push(textOf(parts))),
  );
  const before = { cwd: process.cwd(), env: process.env };
  const { PATH, HOME } = process.env;
  process.env = Object.fromEntries(Object.entries({ PATH, HOME, ...env }).filter(([, value]) => value !== undefined));
  process.chdir(cwd);
  try {
    const code = await work();
    return { code, out: printed.log.join(''), err: printed.error.join('') };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    for (const spy of spies) spy.mockRestore();
  }
};

/** Runs the command line in this process. */
export const runCli = (args: readonly string[], place?: Place): Promise<Ran> => asProcess(() => run(args), place);

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));

/** Runs the built command line as a process of its own. */
export const runBuilt = (...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
