/** The options of `createGateway` for hosts, and their check: one error names all faults, before anything is opened. */
import { existsSync } from 'node:fs';
import type { Request } from 'express';
import { z } from 'zod';
import { capabilityNames } from '../domain/capability.js';
import type { Identify } from '../gateway/authenticate/host-session.js';
import type { UpstreamSettings } from '../gateway/upstream/http-upstream.js';
import type { Cache } from '../platform/cache.js';
import { hookSecretMend, isHookSecret } from '../platform/hook-secrets.js';
import type { Limiters } from '../platform/limiter.js';
import { isOrigin, originMend } from '../platform/origin.js';

/** Takes the gateway's log lines. A logger of pino is one. */
export type HostLog = {
  debug(line: object, message: string): void;
  info(line: object, message: string): void;
  warn(line: object, message: string): void;
  error(line: object, message: string): void;
  /** `redact`: no field of the child's lines is hidden. */
  child(bindings: Record<string, unknown>, options?: { redact?: string[] }): HostLog;
};

export type LibraryOptions = {
  /** Who is logged in: claims as the policy declares them, `sub` at least; null: nobody. Asked at every request. */
  readonly identify: Identify<Request>;
  /** How long it may take; ten seconds where left out. */
  readonly identifyTimeoutMs?: number;
  /** Path of the policy file, which is followed while the gateway runs. */
  readonly policies: string;
  /** The service that mints the tokens, the API key of the policy's data app there, and how it is spared: see `gateway.upstream`. */
  readonly service: { readonly url: string; readonly apiKey: string } & Partial<UpstreamSettings>;
  /** Where browsers reach the service; `service.url` where left out. */
  readonly publicServiceUrl?: string;
  /** Origins beside the host's own whose pages may ask with their cookies; none where left out. */
  readonly allowedOrigins?: readonly string[];
  /** The host's own origin as browsers see it; needed where a proxy in front changes the Host header. */
  readonly publicOrigin?: string;
  /** PostgreSQL for what the gateway remembers for good; needed for several replicas. */
  readonly databaseUrl?: string;
  /** Folder of the embedded database where there is no `databaseUrl`; `./data` where left out. One process may use it. */
  readonly dataDir?: string;
  /** Whether each write of the embedded database is on the disk before it is acknowledged; true where left out. */
  readonly flush?: boolean;
  /** Goes on without what the embedded database lost, once an error said that it lost something. */
  readonly acceptLoss?: boolean;
  /** Lets operators and the command line in at `/gateway/admin`; nobody where left out. */
  readonly gatewayToken?: string;
  /** How long what a request was decided on is kept for `policy explain --request`; 30 days where left out. */
  readonly explanationDays?: number;
  /** Secrets that the host's hooks may be signed with, `whsec_...`; hooks are off where left out. */
  readonly hookSecrets?: readonly string[];
  /** How far the clock of the hooks' sender may be off; five minutes where left out. */
  readonly hookToleranceSeconds?: number;
  /** Memory of this process where left out; `openRedisCache` for several. */
  readonly cache?: Cache;
  /** Requests in a minute, of one user and of one tenant; 300 and 12,000 where left out, none where null. */
  readonly limits?: { readonly userPerMinute?: number | null; readonly tenantPerMinute?: number | null };
  /** Where they are counted: in this process where left out; `openRedisLimiters` for several. */
  readonly limiters?: Limiters;
  /** Environment variables, for the secrets that the policy names. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Receives one line for each request; JSON on standard output where left out. */
  readonly log?: HostLog;
};

/** `createGateway` was called with options that could not work. `message` names every fault and how to fix it. */
export class InvalidOptions extends TypeError {
  override readonly name = 'InvalidOptions';
  constructor(
    /** One line for each fault: the path of the option, and what was expected. */
    readonly faults: readonly string[],
  ) {
    super(
      `createGateway: ${faults.length} invalid ${faults.length === 1 ? 'option' : 'options'}\n  ${faults.join('\n  ')}`,
    );
  }
}

