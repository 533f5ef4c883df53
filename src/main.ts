/**
 * Loads the configuration, composes the servers, listens and closes. Only this file reads the process's environment.
 */
import { resolveTxt } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DoctorParts, type Examined, examine } from './compose/doctor/doctor.js';
import { type BackedUp, type BackupRequest, backUp } from './compose/move/backup.js';
import { type ExportedTenant, type ExportRequest, exportTenant } from './compose/move/export-tenant.js';
import { type ImportedTenant, type ImportRequest, importTenant } from './compose/move/import-tenant.js';
import { type Moved, type MoveRequest, moveMetadata } from './compose/move/move.js';
import { type Restored, type RestoreRequest, restore } from './compose/move/restore.js';
import { type StepDownRequest, type SteppedDown, stepDown } from './compose/move/step-down.js';
import { compose, type Halves, type ProcessContext } from './compose/product.js';
import { type Resealed, resealMetadata } from './compose/reseal.js';
import { type CountedHalf, countRetained } from './compose/retention/count.js';
import { type Rotated, type RotateRequest, rotateSecrets } from './compose/rotate/rotate.js';
import { type RotatedVariable, rotateVariable } from './compose/rotate/variables.js';
import { createIssuers } from './compose/session-issuers.js';
import { type ConfiguredTrial, tryConfiguredMail } from './compose/try-mail.js';
import { PolicyFaults } from './gateway/policy/source.js';
import type { Clock } from './model/ports.js';
import { type Config, ConfigError, loadConfig, type Settings } from './platform/config/config.js';
import { storeCredentials } from './platform/config/credentials.js';
import { backupKeyMend, describeUnknown, isFoundInFolder, withLocalFiles } from './platform/config/environment.js';
import type { HookProvider } from './platform/config/hook-providers.js';
import { placeIn } from './platform/databases/move/places.js';
import { createDrain, createProbes, type Probes } from './platform/http/drain.js';
import { answerStarting } from './platform/http/pages/starting.js';
import { createHttpServer } from './platform/http/server.js';
import type { Handle } from './platform/http/wire/in-turn.js';
import { type KeyRing, readKeyRing } from './platform/keys/sealing.js';
import { severalSecrets } from './platform/keys/several-secrets.js';
import { bufferedOutput, createLog, type Log } from './platform/logs/log.js';
import { closeAll } from './platform/work/close-all.js';
import { type Endable, endOnSignalOrFault, endWhileStarting } from './platform/work/ending.js';
import { systemClock } from './platform/work/time.js';

// These relative paths are valid from src/, from dist/ and from the bundled command line, since this file is at the
// root of each.
const shippedConfig = fileURLToPath(new URL('../config/guestlist.yaml', import.meta.url));
const webFolder = fileURLToPath(new URL('web', import.meta.url));

/** What a browser needs of the environment: the whole of it holds secrets. */
const browserVariables =
  /^(?:PATH|HOME|TMPDIR|TEMP|TMP|LANG|LC_\w+|LD_LIBRARY_PATH|FONTCONFIG_\w+|XDG_\w+|SystemRoot|LOCALAPPDATA)$/;

const browserStart = (): ProcessContext['browserStart'] => ({
  giveWay: fileURLToPath(new URL('../bin/give-way.sh', import.meta.url)),
  environment: Object.fromEntries(Object.entries(process.env).filter(([name]) => browserVariables.test(name))),
});

/** What a process needs to reach databases as this one does: which certificates it trusts, and the time zone. */
const sourceVariables =
  /^(?:NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|NODE_TLS_REJECT_UNAUTHORIZED|SSL_CERT_FILE|SSL_CERT_DIR|OPENSSL_CONF|TZ)$/;

const sourceEnvironment = (): ProcessContext['sourceEnvironment'] =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && sourceVariables.test(name) ? [[name, value]] : [],
    ),
  );

/** The process's environment, with the files of the folder that it was started in. */
const environment = () => withLocalFiles(process.env, process.cwd());

const readVersion = (): string => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return version;
};

/**
 * Returns the path of the configured policy; undefined if the folder has no configuration and the environment names
 * none. Throws ConfigError.
 */
export const configuredPolicies = (): string | undefined => {
  if (environment().GUESTLIST_CONFIG === undefined) return undefined;
  const config = loadConfig(environment(), shippedConfig, { uses: [] });
  return resolve(config.folder, config.settings.gateway.policies);
};

/** Returns the value of an environment variable, also of those that `guestlist.env` of the folder sets. */
export const readVariable = (name: string): string | undefined => environment()[name];

/**
 * Returns the configured issuers of signed sessions, and the path of the policy; undefined if there is no configuration.
 * Throws ConfigError.
 */
