/**
 * Reads the environment variables: overrides of settings, and the secrets, which no file may hold. main.ts passes in
 * the environment.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isRecord } from '../../model/is-record.js';
import { nearestName } from '../../model/nearest-name.js';
import { minimumSecretLength } from '../keys/jwt-keys.js';
import { readKeyRing } from '../keys/sealing.js';
import { weaknessOf, weaknessOfBytes } from '../keys/secret-strength.js';
import { severalSecrets } from '../keys/several-secrets.js';
import { hookSecretMend, isHookSecret, readHookSecrets } from './hook-secrets.js';

/** One configuration fault: the file with its line, the path and how to fix it. */
export type ConfigFault = { readonly file: string; readonly path: string; readonly mend: string };

/**
 * A part of the configuration with secrets or files of its own. `operator`: the command line as an operator of a running
 * server. `issuers`: who may sign sessions. `mail`: the mail server. `receivers`: channels and models. `sealing`: what
 * encrypts stored secrets. `backup`: the key of backups.
 */
export type ConfigPart = 'gateway' | 'service' | 'operator' | 'issuers' | 'mail' | 'receivers' | 'sealing' | 'backup';

/** The secrets. They come only from the environment, because files may be committed. */
export type Secrets = {
  readonly hostJwtSecret: string | null;
  readonly demoJwtSecret: string | null;
  readonly apiKey: string | null;
  readonly serviceToken: string | null;
  readonly demoApiKey: string | null;
  /** Grants operators and the command line access to the gateway. */
  readonly gatewayToken: string | null;
  /** Grants a scraper access to the meters, the reference and the details of readiness only. */
  readonly metricsToken: string | null;
  /** Secrets that may sign the host's hooks. Hooks are off if the list is empty. */
  readonly hookSecrets: readonly string[];
  /** The secret of Studio as a client of its OpenID Connect issuer. */
  readonly studioClientSecret: string | null;
  /** The mail server, with user and password. */
  readonly smtpUrl: string | null;
  readonly dkimKey: string | null;
  /** The keys that encrypt the credentials of datasources at rest, each 32 bytes in base64. The first one seals. */
  readonly encryptionKey: string | null;
  /** The keys of backups, each 32 bytes in base64. The first one seals, every one opens. */
  readonly backupKey: string | null;
};

const generated = 'created at first start, in credentials.json of dataDir (mode 0600)';

/**
 * The variable of each secret: what the secret is for, and what happens if the variable is not set. Only the parts in `of`
 * read it.
 */
export const secretVariables = {
  hostJwtSecret: {
    variable: 'GUESTLIST_HOST_JWT_SECRET',
    of: ['issuers'],
    meaning:
      'HS256 secret that the host application signs its sessions with, at least 32 characters; several with spaces between them',
    absent: 'only the demo and the issuers of gateway.session.issuers',
  },
  gatewayToken: {
    variable: 'GUESTLIST_GATEWAY_TOKEN',
    of: ['gateway', 'service', 'operator'],
    meaning:
      'credential of operators and of this command line at /gateway/admin, at least 32 characters; several with spaces between them',
    absent: generated,
  },
  serviceToken: {
    variable: 'GUESTLIST_SERVICE_TOKEN',
    of: ['gateway', 'service', 'operator'],
    meaning: 'the first service token',
    absent: generated,
  },
  apiKey: {
    variable: 'GUESTLIST_API_KEY',
    of: ['gateway', 'service', 'operator'],
    meaning: 'API key of the data app that the gateway mints tokens for, where the service is another process',
    absent: 'no key is needed where the service runs in the same process',
  },
  metricsToken: {
    variable: 'GUESTLIST_METRICS_TOKEN',
    of: ['gateway', 'service'],
    meaning:
      'lets a scraper read /metrics, /docs, /openapi.json and the causes in /readyz in production, at least 32 characters; several with spaces between them',
    absent: 'the gateway token only',
  },
  hookSecrets: {
    variable: 'GUESTLIST_HOOK_SECRETS',
    of: ['gateway', 'service'],
    meaning:
      'secrets that the host application signs its hooks with: whsec_ and 24 to 64 bytes in base64; several with spaces between them',
    absent: 'hooks are off',
  },
  studioClientSecret: {
    variable: 'GUESTLIST_STUDIO_CLIENT_SECRET',
    of: ['gateway', 'service'],
    meaning: 'secret of Studio as a client of the issuer that studio.openId names',
    absent: 'Studio is a public client, which PKCE alone protects',
  },
  smtpUrl: {
    variable: 'GUESTLIST_SMTP_URL',
    of: ['mail'],
    meaning: 'mail server of reports with its password: smtp://user:password@host:587, or smtps://',
    absent: 'no reports are sent',
  },
  dkimKey: {
    variable: 'GUESTLIST_DKIM_KEY',
    of: ['mail'],
    meaning: 'RSA key in PEM that signs messages; line breaks may be written as \\n',
    absent: 'the file that mail.dkim names',
  },
  encryptionKey: {
    variable: 'GUESTLIST_ENCRYPTION_KEY',
    of: ['gateway', 'service', 'sealing'],
    meaning:
      "32 bytes in base64 that encrypt the datasources' credentials; keep it as long as the metadata; several with commas between them: the first seals, all open",
    absent: `${generated}; required in production with DATABASE_URL, the same for all replicas`,
  },
  backupKey: {
    variable: 'GUESTLIST_BACKUP_KEY',
    of: ['backup'],
    meaning:
      '32 bytes in base64 that encrypt the files of `guestlist backup`; keep it away from them; several with commas between them: the first seals, all open',
    absent: 'the command needs --key-file',
  },
  demoApiKey: {
    variable: 'GUESTLIST_DEMO_API_KEY',
    of: ['gateway', 'service'],
    meaning: "API key of the demo's data app",
    absent: generated,
  },
  demoJwtSecret: {
    variable: 'GUESTLIST_DEMO_JWT_SECRET',
    of: ['gateway', 'service'],
    meaning: "secret that the demo's sessions are signed with, at least 32 characters",
    absent: generated,
  },
} as const satisfies Readonly<
  Record<
    keyof Secrets,
    {
      readonly variable: string;
      readonly of: readonly ConfigPart[];
      readonly meaning: string;
      readonly absent: string;
    }
  >
