/**
 * The configuration: shipped defaults, a YAML file, the environment, in rising order. All faults are found at once, each with
 * file, path and mend. Reads no environment itself: main.ts hands it over.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { capabilityNames } from '../domain/capability.js';
import { readAllowedHost } from './allowed-hosts.js';
import { databaseUrlMend, isDatabaseUrl } from './database-url.js';
import {
  applyEnvironment,
  type ConfigFault,
  type Environment,
  environmentFaults,
  given,
  readSecrets,
  type Secrets,
  variableOf,
} from './environment.js';
import { type ConfiguredIssuer, issuersSetting, listsIssuers, loadIssuers } from './issuers.js';
import { isOrigin, originMend } from './origin.js';
import { isRedisUrl, redisUrlMend } from './redis-url.js';

const optionalText = z.string().min(1).nullable().default(null);
const origin = z.string().refine(isOrigin, originMend);
const perMinute = (usual: number) => z.number().int().min(1).max(1_000_000_000).nullable().default(usual);
const section = <T extends z.ZodRawShape>(shape: T) => z.strictObject(shape).prefault({} as never);

const settings = z.strictObject({
  server: section({
    host: z.string().min(1).default('127.0.0.1'),
    port: z.number().int().min(0).max(65_535).default(3000),
    headersTimeoutSeconds: z.number().int().min(1).max(600).default(10),
    requestTimeoutSeconds: z.number().int().min(1).max(3600).default(60),
  }),
  management: section({
    host: z.string().min(1).default('127.0.0.1'),
    port: z.number().int().min(0).max(65_535).nullable().default(null),
  }),
  shutdown: section({
    graceSeconds: z.number().int().min(1).max(3600).default(20),
    noticeSeconds: z.number().int().min(0).max(600).default(5),
  }),
  dataDir: z.string().min(1).default('./data'),
  databaseUrl: optionalText.refine((url) => url === null || isDatabaseUrl(url), databaseUrlMend),
  embeddedDatabase: section({ flush: z.boolean().nullable().default(null) }),
  redisUrl: optionalText.refine((url) => url === null || isRedisUrl(url), `REDIS_URL ${redisUrlMend}`),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  demo: z.boolean().default(true),
  datasources: section({
    allowedHosts: z
      .array(z.string().refine((entry) => readAllowedHost(entry) !== undefined, 'a host name or address, or host:port'))
      .default([]),
    duckdbFolders: z.array(z.string().min(1)).default([]),
    maxConnections: z.number().int().min(1).max(10_000).default(100),
    maxConnectionsPerDatasource: z.number().int().min(1).max(1_000).default(10),
    maxConnectionsPerClient: z.number().int().min(1).max(1_000).default(3),
  }),
  queries: section({
    timeoutSeconds: z.number().int().min(1).max(3600).default(30),
    answerRows: z.number().int().min(1).max(1_000_000).default(10_000),
    answerMegabytes: z.number().int().min(1).max(1024).default(32),
    downloadSeconds: z.number().int().min(1).max(86_400).default(600),
    cacheTtlSeconds: z.number().int().min(0).max(86_400).default(60),
    cacheMegabytes: z.number().int().min(1).max(65_536).default(64),
    runningPerClient: z.number().int().min(1).max(1_000).nullable().default(null),
    waitingPerClient: z.number().int().min(0).max(100_000).default(200),
    waiting: z.number().int().min(0).max(1_000_000).default(2_000),
    waitSeconds: z.number().int().min(1).max(600).default(30),
  }),
  limits: section({
    guestTokenPerMinute: perMinute(12_000),
    guestAddressPerMinute: perMinute(3_000),
    failedCredentialsPerMinute: perMinute(300),
    refusedMegabytesPerMinute: z.number().int().min(1).max(1_000_000).nullable().default(8),
  }),
  gateway: section({
    policies: z.string().min(1).default('./policies/flights.yaml'),
    allowedOrigins: z.array(origin).default([]),
    publicOrigin: origin.nullable().default(null),
    session: section({
      cookie: z
        .string()
        .regex(/^[A-Za-z0-9_-]+$/, 'a cookie name of letters, digits, _ and -')
        .default('guestlist_session'),
      issuer: optionalText,
      audience: optionalText,
      clockToleranceSeconds: z.number().int().min(0).max(300).default(5),
      issuers: issuersSetting,
    }),
    upstream: section({
      serviceUrl: z.url().nullable().default(null),
      timeoutMs: z.number().int().min(100).max(60_000).default(10_000),
      deadlineMs: z.number().int().min(100).max(120_000).default(20_000),
      retries: z.number().int().min(0).max(5).default(2),
      maxConcurrent: z.number().int().min(1).max(1_000).default(64),
      maxQueued: z.number().int().min(0).max(100_000).default(1_000),
      breakerFailures: z.number().int().min(1).max(1_000).default(8),
      breakerOpenMs: z.number().int().min(100).max(30_000).default(2_000),
      capabilities: z.union([z.enum(['auto', 'none']), z.array(z.enum(capabilityNames))]).default('auto'),
    }),
    publicServiceUrl: z.url().nullable().default(null),
    limits: section({
      userPerMinute: perMinute(300),
      tenantPerMinute: perMinute(12_000),
      failedSessionsPerMinute: perMinute(300),
      trustedProxies: z.number().int().min(0).max(10).default(0),
    }),
    audit: section({ explanationDays: z.number().int().min(1).max(3650).default(30) }),
    hooks: section({ toleranceSeconds: z.number().int().min(1).max(3600).default(300) }),
  }),
});

export type Settings = z.output<typeof settings>;

export type Config = {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Those of `gateway.session.issuers`, their keys read. */
  readonly issuers: readonly ConfiguredIssuer[];
  /** The environment, for the secrets that a policy names by variable. */
  readonly readVariable: (name: string) => string | undefined;
  /** Folder that relative paths of the file are read from. */
  readonly folder: string;
  readonly isProduction: boolean;
  /** Whether the demo runs: wanted, the shipped file, not in production. */
  readonly isDemo: boolean;
};

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: readonly ConfigFault[]) {
    super(faults.map(({ file, path, mend }) => `${file}: ${path}: ${mend}`).join('\n'));
  }
}

