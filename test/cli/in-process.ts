import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { run } from '../../src/cli/run.js';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type Place = {
  /** Default: the folder of the tests. */
  readonly cwd?: string;
  /** All variables that the command reads, beside those that find programs. */
  readonly env?: Readonly<Record<string, string>>;
};

const textOf = (parts: readonly unknown[]): string => `${parts.map(String).join(' ')}\n`;

/** Runs the command line in this process, with the folder, environment and output of its own that a process would have. */
export const runCli = async (args: readonly string[], { cwd = process.cwd(), env = {} }: Place = {}): Promise<Ran> => {
  const printed: Record<'log' | 'error', string[]> = { log: [], error: [] };
  const spies = (['log', 'error'] as const).map((stream) =>
    vi.spyOn(console, stream).mockImplementation((...parts) => void printed[stream].push(textOf(parts))),
  );
  const before = { cwd: process.cwd(), env: process.env };
  const { PATH, HOME } = process.env;
  process.env = Object.fromEntries(Object.entries({ PATH, HOME, ...env }).filter(([, value]) => value !== undefined));
  process.chdir(cwd);
  try {
    const code = await run(args);
    return { code, out: printed.log.join(''), err: printed.error.join('') };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    for (const spy of spies) spy.mockRestore();
  }
};

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));

/** Runs the built command line as a process of its own. */
export const runBuilt = (...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
