/** Load config, compose, listen, close. The only reader of the process's environment. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose, type Halves, type Handle } from './compose.js';
import { PolicyFaults } from './gateway/policy/policy-source.js';
import { answerStarting } from './http/starting.js';
import { type Config, ConfigError, loadConfig } from './platform/config.js';
import { createDrain } from './platform/drain.js';
import { bufferedOutput, createLog, type Log } from './platform/log.js';

const shippedConfig = fileURLToPath(new URL('../config/guestlist.yaml', import.meta.url));

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
  /** Ends within `shutdown.graceSeconds`, but for what keeps a database from being closed. */
  readonly close: () => Promise<void>;
  /** Cuts what `close` waits for. */
  readonly hurry: () => void;
};

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/** Rejects with an Error that says what to mend. */
const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const what = isTaken(cause) ? 'is taken by another process' : 'cannot be listened at';
      const mend = 'set PORT and HOST, or server.port and server.host in the configuration.';
      reject(new Error(`${host}:${port} ${what} (${cause.message}): ${mend}`, { cause }));
    });
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

const secondMs = 1_000;
/** Of the time that a stop may take: for what is closed after the last answer. */
const closingMs = (graceMs: number): number => Math.min(2_000, graceMs / 4);

const beginDrain = (server: Server, { settings }: Config, log: Log) => {
  const graceMs = settings.shutdown.graceSeconds * secondMs;
  const cutAfterMs = graceMs - closingMs(graceMs);
  return createDrain(server, { noticeMs: settings.shutdown.noticeSeconds * secondMs, cutAfterMs, log });
};

/** Starts the halves: listens at once, so that probes are answered, then composes what they serve. */
export const start = async (config: Config, halves: Halves): Promise<Running> => {
  const { host, port } = config.settings.server;
  const log = createLog({ level: config.settings.logLevel, destination: bufferedOutput() });
  let handle: Handle = answerStarting;
  const server = createServer();
  const drain = beginDrain(server, config, log);
  const serveRequest = drain.watch((request, response) => handle(request, response));
  server.on('request', serveRequest);
  const address = await listen(server, port, host);
  const url = urlOf(host, address.port);
  try {
    const product = await compose(config, halves, { url, version: readVersion(), log });
    handle = product.handle;
    return {
      url,
      hurry: drain.hurry,
      close: async () => {
        await drain.stop();
        await product.close();
      },
    };
  } catch (error) {
    drain.hurry();
    await drain.stop();
    throw error;
  }
};

const announce = (url: string, config: Config): void => {
  const lines = [
    `Guestlist is up at ${url}`,
    ...(config.isDemo ? [`  demo       ${url}/demo`] : []),
    `  reference  ${url}/docs`,
    `  health     ${url}/readyz`,
    ...(config.isDemo ? [`  keys       ${config.settings.dataDir}/credentials.json (readable by you alone)`] : []),
  ];
  console.log(lines.join('\n'));
};

/** The first signal stops; one more cuts what still runs. The process ends within `graceMs`, whatever hangs. */
const closeOn = (signals: readonly NodeJS.Signals[], running: Running, graceMs: number): void => {
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
  for (const signal of signals) process.on(signal, () => void close().catch(failed));
};

/** Where the product is and who may operate it, as the configuration says. Throws ConfigError. */
export const readOperatorSettings = () => {
  const { settings, secrets } = loadConfig(process.env, shippedConfig, { runsGateway: false, runsService: false });
  const { host, port } = settings.server;
  const { gatewayToken, serviceToken } = secrets;
  return { url: urlOf(host, port), gatewayToken, serviceToken, dataDir: settings.dataDir };
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
  try {
    const config = loadConfig(process.env, shippedConfig, { runsGateway: halves.gateway, runsService: halves.service });
    const running = await start(config, halves);
    announce(running.url, config);
    closeOn(['SIGTERM', 'SIGINT'], running, config.settings.shutdown.graceSeconds * secondMs);
  } catch (error) {
    failStart(error);
  }
};