export const sessionSources = () => {
  const config = loadConfig(environment(), shippedConfig, { uses: ['issuers'] });
  // The demo signs with a secret of its own data folder.
  const issuers = createIssuers(
    { ...config, isDemo: false },
    { demoJwtSecret: '' },
    { clock: systemClock, log: createLog({ level: 'silent' }) },
  );
  return { issuers, policies: config.isDemo ? undefined : resolve(config.folder, config.settings.gateway.policies) };
};

/**
 * Returns the configured providers of hooks with those of their secrets that are set, and the path of the policy;
 * undefined without a configuration. Throws ConfigError.
 */
export const configuredHooks = ():
  | { readonly providers: readonly HookProvider[]; readonly policy: string }
  | undefined => {
  const policy = configuredPolicies();
  if (policy === undefined) return undefined;
  const config = loadConfig(environment(), shippedConfig, { uses: [] });
  return { providers: config.hookProviders, policy };
};

export type Running = {
  readonly url: string;
  /** URL of the management port; null if there is none. */
  readonly managementUrl: string | null;
  readonly studioLink: string | null;
} & Endable;

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/** Rejects with an Error that says how to fix the cause. */
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
/** The part of the grace period that is reserved for closing databases after the last answer, in milliseconds. */
const closingMs = (graceMs: number): number => Math.min(2_000, graceMs / 4);

const beginDrain = (server: Server, { settings }: Config, log: Log, probes: Probes) => {
  const graceMs = settings.shutdown.graceSeconds * secondMs;
  const cutAfterMs = graceMs - closingMs(graceMs);
  return createDrain(server, { noticeMs: settings.shutdown.noticeSeconds * secondMs, cutAfterMs, log, probes });
};

/** Opens the port. Until the servers are composed, it answers that the product is starting. */
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

/**
 * The service alone reads no policy, so it cannot tell which variables a policy names: it reports only those that look
 * like a misspelt setting.
 */
const unknownVariables = (config: Config, halves: Halves) =>
  config.findUnknownVariables().filter(({ suggestion }) => halves.gateway || suggestion !== undefined);

/** Starts the chosen halves with the clock of the process, or with a test's. Listens before composing, so that probes are answered at once. */
export const start = async (config: Config, halves: Halves, clock: Clock = systemClock): Promise<Running> => {
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
    const product = await compose(config, halves, {
      url: main.url,
      version: readVersion(),
      webFolder,
      browserStart: browserStart(),
      sourceEnvironment: sourceEnvironment(),
      clock,
      log,
    });
    // Now the policy is loaded, and the variables that it names are known.
    for (const unknown of unknownVariables(config, halves))
      log.warn({ event: 'setting.unknown', ...unknown }, describeUnknown(unknown));
    main.serve(product.handle);
    managed?.serve(product.manage);
    const fault = (err: unknown): void =>
      log.error({ event: 'process.fault', err }, 'a fault that nothing handled: the process ends');
    const close = () => closeAll([async () => void (await stop()), product.close]);
    return { url: main.url, managementUrl: managed?.url ?? null, studioLink: product.studioLink, hurry, close, fault };
  } catch (error) {
    hurry();
    await stop();
    throw error;
  }
};

/**
 * Starts the service alone on a free port of this machine, with the configuration `file` and without log lines. For commands that
 * write to the folder of that configuration. Throws ConfigError.
 */
export const startLocalService = (file: string): Promise<Running> => {
  const own = { GUESTLIST_CONFIG: file, HOST: '127.0.0.1', PORT: '0', GUESTLIST_LOG_LEVEL: 'silent' };
  const env = withLocalFiles({ ...process.env, ...own, GUESTLIST_MANAGEMENT_PORT: '' }, process.cwd());
  const config = loadConfig(env, shippedConfig, { runsGateway: false, runsService: true });
  return start(config, { gateway: false, service: true });
};

/**
 * Seals every stored secret with the first encryption key of the configuration, while replicas may run. Throws ConfigError
 * and every error of `resealMetadata`.
 */
export const resealConfigured = async (): Promise<Resealed> => {
  const config = loadConfig(environment(), shippedConfig, { uses: ['sealing'] });
  return resealMetadata(config, { clock: systemClock, log: createLog({ level: 'warn' }) });
};

/** Lets the previous release start on the tables. Throws ConfigError and every error of `stepDown`. */
export const stepDownConfigured = async (request: StepDownRequest): Promise<SteppedDown> => {
  const config = loadConfig(environment(), shippedConfig, { uses: ['sealing'] });
  return stepDown(config, request, { clock: systemClock, log: createLog({ level: 'warn' }) });
};

