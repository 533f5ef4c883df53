/** Lays out a folder as the last stage of the Dockerfile does, and runs Guestlist from it as the image would. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { freePort } from '../suites/redis.js';
import { copiesOf, readStages, root, variablesOf } from './files.js';

type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>> };

/**
 * Links only the packages that `npm ci --omit=dev` would install at the top level, so that an import of any other
 * package fails.
 */
export const linkPackages = async (folder: string): Promise<void> => {
  const lock: Lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  for (const [path, { dev = false, devOptional = false }] of Object.entries(lock.packages)) {
    const isAtTop = path.startsWith('node_modules/') && !path.slice('node_modules/'.length).includes('node_modules/');
    if (!isAtTop || dev || devOptional) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(root, path), join(folder, path));
  }
};

type Options = {
  /** Puts `node_modules` into the folder. */
  readonly install: (folder: string) => Promise<void>;
};

/** Creates the folder /app of the image. `dist/` is the local build; the list of packages (SBOM) is left out. */
export const layOutImage = async ({
  install,
}: Options): Promise<{ readonly app: string; readonly remove: () => Promise<void> }> => {
  const parent = await mkdtemp(join(tmpdir(), 'guestlist-image-'));
  const app = join(parent, 'app');
  await mkdir(app);
  const last = readStages().at(-1) ?? [];
  for (const { from, sources, target } of copiesOf(last)) {
    if (from === 'packages') continue;
    for (const source of sources) {
      const path = source.replace(/^\/build\//, '');
      await cp(join(root, path), join(app, target === './' ? basename(path) : target), { recursive: true });
    }
  }
  await install(app);
  return { app, remove: () => rm(parent, { recursive: true, force: true }) };
};

/** The last argument of an instruction in JSON notation. */
export const argumentsOf = (instruction: 'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK'): readonly string[] => {
  const text = readStages()
    .at(-1)
    ?.find(({ name }) => name === instruction)?.text;
  return JSON.parse(/\[.*\]$/.exec(text ?? '')?.[0] ?? '[]');
};

/** The variables of the image, with a port and a data folder of the test's own. */
const environmentOf = (dataDir: string, port: number, extra: Readonly<Record<string, string>>) => ({
  ...variablesOf(readStages().at(-1) ?? [], 'ENV'),
  ...extra,
  PATH: process.env.PATH ?? '',
  HOST: '127.0.0.1',
  PORT: String(port),
  GUESTLIST_DATA_DIR: dataDir,
});

const run = (app: string, [command = '', ...args]: readonly string[], env: Record<string, string>) => {
  const child = spawn(command === 'node' ? process.execPath : command, args, { cwd: app, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const closed = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  return { child, closed, output: () => output };
};

export type Container = {
  readonly url: string;
  readonly output: () => string;
  /** Runs the command in the same folder with the same variables. Returns its exit code. */
  readonly exec: (command: readonly string[]) => Promise<number | null>;
  /** Sends the image's stop signal. Returns the exit code. */
  readonly stop: () => Promise<number | null>;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number | null>;
};

/** Runs ENTRYPOINT and CMD of the image in `app`. */
export const runImage = async (app: string, env: Readonly<Record<string, string>>): Promise<Container> => {
  const port = await freePort();
  const variables = environmentOf(join(dirname(app), 'data'), port, env);
  const { child, closed, output } = run(app, [...argumentsOf('ENTRYPOINT'), ...argumentsOf('CMD')], variables);
  const signal = readStages()
    .at(-1)
    ?.find(({ name }) => name === 'STOPSIGNAL')?.text;
  return {
    url: `http://127.0.0.1:${port}`,
    output,
    exec: (command) => run(app, command, variables).closed,
    stop: async () => {
      child.kill(signal as NodeJS.Signals);
      return closed;
    },
    ended: closed,
  };
};

/** Waits until the URL answers 200; rejects if the container ends first. */
export const untilAnswered = async (container: Container, path: string): Promise<void> => {
  let isOver = false;
  void container.ended.then(() => {
    isOver = true;
  });
  for (;;) {
    if (isOver) throw new Error(`the container ended: ${container.output()}`);
    const answered = await fetch(`${container.url}${path}`).catch(() => null);
    if (answered?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
