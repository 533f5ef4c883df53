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
import { bufferedOutput, createLog } from './platform/log.js';

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

export type Running = { readonly url: string; readonly close: () => Promise<void> };

const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Stops accepting and waits for the answers under way. */
const drain = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeIdleConnections();
  });

/** Starts the halves: listens at once, so that probes are answered, then composes what they serve. */
export const start = async (config: Config, halves: Halves): Promise<Running> => {
  const { host, port } = config.settings.server;
  const log = createLog({ level: config.settings.logLevel, destination: bufferedOutput() });
  let handle: Handle = answerStarting;
  const server = createServer((request, response) => handle(request, response));
  const address = await listen(server, port, host);
  const url = urlOf(host, address.port);
  try {
    const product = await compose(config, halves, { url, version: readVersion(), log });
    handle = product.handle;
    return {
      url,
      close: async () => {
        await drain(server);
        await product.close();
      },
    };
  } catch (error) {
    server.close();
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

const closeOn = (signals: readonly NodeJS.Signals[], running: Running): void => {
  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    await running.close();
    process.exit(0);
  };
  for (const signal of signals) process.on(signal, () => void close());
};

/** Where the product is and who may operate it, as the configuration says. Throws ConfigError. */
export const readOperatorSettings = () => {
  const { settings, secrets } = loadConfig(process.env, shippedConfig, { runsGateway: false, runsService: false });
  const { host, port } = settings.server;
  const { gatewayToken, serviceToken } = secrets;
  return { url: urlOf(host, port), gatewayToken, serviceToken, dataDir: settings.dataDir };
};

/** Runs until SIGTERM or SIGINT, then finishes what runs and exits 0. A faulty configuration exits 2 with every fault. */
export const serve = async (halves: Halves): Promise<void> => {
  try {
    const config = loadConfig(process.env, shippedConfig, { runsGateway: halves.gateway, runsService: halves.service });
    const running = await start(config, halves);
    announce(running.url, config);
    closeOn(['SIGTERM', 'SIGINT'], running);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof PolicyFaults)) throw error;
    console.error(
      `The ${error instanceof ConfigError ? 'configuration' : 'policy'} has ${error.faults.length} fault(s):\n${error.message}`,
    );
    process.exitCode = 2;
  }
};