/** Does the next step of a rotation, and lists the secrets. Throws ConfigError and every error of `rotateSecrets`. */
export const rotateConfigured = async (request: RotateRequest): Promise<Rotated> => {
  // All that the processes of the installation use: the list has it.
  const config = loadConfig(environment(), shippedConfig, { runsGateway: true, runsService: true });
  return rotateSecrets(config, request, { clock: systemClock, log: createLog({ level: 'warn' }) });
};

/** The next step of the rotation of a secret in a variable. Throws ConfigError and every error of `rotateVariable`. */
export const rotateConfiguredVariable = (variable: string): RotatedVariable =>
  rotateVariable(loadConfig(environment(), shippedConfig, { runsGateway: true, runsService: true }), variable);

/** Stores a new service token for the next start, if the data folder has the old one. Returns the file. */
export const storeServiceToken = async (token: string): Promise<string> => {
  const { settings } = loadConfig(environment(), shippedConfig, { uses: ['operator'] });
  return storeCredentials(settings.dataDir, { serviceToken: token });
};

/** Where the metadata is, and where else: URLs of PostgreSQL or folders. Undefined: where the configuration says. */
type MoveEnds = { readonly from: string | undefined; readonly to: string | undefined };

/**
 * Moves the metadata between a data folder and PostgreSQL. Throws ConfigError and every error of `placeIn` and
 * `moveMetadata`.
 */
export const moveConfigured = async (
  { from, to, service }: MoveEnds & Pick<MoveRequest, 'service'>,
  request: Pick<MoveRequest, 'isDry' | 'say'>,
): Promise<Moved> => {
  const config = loadConfig(environment(), shippedConfig, { uses: ['sealing'] });
  const { databaseUrl, dataDir } = config.settings;
  const usual = databaseUrl ?? dataDir;
  const ends = { from: placeIn(from ?? usual), to: placeIn(to ?? usual), service };
  return moveMetadata(config, { ...request, ...ends }, { clock: systemClock, log: createLog({ level: 'warn' }) });
};

/** The file with the key of backups; undefined: the key is in GUESTLIST_BACKUP_KEY. */
type BackupKey = { readonly keyFile: string | undefined };

/** Returns the keys of backups. Throws an Error, without a key, that says what to do. */
const readBackupKey = ({ secrets }: Config, { keyFile }: BackupKey): KeyRing => {
  if (keyFile === undefined && secrets.backupKey === null)
    throw new Error(
      'There is no key for the file: name one with --key-file, or set GUESTLIST_BACKUP_KEY. Make one by `openssl rand -base64 32`, and keep it away from the backups: without it, nobody can restore them.',
    );
  const where = keyFile ?? 'GUESTLIST_BACKUP_KEY';
  const ring = readKeyRing(keyFile === undefined ? (secrets.backupKey ?? '') : readKeyFile(keyFile));
  if (ring === undefined) throw new Error(`The key in ${where} ${backupKeyMend}.`);
  return ring;
};

const readKeyFile = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new Error(`The key file ${file} cannot be read${code}: name a file that has the key, with --key-file.`, {
      cause,
    });
  }
};

const loadForBackup = (): Config => loadConfig(environment(), shippedConfig, { uses: ['sealing', 'backup'] });
const commandSurroundings = () => ({ clock: systemClock, log: createLog({ level: 'warn' }) });

/** Backs up the configured installation while it runs. Throws ConfigError and every error of `backUp`. */
export const backUpConfigured = async (
  key: BackupKey,
  request: Pick<BackupRequest, 'service' | 'to' | 'say'>,
): Promise<BackedUp> => {
  const config = loadForBackup();
  const ring = readBackupKey(config, key);
  return backUp(config, { ...request, ring, version: readVersion() }, commandSurroundings());
};

/** Restores a backup into the configured installation. Throws ConfigError and every error of `restore`. */
export const restoreConfigured = async (
  key: BackupKey,
  request: Pick<RestoreRequest, 'from' | 'isDry' | 'say'>,
): Promise<Restored> => {
  const config = loadForBackup();
  return restore(config, { ...request, ring: readBackupKey(config, key) }, commandSurroundings());
};

/** Exports a tenant of the configured installation. Throws ConfigError and every error of `exportTenant`. */
export const exportTenantConfigured = async (
  key: BackupKey,
  request: Pick<ExportRequest, 'clientId' | 'to' | 'say'>,
): Promise<ExportedTenant> => {
  const config = loadForBackup();
  const ring = readBackupKey(config, key);
  return exportTenant(config, { ...request, ring, version: readVersion() }, commandSurroundings());
};

