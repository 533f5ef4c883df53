/** Load config, compose, listen, close. The only reader of the process's environment. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose, type Halves } from './compose/product.js';
import { PolicyFaults } from './gateway/policy/source.js';
import type { Handle } from './http/in-turn.js';
import { createHttpServer } from './http/server.js';
import { answerStarting } from './http/starting.js';
import { type Config, ConfigError, loadConfig, type Settings } from './platform/config.js';
import { createDrain, createProbes, type Probes } from './platform/drain.js';
import { bufferedOutput, createLog, type Log } from './platform/log.js';

// Both paths hold for src/, for dist/ and for the bundled command line: this file stays at the root of each.
const shippedConfig = fileURLToPath(new URL('../config/guestlist.yaml', import.meta.url));
const webFolder = fileURLToPath(new URL('web', import.meta.url));

const readVersion = (): string => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return version;
};

/** Path of the policies that the configuration names. Throws ConfigError. */
export const configuredPolicies = (): string => {
  const config = loadConfig(process.env, shippedConfig, { runsGateway: false, runsService: false });
  return resolve(config.folder, config.settings.gateway.policies);
};

export type Running = {
  readonly url: string;
  /** Of the management port; null: there is none. */
  readonly managementUrl: string | null;
  /** Ends within `shutdown.graceSeconds`, but for what keeps a database from being closed. */
  readonly close: () => Promise<void>;
  /** Cuts the requests that still run, so that `close` need not wait for them. */
  readonly hurry: () => void;
};

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/** Rejects with an Error that says what to mend. */
const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const what = isTaken(cause) ? 'is taken by another process' : 'cannot be listened at';
      const mend =
        'set PORT and HOST, or server.port and server.host (management.port and management.host) in the configuration.';
      reject(new Error(`${host}:${port} ${what} (${cause.message}): ${mend}`, { cause }));
    });
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

const secondMs = 1_000;
/** Of the time that a stop may take: for what is closed after the last answer. */
const closingMs = (graceMs: number): number => Math.min(2_000, graceMs / 4);

const beginDrain = (server: Server, { settings }: Config, log: Log, probes: Probes) => {
  const graceMs = settings.shutdown.graceSeconds * secondMs;
  const cutAfterMs = graceMs - closingMs(graceMs);
  return createDrain(server, { noticeMs: settings.shutdown.noticeSeconds * secondMs, cutAfterMs, log, probes });
};

/** A port that answers that the product is starting, until it serves. */
const openDoor = async (
  config: Config,
  log: Log,
  probes: Probes,
  { host, port }: Pick<Settings['server'], 'host' | 'port'>,
) => {
  let handle: Handle = answerStarting;
  const server = createHttpServer(config.settings.server);
  const drain = beginDrain(server, config, log, probes);
  server.on(
    'request',
    drain.watch((request, response) => handle(request, response)),
  );
  const address = await listen(server, port, host);
  return {
    drain,
    url: urlOf(host, address.port),
    serve: (next: Handle): void => {
      handle = next;
    },
  };
};

type Door = Awaited<ReturnType<typeof openDoor>>;

/** Starts the halves: listens at once, so that probes are answered, then composes what they serve. */
export const start = async (config: Config, halves: Halves): Promise<Running> => {
  const { host, port } = config.settings.server;
  const log = createLog({ level: config.settings.logLevel, destination: bufferedOutput() });
  const { management } = config.settings;
  const probes = createProbes();
  const doors: Door[] = [];
  const hurry = (): void => {
    for (const { drain } of doors) drain.hurry();
  };
  const stop = () => Promise.all(doors.map(({ drain }) => drain.stop()));
  try {
    const main = await openDoor(config, log, probes, { host, port });
    doors.push(main);
    const managed =
      management.port === null ? null : await openDoor(config, log, probes, { ...management, port: management.port });
    if (managed !== null) doors.push(managed);
    const product = await compose(config, halves, { url: main.url, version: readVersion(), webFolder, log });
    main.serve(product.handle);
    managed?.serve(product.manage);
    const close = async (): Promise<void> => {
      await stop();
      await product.close();
    };
    return { url: main.url, managementUrl: managed?.url ?? null, hurry, close };
  } catch (error) {
    hurry();
    await stop();
    throw error;
  }
};

