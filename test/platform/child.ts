import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

export type Script = { readonly path: string; readonly remove: () => Promise<void> };

/** Compiles a TypeScript file to a place where plain Node finds the packages. */
export const compileScript = async (source: URL): Promise<Script> => {
  const path = resolve('node_modules/.cache/guestlist-test', `${randomUUID()}.mjs`);
  const bundle = await rolldown({ input: fileURLToPath(source), platform: 'node', external: /^[^./]/ });
  await bundle.write({ file: path, format: 'esm', codeSplitting: false });
  await bundle.close();
  return { path, remove: () => rm(path, { force: true }) };
};

export type Child = {
  readonly pid: number;
  readonly lines: readonly string[];
  /** Resolves after that many complete lines, or when the process has ended. */
  readonly said: (count: number) => Promise<readonly string[]>;
  /** Kills the process by SIGKILL. Resolves with everything it printed before. */
  readonly kill: () => Promise<readonly string[]>;
  readonly ended: Promise<unknown>;
};

export const startChild = (script: Script, ...args: readonly string[]): Child => {
  const child: ChildProcess = spawn(process.execPath, [script.path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const ended = once(child, 'close');
  let rest = '';
  const heard = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const wake of heard) wake();
  });
  const enough = (count: number): Promise<void> =>
    new Promise((wake) => {
      const check = (): void => {
        if (lines.length >= count) wake();
      };
      heard.add(check);
      check();
    });
  return {
    pid: child.pid ?? -1,
    lines,
    said: async (count) => {
      await Promise.race([enough(count), ended]);
      return lines;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
      return lines;
    },
    ended,
  };
};