>;

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;
type Override = {
  readonly variable: string;
  readonly path: readonly string[];
  readonly read: (text: string) => unknown;
};

const asText = (text: string): unknown => text;
const asNumber = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text);
const asList = (text: string): unknown => text.split(/[\s,]+/).filter((part) => part !== '');
const asSwitch = (text: string): unknown =>
  text === '0' || text === 'false' ? false : text === '1' || text === 'true' ? true : text;

/** The environment variables of the start contract, and the setting that each one overrides. */
const overrides: readonly Override[] = [
  { variable: 'HOST', path: ['server', 'host'], read: asText },
  { variable: 'PORT', path: ['server', 'port'], read: asNumber },
  { variable: 'GUESTLIST_MANAGEMENT_HOST', path: ['management', 'host'], read: asText },
  { variable: 'GUESTLIST_MANAGEMENT_PORT', path: ['management', 'port'], read: asNumber },
  { variable: 'GUESTLIST_SHUTDOWN_GRACE_SECONDS', path: ['shutdown', 'graceSeconds'], read: asNumber },
  { variable: 'GUESTLIST_SHUTDOWN_NOTICE_SECONDS', path: ['shutdown', 'noticeSeconds'], read: asNumber },
  { variable: 'GUESTLIST_DATA_DIR', path: ['dataDir'], read: asText },
  { variable: 'DATABASE_URL', path: ['databaseUrl'], read: asText },
  { variable: 'GUESTLIST_FLUSH', path: ['embeddedDatabase', 'flush'], read: asSwitch },
  { variable: 'REDIS_URL', path: ['redisUrl'], read: asText },
  { variable: 'GUESTLIST_LOG_LEVEL', path: ['logLevel'], read: asText },
  { variable: 'GUESTLIST_DEMO', path: ['demo'], read: asSwitch },
  { variable: 'GUESTLIST_RENDERS_NICENESS', path: ['renders', 'niceness'], read: asNumber },
  { variable: 'GUESTLIST_MCP', path: ['mcp', 'isEnabled'], read: asSwitch },
  { variable: 'GUESTLIST_ALLOWED_ORIGINS', path: ['gateway', 'allowedOrigins'], read: asList },
  { variable: 'GUESTLIST_PUBLIC_ORIGIN', path: ['gateway', 'publicOrigin'], read: asText },
  { variable: 'GUESTLIST_SERVICE_URL', path: ['gateway', 'upstream', 'serviceUrl'], read: asText },
  { variable: 'GUESTLIST_GUEST_TOKEN_PER_MINUTE', path: ['limits', 'guestTokenPerMinute'], read: asNumber },
  { variable: 'GUESTLIST_GUEST_ADDRESS_PER_MINUTE', path: ['limits', 'guestAddressPerMinute'], read: asNumber },
  {
    variable: 'GUESTLIST_FAILED_CREDENTIALS_PER_MINUTE',
    path: ['limits', 'failedCredentialsPerMinute'],
    read: asNumber,
  },
  { variable: 'GUESTLIST_USER_PER_MINUTE', path: ['gateway', 'limits', 'userPerMinute'], read: asNumber },
  { variable: 'GUESTLIST_TENANT_PER_MINUTE', path: ['gateway', 'limits', 'tenantPerMinute'], read: asNumber },
];