const parseFile = (file: string): { readonly tree: unknown; readonly faults: readonly ConfigFault[] } => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return {
      tree: {},
      faults: [
        {
          file,
          path: '(file)',
          mend: `cannot be read (${error instanceof Error ? error.message : 'unknown'}); name another by GUESTLIST_CONFIG`,
        },
      ],
    };
  }
  const document = parseDocument(text, { lineCounter: new LineCounter() });
  const faults = document.errors.map((error) => ({
    file,
    path: error.linePos === undefined ? '(file)' : `line ${error.linePos[0].line}`,
    mend: error.message.split('\n')[0] ?? 'is no YAML',
  }));
  return { tree: document.toJS() ?? {}, faults };
};

const schemaFaults = (file: string, error: z.ZodError): readonly ConfigFault[] =>
  error.issues.map((issue) => {
    const path = issue.path.join('.');
    const variable = variableOf(path);
    return {
      file: variable === undefined ? file : `${file} or ${variable}`,
      path: path === '' ? '(file)' : path,
      mend: issue.message,
    };
  });

/** The defaults alone, as the shipped file must show them. */
export const defaultSettings = (): Settings => settings.parse({});

const portFaults = (file: string, checked: Settings | undefined): readonly ConfigFault[] =>
  checked !== undefined && checked.management.port !== null && checked.management.port === checked.server.port
    ? [
        { file, path: 'management.port', mend: 'is that of server.port too: give it a port of its own, or null' },
      ].filter(() => checked.server.port !== 0)
    : [];

/** Which halves will run: each needs other settings. */
export type LoadOptions = { readonly runsGateway: boolean; readonly runsService: boolean };

/** Reads the configuration. Throws ConfigError with every fault. */
export const loadConfig = (env: Environment, shipped: string, options: LoadOptions): Config => {
  const named = given(env, 'GUESTLIST_CONFIG');
  const file = named === undefined ? shipped : resolve(named);
  const parsed = parseFile(file);
  const checked = settings.safeParse(applyEnvironment(parsed.tree, env));
  const secrets = readSecrets(env);
  const isProduction = env.NODE_ENV === 'production';
  const isDemo = named === undefined && !isProduction && options.runsService && (checked.data?.demo ?? true);
  const isShared = (checked.data?.databaseUrl ?? null) !== null;
  const serviceUrl = checked.data?.gateway.upstream.serviceUrl ?? null;
  const issuers = options.runsGateway
    ? loadIssuers(parsed.tree, {
        env,
        folder: dirname(file),
        usesSimpleIssuer: secrets.hostJwtSecret !== null,
        strongSecrets: isProduction,
      })
    : { issuers: [], faults: [] };
  const faults = [
    ...parsed.faults,
    ...(checked.error === undefined ? [] : schemaFaults(file, checked.error)),
    ...issuers.faults.map((fault) => ({ file, ...fault })),
    ...portFaults(file, checked.data),
    ...environmentFaults(secrets, {
      session: options.runsGateway && !isDemo && !listsIssuers(parsed.tree),
      serviceUrl: options.runsGateway && !options.runsService && serviceUrl === null,
      encryptionKey: options.runsService && isProduction && isShared,
      apiKey: options.runsGateway && (!isDemo || serviceUrl !== null),
      strongSecrets: isProduction,
    }),
  ];
  if (faults.length > 0 || checked.data === undefined) throw new ConfigError(faults);
  return {
    settings: checked.data,
    secrets,
    issuers: issuers.issuers,
    readVariable: (name) => given(env, name),
    folder: dirname(file),
    isProduction,
    isDemo,
  };
};