const isUrlOf =
  (...protocols: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && URL.canParse(value) && protocols.includes(new URL(value).protocol);

const isPart =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function');

const given = (error: string) => z.string({ error }).min(1, error);
const checked = (isValid: (value: unknown) => boolean, error: string) => z.custom<unknown>(isValid, { error });
const httpUrl = checked(isUrlOf('http:', 'https:'), 'expected a URL such as https://analytics.example.com');
const origin = z.string({ error: originMend }).refine(isOrigin, { error: originMend });
const flag = z.boolean({ error: 'expected true or false' });
const numberFrom = (least: number) => {
  const error = `expected a whole number, ${least} or more`;
  return z.int({ error }).min(least, error);
};
const perMinute = numberFrom(1).nullable().optional();
const limitOptions = { userPerMinute: perMinute, tenantPerMinute: perMinute } satisfies Record<
  keyof NonNullable<LibraryOptions['limits']>,
  z.ZodType
>;

const capabilitiesError = `expected auto, none, or a list of: ${capabilityNames.join(', ')}`;

const serviceOptions = {
  url: httpUrl,
  apiKey: given('expected the API key of the data app that the policy names'),
  timeoutMs: numberFrom(1).optional(),
  deadlineMs: numberFrom(1).optional(),
  retries: numberFrom(0).optional(),
  maxConcurrent: numberFrom(1).optional(),
  maxQueued: numberFrom(0).optional(),
  breakerFailures: numberFrom(1).optional(),
  breakerOpenMs: numberFrom(0).optional(),
  capabilities: z
    .union([z.enum(['auto', 'none']), z.array(z.enum(capabilityNames))], { error: capabilitiesError })
    .optional(),
} satisfies Record<keyof LibraryOptions['service'], z.ZodType>;

const identifyError = "expected a function that takes the request and returns its user's claims, or null";
const policiesError = 'expected the path of a policy file';

const libraryOptions = {
  identify: checked((value) => typeof value === 'function', identifyError),
  identifyTimeoutMs: numberFrom(1).optional(),
  policies: given(policiesError).refine(existsSync, {
    error: ({ input }) => `${String(input)} is not found: ${policiesError}`,
  }),
  service: z.strictObject(serviceOptions, { error: 'expected { url, apiKey } of the service' }),
  publicServiceUrl: httpUrl.optional(),
  allowedOrigins: z.array(origin, { error: 'expected a list of origins' }).optional(),
  publicOrigin: origin.optional(),
  databaseUrl: checked(
    isUrlOf('postgres:', 'postgresql:'),
    'expected a URL such as postgres://user@host/database',
  ).optional(),
  dataDir: given('expected the path of a folder').optional(),
  flush: flag.optional(),
  acceptLoss: flag.optional(),
  gatewayToken: given('expected a text').optional(),
  explanationDays: numberFrom(1).optional(),
  hookSecrets: z
    .array(z.string().refine(isHookSecret, { error: `expected a secret of Standard Webhooks: ${hookSecretMend}` }))
    .optional(),
  hookToleranceSeconds: numberFrom(1).optional(),
  cache: checked(
    isPart('get', 'set', 'delete', 'deleteByPrefix', 'close'),
    'expected a cache: see openRedisCache',
  ).optional(),
  limits: z.strictObject(limitOptions, { error: 'expected { userPerMinute, tenantPerMinute }' }).optional(),
  limiters: checked(isPart('create', 'close'), 'expected limiters: see openRedisLimiters').optional(),
  variables: z
    .record(z.string(), z.string().optional(), { error: 'expected an object of texts: the environment variables' })
    .optional(),
  log: checked(isPart('info', 'warn', 'error', 'debug', 'child'), 'expected a logger of pino').optional(),
} satisfies Record<keyof LibraryOptions, z.ZodType>;

const schema = z.strictObject(libraryOptions, { error: 'expected an object of options' });

const lineOf = (path: readonly PropertyKey[], text: string): string =>
  `${path.map(String).join('.') || 'options'}: ${text}`;

const knownIn = ([of]: readonly PropertyKey[]): readonly string[] => {
  if (of === 'service') return Object.keys(serviceOptions);
  return Object.keys(of === 'limits' ? limitOptions : libraryOptions);
};

/** How many letters have to be added, removed or replaced to make one word of the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const suggest = (key: string, known: readonly string[]): string => {
  const near = known
    .map((name) => ({ name, far: distance(key.toLowerCase(), name.toLowerCase()) }))
    .filter(({ far }) => far <= 3)
    .sort((left, right) => left.far - right.far);
  const [best] = near;
  return best === undefined ? `the options are ${known.join(', ')}` : `did you mean ${best.name}?`;
};

const linesOf = ({ path, ...issue }: z.core.$ZodIssue): readonly string[] => {
  if (issue.code !== 'unrecognized_keys') return [lineOf(path, issue.message)];
  return issue.keys.map((key) => lineOf([...path, key], `unknown option; ${suggest(key, knownIn(path))}`));
};

/** Throws InvalidOptions. Opens nothing and reads no file. */
export const assertLibraryOptions = (options: LibraryOptions): void => {
  const { error } = schema.safeParse(options);
  if (error !== undefined) throw new InvalidOptions(error.issues.flatMap(linesOf));
};