/** Every environment variable that is read. Policies and issuers can name more. */
const settingVariables: readonly string[] = [
  'GUESTLIST_CONFIG',
  ...overrides.map(({ variable }) => variable),
  ...Object.values(secretVariables).map(({ variable }) => variable),
];

const withValue = (tree: unknown, [head, ...rest]: readonly string[], value: unknown): unknown => {
  if (head === undefined) return value;
  const base = isRecord(tree) ? tree : {};
  return { ...base, [head]: withValue(base[head], rest, value) };
};

/** Returns the variable's text. An empty text counts as not set. */
export const given = (env: Environment, variable: string): string | undefined => {
  const text = env[variable];
  return text === undefined || text === '' ? undefined : text;
};

/** Returns the settings of a file, overridden by those of the environment. */
export const applyEnvironment = (tree: unknown, env: Environment): unknown =>
  overrides.reduce((result, { variable, path, read }) => {
    const text = given(env, variable);
    return text === undefined ? result : withValue(result, path, read(text));
  }, tree);

/** Returns the variable that overrides the setting at `path`, or the list that the path is an item of, or undefined. */
export const variableOf = (path: string): string | undefined =>
  overrides.find((override) => `${path}.`.startsWith(`${override.path.join('.')}.`))?.variable;

/** Which secrets are required for the parts of the product that will run. */
export type Needs = {
  readonly session: boolean;
  readonly serviceUrl: boolean;
  readonly apiKey: boolean;
  readonly encryptionKey: boolean;
  /** Whether weak secrets are faults, as in production. */
  readonly strongSecrets: boolean;
};

const missing = (path: string, mend: string): ConfigFault => ({ file: '(environment)', path, mend });

const tooShort = (path: string, secret: string | null): readonly ConfigFault[] =>
  secret !== null && secret.length < minimumSecretLength
    ? [missing(path, `must have at least ${minimumSecretLength} characters; make one with "openssl rand -base64 48"`)]
    : [];

const getApiKey =
  'set an API key of the data app that the policy names. The service makes one, with a service token, by ' +
  'POST /api/v2/data-app/api-tokens {"dataAppName": "...", "name": "gateway"}, and shows it once. Gateway and service in one process need none';

/** A credential that is sent as a Bearer header cannot hold spaces, line ends or letters beyond ASCII. */
const formFaults = ({ apiKey, serviceToken, gatewayToken, metricsToken }: Secrets): readonly ConfigFault[] => {
  const sent = {
    GUESTLIST_API_KEY: apiKey,
    GUESTLIST_SERVICE_TOKEN: serviceToken,
    GUESTLIST_GATEWAY_TOKEN: gatewayToken,
    GUESTLIST_METRICS_TOKEN: metricsToken,
  };
  const several = ['GUESTLIST_GATEWAY_TOKEN', 'GUESTLIST_METRICS_TOKEN'];
  const isSendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
  const malformed = Object.entries(sent).filter(
    ([path, secret]) =>
      secret !== null && !(several.includes(path) ? severalSecrets(secret) : [secret]).every(isSendable),
  );
  return [
    ...malformed.map(([path]) =>
      missing(
        path,
        'has a space, a line end or a letter that no header can hold: set the credential alone, without "Bearer"',
      ),
    ),
    ...(apiKey !== null && apiKey === serviceToken
      ? [missing('GUESTLIST_API_KEY', `is the service token: ${getApiKey}`)]
      : []),
  ];
};

const makeEncryptionKey = 'make one by `openssl rand -base64 32`, and keep it as long as the metadata';

