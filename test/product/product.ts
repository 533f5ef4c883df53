/** Runs the built product as an operator would: as its own process, with its own folder and port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureFlightsData } from '../../src/demo/flights-data.js';

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));

export type Product = {
  readonly url: string;
  readonly dataDir: string;
  readonly credentials: {
    readonly serviceToken: string;
    readonly demoApiKey: string;
    readonly demoJwtSecret: string;
    readonly gatewayToken: string;
  };
  /** Everything that the process has printed. */
  readonly output: () => string;
  /** Ends the process and returns its exit code. The folder stays. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Sends a signal that does not end the process. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  readonly remove: () => Promise<void>;
};

const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => {
  const { PATH, HOME } = process.env;
  // The tests beside this one use the processors too, and would starve a browser that gives way to them.
  const usual = { PORT: '0', GUESTLIST_RENDERS_NICENESS: '0' };
  return { ...(PATH === undefined ? {} : { PATH }), ...(HOME === undefined ? {} : { HOME }), ...usual, ...extra };
};

const collect = (child: ChildProcess): (() => string) => {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return () => text;
};

/** Runs the command line until it ends. */
export const runToEnd = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string }> => {
  const child = spawn(process.execPath, [entry, ...args], { env: environment(env) });
  const output = collect(child);
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, output: output() };
};

const urlFrom = (child: ChildProcess, output: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      const url = /Guestlist is up at (\S+)/.exec(output())?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', look);
    child.once('close', (code) => reject(new Error(`the product ended with ${code}: ${output()}`)));
  });

export type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of an earlier product; default: a new one. */
  readonly dataDir?: string;
  readonly args?: readonly string[];
  /** Whether the product loads the flights itself, as on a first start. Otherwise it finds them in its folder. */
  readonly loadsFlights?: boolean;
  /** The folder of another build of the product. */
  readonly root?: string;
};

let shared: Promise<string> | undefined;

const prepareFlights = async (): Promise<string> => {
  const path = process.env.GUESTLIST_TEST_FLIGHTS;
  if (path === undefined) throw new Error('test/flights-cache.ts was not set up');
  await ensureFlightsData(path);
  return path;
};

/** Copies the flights, which the demo's own loader creates once for all tests. */
const copyFlights = async (folder: string): Promise<void> => {
  shared ??= prepareFlights();
  await mkdir(join(folder, 'demo'), { recursive: true });
  await copyFile(await shared, join(folder, 'demo', 'flights.duckdb'), constants.COPYFILE_FICLONE);
};

let prepared: Promise<string> | undefined;

/** A product's folder as its first start leaves it. Two workers may both make one: the first that is done is used. */
const prepareFolder = async (): Promise<string> => {
  shared ??= prepareFlights();
  const base = dirname(await shared);
  const ready = join(base, 'prepared');
  if (existsSync(ready)) return ready;
  const own = await mkdtemp(join(base, 'preparing-'));
  await copyFlights(own);
  const product = await startProduct({ dataDir: own });
  await product.stop();
  await rename(own, ready).catch(() => rm(own, { recursive: true, force: true }));
  return ready;
};

/** Copies what a first start leaves, since a first start uses the processor three times as long as a later one. */
const copyPrepared = async (folder: string): Promise<void> => {
  prepared ??= prepareFolder();
  await cp(await prepared, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
};

/** Starts `guestlist serve` and waits until it prints its URL. Without options, in a folder that has been started before. */
export const startProduct = async (options: StartOptions = {}): Promise<Product> => {
  const { env = {}, dataDir, args = [], loadsFlights = false, root } = options;
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'guestlist-')));
  if (Object.keys(options).length === 0) await copyPrepared(folder);
  else if (dataDir === undefined && !loadsFlights) await copyFlights(folder);
  const command = root === undefined ? entry : join(root, 'bin/guestlist.mjs');
  const child = spawn(process.execPath, [command, 'serve', ...args], {
    env: environment({ GUESTLIST_DATA_DIR: folder, ...env }),
  });
  const output = collect(child);
  const closed = once(child, 'close');
  const url = await urlFrom(child, output);
  return {
    url,
    dataDir: folder,
    credentials: JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8')),
    output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = await closed;
      return typeof code === 'number' ? code : null;
    },
    signal: (signal) => void child.kill(signal),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
