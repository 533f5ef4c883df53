/**
 * The configuration: shipped defaults, a YAML file, the environment, in rising order. All faults are found at once, each with
 * file, path and mend. Reads no environment itself: main.ts hands it over.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { type ConfiguredIssuer, issuersSetting, listsIssuers, loadIssuers } from './issuers.js';
import { isOrigin, originMend } from './origin.js';
import { readSealingKey } from './sealing.js';

const optionalText = z.string().min(1).nullable().default(null);
const origin = z.string().refine(isOrigin, originMend);
const section = <T extends z.ZodRawShape>(shape: T) => z.strictObject(shape).prefault({} as never);

const settings = z.strictObject({
  server: section({
    host: z.string().min(1).default('127.0.0.1'),
    port: z.number().int().min(0).max(65_535).default(3000),
  }),
  dataDir: z.string().min(1).default('./data'),
  databaseUrl: optionalText,
  redisUrl: optionalText,
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  demo: z.boolean().default(true),
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
    }),
    publicServiceUrl: z.url().nullable().default(null),
  }),
});

export type Settings = z.output<typeof settings>;

/** What never stands in a file that is committed: it comes from the environment alone. */
export type Secrets = {
  readonly hostJwtSecret: string | null;
  readonly demoJwtSecret: string | null;
  readonly apiKey: string | null;
  readonly serviceToken: string | null;
  readonly demoApiKey: string | null;
  /** What datasources' credentials are encrypted with at rest: 32 bytes in base64. */
  readonly encryptionKey: string | null;
};

export type Config = {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Those of `gateway.session.issuers`, their keys read. */
  readonly issuers: readonly ConfiguredIssuer[];
  /** Folder that relative paths of the file are read from. */
  readonly folder: string;
  readonly isProduction: boolean;
  /** Whether the demo runs: wanted, the shipped file, not in production. */
  readonly isDemo: boolean;
};

/** One fault: where, what, and how to mend it. */
export type ConfigFault = { readonly file: string; readonly path: string; readonly mend: string };

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: readonly ConfigFault[]) {
    super(faults.map(({ file, path, mend }) => `${file}: ${path}: ${mend}`).join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type Override = {
  readonly variable: string;
  readonly path: readonly string[];
  readonly read: (text: string) => unknown;
};

const asText = (text: string): unknown => text;
const asNumber = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text);
const asSwitch = (text: string): unknown =>
  text === '0' || text === 'false' ? false : text === '1' || text === 'true' ? true : text;

/** The environment variables of the start contract, and the setting that each one overrides. */
const overrides: readonly Override[] = [
  { variable: 'HOST', path: ['server', 'host'], read: asText },
  { variable: 'PORT', path: ['server', 'port'], read: asNumber },
  { variable: 'GUESTLIST_DATA_DIR', path: ['dataDir'], read: asText },
  { variable: 'DATABASE_URL', path: ['databaseUrl'], read: asText },
  { variable: 'REDIS_URL', path: ['redisUrl'], read: asText },
  { variable: 'GUESTLIST_LOG_LEVEL', path: ['logLevel'], read: asText },
  { variable: 'GUESTLIST_DEMO', path: ['demo'], read: asSwitch },
  { variable: 'GUESTLIST_SERVICE_URL', path: ['gateway', 'upstream', 'serviceUrl'], read: asText },
];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withValue = (tree: unknown, [head, ...rest]: readonly string[], value: unknown): unknown => {
  if (head === undefined) return value;
  const base = isRecord(tree) ? tree : {};
  return { ...base, [head]: withValue(base[head], rest, value) };
};

const given = (env: Environment, variable: string): string | undefined => {
  const text = env[variable];
  return text === undefined || text === '' ? undefined : text;
};

const applyEnvironment = (tree: unknown, env: Environment): unknown =>
  overrides.reduce((result, { variable, path, read }) => {
    const text = given(env, variable);
    return text === undefined ? result : withValue(result, path, read(text));
  }, tree);

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
    const variable = overrides.find((override) => override.path.join('.') === path)?.variable;
    return {
      file: variable === undefined ? file : `${file} or ${variable}`,
      path: path === '' ? '(file)' : path,
      mend: issue.message,
    };
  });