/** Where metrics and the reference are, and who may read them there. */
const announceDoors = ({ url, managementUrl }: Running, { isProduction }: Config): readonly string[] => {
  if (managementUrl !== null) {
    return [
      `  management ${managementUrl}: /metrics, /docs, /openapi.json and /gateway/admin, which are 404 elsewhere`,
    ];
  }
  if (!isProduction) return [`  reference  ${url}/docs`];
  return [
    '  closed     /metrics, /docs, /openapi.json and the details of /readyz: send GUESTLIST_METRICS_TOKEN or the',
    '             gateway token as Bearer, or set management.port (GUESTLIST_MANAGEMENT_PORT)',
  ];
};

const announce = (running: Running, config: Config): void => {
  const { url } = running;
  const lines = [
    `Guestlist is up at ${url}`,
    ...(config.isDemo ? [`  demo       ${url}/demo`] : []),
    ...announceDoors(running, config),
    `  health     ${url}/readyz`,
    ...(config.isDemo ? [`  keys       ${config.settings.dataDir}/credentials.json (readable by you alone)`] : []),
  ];
  console.log(lines.join('\n'));
};

const stopSignals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Lets a signal end the process while it starts, until the returned function is called. The first process of a container
 * needs this: the kernel drops a signal that such a process has no handler for.
 */
const endWhileStarting = (): (() => void) => {
  const end = (_: NodeJS.Signals, code: number): never => process.exit(128 + code);
  for (const signal of stopSignals) process.on(signal, end);
  return () => {
    for (const signal of stopSignals) process.off(signal, end);
  };
};

/** The first signal stops; one more cuts what still runs. The process ends within `graceMs`, whatever hangs. */
const closeOnSignal = (running: Running, graceMs: number): void => {
  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return running.hurry();
    isClosing = true;
    setTimeout(() => {
      console.error(`guestlist: not everything could be closed within ${graceMs / secondMs} s; ending all the same`);
      process.exit(1);
    }, graceMs).unref();
    await running.close();
    process.exit(0);
  };
  const failed = (error: unknown): void => {
    console.error(`guestlist: the end failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  };
  for (const signal of stopSignals) process.on(signal, () => void close().catch(failed));
};

/** Where the product is and who may operate it, as the configuration says. Throws ConfigError. */
export const readOperatorSettings = () => {
  const { settings, secrets } = loadConfig(process.env, shippedConfig, { runsGateway: false, runsService: false });
  const { server, management } = settings;
  const { gatewayToken, serviceToken } = secrets;
  const url = urlOf(server.host, server.port);
  const gatewayUrl = management.port === null ? url : urlOf(management.host, management.port);
  return { url, gatewayUrl, gatewayToken, serviceToken, dataDir: settings.dataDir };
};

const causesOf = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [];
  return [error.message, ...causesOf(error.cause)];
};

/** Says why the start failed, and ends the process: nothing of it listens or holds a lock any more. */
const failStart = (error: unknown): never => {
  if (error instanceof ConfigError || error instanceof PolicyFaults) {
    const what = error instanceof ConfigError ? 'configuration' : 'policy';
    console.error(`The ${what} has ${error.faults.length} fault(s):\n${error.message}`);
    return process.exit(2);
  }
  const [message = String(error), ...causes] = causesOf(error);
  console.error([`guestlist: ${message}`, ...causes.map((cause) => `  because: ${cause}`)].join('\n'));
  return process.exit(1);
};

/** Runs until SIGTERM or SIGINT, then finishes what runs and exits 0. A faulty configuration exits 2 with every fault, any other failure 1. */
export const serve = async (halves: Halves): Promise<void> => {
  // Files that are made belong to their owner alone, whatever the shell says.
  process.umask(0o077);
  const keepStarted = endWhileStarting();
  try {
    const config = loadConfig(process.env, shippedConfig, { runsGateway: halves.gateway, runsService: halves.service });
    const running = await start(config, halves);
    // Before it says that it is up: a signal that comes with those words would end it at once, without a last mark.
    closeOnSignal(running, config.settings.shutdown.graceSeconds * secondMs);
    keepStarted();
    announce(running, config);
  } catch (error) {
    failStart(error);
  }
};
