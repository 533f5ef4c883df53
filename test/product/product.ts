/** Runs the built product as an operator would: as its own process, with its own folder and port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeFlights } from '../suites/flights.js';
import { copyDatabase, createMigratedDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { madeOnce } from '../suites/run-folder.js';

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));

export type Product = {
  readonly url: string;
  readonly pid: number;
  /** Whether the process has neither ended nor been ended. */
  readonly isRunning: () => boolean;
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
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2') => void;
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
  /** Whether the metadata is in the folder, though there is a server. */
  readonly isEmbedded?: boolean;
};

/** A product's folder as its first start leaves it, without the metadata. */
const prepareFolder = async (folder: string): Promise<void> => {
  await placeFlights(join(folder, 'demo/flights.duckdb'));
  const url = (await isPostgresThere()) ? (await createMigratedDatabase(preparedName)).url : null;
  const product = await startIn(folder, url === null ? {} : { env: { DATABASE_URL: url } });
  await product.stop();
};

const preparedName = 'prepared';

/** Copies what a first start leaves, since a first start uses the processor three times as long as a later one. */
const copyPrepared = async (folder: string): Promise<void> => {
  const flights = join('demo', 'flights.duckdb');
  const filter = (source: string): boolean => !source.endsWith(flights);
  await cp(await madeOnce('prepared', prepareFolder), folder, { recursive: true, filter });
  await placeFlights(join(folder, flights));
};

/** The databases of products on the server, by their folders. */
const databases = new Map<string, string>();

/**
 * Returns the environment with the metadata of the folder: on the server where there is one, since the embedded database
 * makes a start three times as long; embedded where the test asks for it.
 */
const withMetadata = async (
  folder: string,
  { env = {}, dataDir, isEmbedded = false, loadsFlights = false, root }: StartOptions,
  isPrepared: boolean,
) => {
  if (isEmbedded || loadsFlights || root !== undefined || env.DATABASE_URL !== undefined) return env;
  // With a server, production asks for keys that replicas share.
  if (env.NODE_ENV === 'production') return env;
  const known = databases.get(folder);
  if (known === undefined && (dataDir !== undefined || !(await isPostgresThere()))) return env;
  const make = () => (isPrepared ? copyDatabase(preparedName) : createMigratedDatabase());
  const url = known ?? (await make()).url;
  databases.set(folder, url);
  return { ...env, DATABASE_URL: url };
};

/** Starts `guestlist serve` and waits until it prints its URL. Without options, in a folder that has been started before. */
export const startProduct = async (options: StartOptions = {}): Promise<Product> => {
  const { dataDir, loadsFlights = false } = options;
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'guestlist-')));
  const isPrepared = Object.keys(options).length === 0;
  if (isPrepared) await copyPrepared(folder);
  else if (dataDir === undefined && !loadsFlights) await placeFlights(join(folder, 'demo/flights.duckdb'));
  return startIn(folder, { ...options, env: await withMetadata(folder, options, isPrepared) });
};

const startIn = async (folder: string, { env = {}, args = [], root }: StartOptions): Promise<Product> => {
  const command = root === undefined ? entry : join(root, 'bin/guestlist.mjs');
  const child = spawn(process.execPath, [command, 'serve', ...args], {
    env: environment({ GUESTLIST_DATA_DIR: folder, ...env }),
  });
  const output = collect(child);
  const closed = once(child, 'close');
  const url = await urlFrom(child, output);
  return {
    url,
    pid: Number(child.pid),
    isRunning: () => child.exitCode === null && child.signalCode === null,
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