/** Requires a common key for all replicas. If each replica created its own, it could not open what the others stored. */
const encryptionKeyFaults = (key: string | null, isNeeded: boolean): readonly ConfigFault[] => {
  if (key === null) {
    return isNeeded
      ? [
          missing(
            'GUESTLIST_ENCRYPTION_KEY',
            `is not set, but in production DATABASE_URL is shared by replicas, which must share the key of its credentials too: ${makeEncryptionKey}`,
          ),
        ]
      : [];
  }
  return readKeyRing(key) === undefined
    ? [
        missing(
          'GUESTLIST_ENCRYPTION_KEY',
          `is not 32 bytes in base64, or several of them with commas between them: ${makeEncryptionKey}`,
        ),
      ]
    : [];
};

/** The one form of a key of backups, also in a file. */
export const backupKeyMend =
  'must be 32 bytes in base64, or several of them with commas between them: make one by `openssl rand -base64 32`, and keep it away from the backups';

const backupKeyFaults = (key: string | null): readonly ConfigFault[] =>
  key === null || readKeyRing(key) !== undefined ? [] : [missing('GUESTLIST_BACKUP_KEY', backupKeyMend)];

const hookSecretFaults = (secrets: readonly string[]): readonly ConfigFault[] =>
  secrets.every(isHookSecret)
    ? []
    : [
        missing(
          'GUESTLIST_HOOK_SECRETS',
          `must hold secrets of Standard Webhooks, "whsec_" and 24 to 64 bytes in base64, with spaces between them: ${hookSecretMend}`,
        ),
      ];

const makeSecret = 'make one by `openssl rand -base64 48`';

const weak = (path: string, weakness: string | undefined, mend: string): readonly ConfigFault[] =>
  weakness === undefined ? [] : [missing(path, `${weakness}: ${mend}`)];

/** Returns faults for secrets that are long enough and well formed but weak. Other faults are reported elsewhere. */
const weakFaults = (secrets: Secrets): readonly ConfigFault[] => {
  const texts = {
    GUESTLIST_HOST_JWT_SECRET: secrets.hostJwtSecret,
    GUESTLIST_API_KEY: secrets.apiKey,
    GUESTLIST_SERVICE_TOKEN: secrets.serviceToken,
    GUESTLIST_GATEWAY_TOKEN: secrets.gatewayToken,
    GUESTLIST_METRICS_TOKEN: secrets.metricsToken,
  };
  const { encryptionKey, hookSecrets } = secrets;
  const keys = encryptionKey === null ? [] : (readKeyRing(encryptionKey) ?? []);
  return [
    ...Object.entries(texts).flatMap(([path, secret]) =>
      secret === null ? [] : severalSecrets(secret).flatMap((one) => weak(path, weaknessOf(one), makeSecret)),
    ),
    ...hookSecrets
      .filter(isHookSecret)
      .flatMap((secret) => weak('GUESTLIST_HOOK_SECRETS', weaknessOfBytes(secret), hookSecretMend)),
    ...keys.flatMap((key) =>
      weak('GUESTLIST_ENCRYPTION_KEY', weaknessOfBytes(key.toString('base64')), makeEncryptionKey),
    ),
  ];
};

const lengthFaults = ({
  hostJwtSecret,
  demoJwtSecret,
  gatewayToken,
  metricsToken,
}: Secrets): readonly ConfigFault[] => [
  ...tooShort('GUESTLIST_HOST_JWT_SECRET', hostJwtSecret),
  ...tooShort('GUESTLIST_DEMO_JWT_SECRET', demoJwtSecret),
  ...tooShort('GUESTLIST_GATEWAY_TOKEN', gatewayToken),
  ...tooShort('GUESTLIST_METRICS_TOKEN', metricsToken),
];