/** Imports a tenant into the configured installation. Throws ConfigError and every error of `importTenant`. */
export const importTenantConfigured = async (
  key: BackupKey,
  request: Pick<ImportRequest, 'from' | 'as' | 'isDry' | 'say'>,
): Promise<ImportedTenant> => {
  const config = loadForBackup();
  return importTenant(config, { ...request, ring: readBackupKey(config, key) }, commandSurroundings());
};

/** Counts what a sweep of the configured installation would delete. Throws ConfigError. */
export const countRetainedConfigured = (
  request: Parameters<typeof countRetained>[1],
): Promise<readonly CountedHalf[]> =>
  countRetained(loadConfig(environment(), shippedConfig, { uses: ['sealing'] }), request, commandSurroundings());

/** Looks at the configured installation. */
export const examineConfigured = async ({
  service,
  say,
  readReady,
}: Pick<DoctorParts, 'service' | 'say' | 'readReady'>): Promise<Examined> => {
  const halves = { runsGateway: true, runsService: service };
  const load = (): Config => loadConfig(environment(), shippedConfig, halves);
  return examine({
    ...{ load, service, say, readReady, readTexts: resolveTxt, environment: environment(), version: readVersion() },
    clock: systemClock,
    log: createLog({ level: 'silent' }),
  });
};

/** Sends a test message with the configured mail server; undefined: none is set up. Throws ConfigError. */
export const tryMailConfigured = async (
  trial: Parameters<typeof tryConfiguredMail>[1],
): Promise<ConfiguredTrial | undefined> =>
  tryConfiguredMail(loadConfig(environment(), shippedConfig, { uses: ['mail'] }), trial);

/** Prints the URLs of the meters and the API reference, and who may read them. */
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

/** Which pages of other origins may call the gateway. */
const announceOrigins = ({ settings, allowsLocalPages }: Config): readonly string[] => {
  const named = settings.gateway.allowedOrigins;
  const local = allowsLocalPages ? ['pages of this machine with a Bearer session (not in production)'] : [];
  const allowed = [...named, ...local];
  return [`  origins    ${allowed.length === 0 ? 'no other: set GUESTLIST_ALLOWED_ORIGINS' : allowed.join(', ')}`];
};

const announce = (running: Running, config: Config, halves: Halves): void => {
  const { url } = running;
  const lines = [
    `Guestlist is up at ${url}`,
    ...(config.isDemo ? [`  demo       ${url}/demo`] : []),
    ...(running.studioLink === null ? [] : [`  studio     ${running.studioLink} (logs in once)`]),
    ...announceDoors(running, config),
    ...(halves.gateway ? announceOrigins(config) : []),
    `  health     ${url}/readyz`,
    ...(config.isDemo ? [`  keys       ${config.settings.dataDir}/credentials.json (readable by you alone)`] : []),
  ];
  console.log(lines.join('\n'));
};

/** Returns the service's address and the operator's credentials from the configuration. Throws ConfigError. */
export const readOperatorSettings = () => {
  const { settings, secrets } = loadConfig(environment(), shippedConfig, { uses: ['operator'] });
  const { server, management } = settings;
  const { apiKey, serviceToken } = secrets;
  // While one gateway token replaces another, both are accepted.
  const [gatewayToken = null] = secrets.gatewayToken === null ? [] : severalSecrets(secrets.gatewayToken);
  const url = urlOf(server.host, server.port);
  const gatewayUrl = management.port === null ? url : urlOf(management.host, management.port);
  const isConfigFound = isFoundInFolder(process.env, process.cwd());
  return { url, gatewayUrl, apiKey, gatewayToken, serviceToken, dataDir: settings.dataDir, isConfigFound };
};

const causesOf = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [];
  return [error.message, ...causesOf(error.cause)];
};

/** Prints why the start failed, and ends the process. By then, it must not listen on a port or hold a lock. */
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

/**
 * Serves until SIGTERM or SIGINT, then finishes running requests and exits with 0. Exits with 2 after printing every
 * fault if the configuration is faulty, and with 1 on any other failure.
 */
export const serve = async (halves: Halves): Promise<void> => {
  // Files that the process creates are readable only by their owner, whatever umask the shell sets.
  process.umask(0o077);
  const keepStarted = endWhileStarting();
  try {
    const config = loadConfig(environment(), shippedConfig, {
      runsGateway: halves.gateway,
      runsService: halves.service,
    });
    const running = await start(config, halves);
    // Handle signals before printing that the product is up. A signal that follows that line at once would otherwise
    // end the process without writing the last mark.
    endOnSignalOrFault(running, config.settings.shutdown.graceSeconds * secondMs);
    keepStarted();
    announce(running, config, halves);
  } catch (error) {
    failStart(error);
  }
};