const minimumSecretLength = 32;

type Needs = { readonly session: boolean; readonly serviceUrl: boolean; readonly apiKey: boolean };

const missing = (path: string, mend: string): ConfigFault => ({ file: '(environment)', path, mend });

const tooShort = (path: string, secret: string | null): readonly ConfigFault[] =>
  secret !== null && secret.length < minimumSecretLength
    ? [missing(path, `must have at least ${minimumSecretLength} characters; make one with "openssl rand -base64 48"`)]
    : [];

const encryptionKeyFaults = (key: string | null): readonly ConfigFault[] =>
  key === null || readSealingKey(key) !== undefined
    ? []
    : [
        missing(
          'GUESTLIST_ENCRYPTION_KEY',
          'is not 32 bytes in base64: make one by `openssl rand -base64 32`, and keep it as long as the metadata',
        ),
      ];

const environmentFaults = (secrets: Secrets, needs: Needs): readonly ConfigFault[] => [
  ...tooShort('GUESTLIST_HOST_JWT_SECRET', secrets.hostJwtSecret),
  ...tooShort('GUESTLIST_DEMO_JWT_SECRET', secrets.demoJwtSecret),
  ...encryptionKeyFaults(secrets.encryptionKey),
  ...(needs.session && secrets.hostJwtSecret === null
    ? [
        missing(
          'GUESTLIST_HOST_JWT_SECRET',
          'is not set, so no session could be verified: set the secret that the host application signs its sessions with, or list its issuers in gateway.session.issuers',
        ),
      ]
    : []),
  ...(needs.serviceUrl
    ? [missing('GUESTLIST_SERVICE_URL', 'is not set, but the gateway runs alone: set the base URL of the service')]
    : []),
  ...(needs.apiKey && secrets.apiKey === null
    ? [missing('GUESTLIST_API_KEY', "is not set: set the API key of the gateway's data app")]
    : []),
];

const readSecrets = (env: Environment): Secrets => ({
  hostJwtSecret: given(env, 'GUESTLIST_HOST_JWT_SECRET') ?? null,
  demoJwtSecret: given(env, 'GUESTLIST_DEMO_JWT_SECRET') ?? null,
  apiKey: given(env, 'GUESTLIST_API_KEY') ?? null,
  serviceToken: given(env, 'GUESTLIST_SERVICE_TOKEN') ?? null,
  demoApiKey: given(env, 'GUESTLIST_DEMO_API_KEY') ?? null,
  encryptionKey: given(env, 'GUESTLIST_ENCRYPTION_KEY') ?? null,
});

/** The defaults alone, as the shipped file must show them. */
export const defaultSettings = (): Settings => settings.parse({});

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
  const serviceUrl = checked.data?.gateway.upstream.serviceUrl ?? null;
  const issuers = options.runsGateway
    ? loadIssuers(parsed.tree, { env, folder: dirname(file), usesSimpleIssuer: secrets.hostJwtSecret !== null })
    : { issuers: [], faults: [] };
  const faults = [
    ...parsed.faults,
    ...(checked.error === undefined ? [] : schemaFaults(file, checked.error)),
    ...issuers.faults.map((fault) => ({ file, ...fault })),
    ...environmentFaults(secrets, {
      session: options.runsGateway && !isDemo && !listsIssuers(parsed.tree),
      serviceUrl: options.runsGateway && !options.runsService && serviceUrl === null,
      apiKey: options.runsGateway && (!isDemo || serviceUrl !== null),
    }),
  ];
  if (faults.length > 0 || checked.data === undefined) throw new ConfigError(faults);
  return { settings: checked.data, secrets, issuers: issuers.issuers, folder: dirname(file), isProduction, isDemo };
};