const smtpFaults = (smtpUrl: string | null): readonly ConfigFault[] =>
  smtpUrl === null || (URL.canParse(smtpUrl) && /^smtps?:\/\/[^/?#]+\/?$/.test(smtpUrl))
    ? []
    : [missing('GUESTLIST_SMTP_URL', 'must be smtp://user:password@host:port, or smtps:// for TLS from the start')];

/** Returns faults for missing or unusable variables. No fault contains a secret. */
export const environmentFaults = (secrets: Secrets, needs: Needs): readonly ConfigFault[] => [
  ...(needs.strongSecrets ? weakFaults(secrets) : lengthFaults(secrets)),
  ...formFaults(secrets),
  ...hookSecretFaults(secrets.hookSecrets),
  ...smtpFaults(secrets.smtpUrl),
  ...encryptionKeyFaults(secrets.encryptionKey, needs.encryptionKey),
  ...backupKeyFaults(secrets.backupKey),
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
    ? [missing('GUESTLIST_API_KEY', `is not set, but the service is another process: ${getApiKey}`)]
    : []),
];

/** Reads the secrets of the parts. A secret is null if its variable is not set, and if it is of other parts. */
export const readSecrets = (env: Environment, parts: ReadonlySet<ConfigPart>): Secrets => {
  const read = (name: keyof typeof secretVariables): string | null => {
    const { variable, of } = secretVariables[name];
    return of.some((part) => parts.has(part)) ? (given(env, variable) ?? null) : null;
  };
  return {
    hostJwtSecret: read('hostJwtSecret'),
    demoJwtSecret: read('demoJwtSecret'),
    apiKey: read('apiKey'),
    serviceToken: read('serviceToken'),
    demoApiKey: read('demoApiKey'),
    encryptionKey: read('encryptionKey'),
    backupKey: read('backupKey'),
    gatewayToken: read('gatewayToken'),
    metricsToken: read('metricsToken'),
    studioClientSecret: read('studioClientSecret'),
    smtpUrl: read('smtpUrl'),
    dkimKey: read('dkimKey'),
    hookSecrets: readHookSecrets(read('hookSecrets') ?? ''),
  };
};

const localSettingsFile = 'guestlist.yaml';
const localEnvironmentFile = 'guestlist.env';

/** Whether the configuration is a file that was only found in `folder`, and that nobody named. */
export const isFoundInFolder = (env: Environment, folder: string): boolean =>
  given(env, 'GUESTLIST_CONFIG') === undefined && existsSync(join(folder, localSettingsFile));

/**
 * Returns the environment with GUESTLIST_CONFIG set to `guestlist.yaml` of `folder`, if that file exists and no other is named, and
 * with the variables of `guestlist.env` beside the configuration file. Variables of the process come first.
 */
export const withLocalFiles = (env: Environment, folder: string): Environment => {
  const local = isFoundInFolder(env, folder) ? join(folder, localSettingsFile) : undefined;
  const named = given(env, 'GUESTLIST_CONFIG') ?? local;
  if (named === undefined) return env;
  const file = join(dirname(resolve(folder, named)), localEnvironmentFile);
  const kept = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const set = Object.fromEntries(
    Object.keys(env)
      .flatMap((name) => [[name, given(env, name)]])
      .filter(([, value]) => value !== undefined),
  );
  return { ...kept, ...set, GUESTLIST_CONFIG: named };
};

export type UnknownVariable = {
  readonly variable: string;
  /** The setting that was probably meant. */
  readonly suggestion: string | undefined;
};

/** What Kubernetes sets in every container beside a Service named `guestlist`, and the variables of our scripts. */
const ofOthers =
  /^GUESTLIST_(?:PORT(?:_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)?|SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|URL)$/;

/** Settings whose names have no prefix of ours, in words. */
const unprefixed = settingVariables.filter((name) => !name.startsWith('GUESTLIST_') && name.includes('_'));

/**
 * Such a setting that is not set, if each word of the name is nearly one of its words: DATABSE_URL for DATABASE_URL. The
 * environment has names of other programs too, so a name that is only similar as a whole is not ours.
 */
const unprefixedNear = (name: string, env: Environment): string | undefined =>
  unprefixed.find((known) => {
    const [words, meant] = [name.split('_'), known.split('_')];
    const isNear = words.every((word, at) => nearestName(word, meant.slice(at, at + 1)) !== undefined);
    return name !== known && words.length === meant.length && isNear && given(env, known) === undefined;
  });

/** `isUsed` says whether a policy or an issuer names the variable. Values are never read. */
export const findUnknownVariables = (env: Environment, isUsed: (name: string) => boolean): readonly UnknownVariable[] =>
  Object.keys(env)
    .filter((name) => !settingVariables.includes(name) && !ofOthers.test(name) && !isUsed(name))
    .sort()
    .flatMap((variable) => {
      if (variable.startsWith('GUESTLIST_')) return [{ variable, suggestion: nearestName(variable, settingVariables) }];
      const suggestion = unprefixedNear(variable, env);
      return suggestion === undefined ? [] : [{ variable, suggestion }];
    });

/** The message about one of them. */
export const describeUnknown = ({ variable, suggestion }: UnknownVariable): string =>
  `${variable} is not a setting; ${suggestion === undefined ? 'it is ignored. `guestlist --help` lists the variables' : `did you mean ${suggestion}?`}`;
