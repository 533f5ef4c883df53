/** The options of `createGateway` and their check. One error names all faults, before anything is opened. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { HostRequest, Identify, NodeRequest } from '../gateway/authenticate/host-session.js';
import type { UpstreamSettings } from '../gateway/upstream/http-upstream.js';
import { capabilityNames } from '../model/capability.js';
import { gatewayIdMend, isGatewayId } from '../model/gateway-id.js';
import { nearestName } from '../model/nearest-name.js';
import { isOrigin, originFault, originMend } from '../platform/addresses/origin.js';
import type { Cache } from '../platform/caches/cache.js';
import { hookSecretMend, isHookSecret } from '../platform/config/hook-secrets.js';
import type { Limiters } from '../platform/limits/limiter.js';

/** Receives the gateway's log lines. A pino logger fits. */
export type HostLog = {
  debug(line: object, message: string): void;
  info(line: object, message: string): void;
  warn(line: object, message: string): void;
  error(line: object, message: string): void;
  /** `redact`: fields to hide in the child's lines; empty: none. */
  child(bindings: Record<string, unknown>, options?: { redact?: string[] }): HostLog;
};

/** `Request`: what the host's framework passes to a step, if `identify` reads more of it than its headers. */
export type LibraryOptions<Request extends NodeRequest = HostRequest> = {
  /**
   * Returns the claims of the logged-in user as the policy declares them, with at least `sub`; null if nobody is logged
   * in. Called at every request.
   */
  readonly identify: Identify<Request>;
  /** Maximum milliseconds for `identify`. Default: 10,000. */
  readonly identifyTimeoutMs?: number;
  /** Path of the policy file. Changes of the file take effect while the gateway runs. */
  readonly policies: string;
  /**
   * The service that mints the tokens, the API key of the policy's data app, and limits of the calls: see
   * `gateway.upstream`.
   */
  readonly service: { readonly url: string; readonly apiKey: string } & Partial<UpstreamSettings>;
  /** URL of the service for browsers. Default: `service.url`. */
  readonly publicServiceUrl?: string;
  /** Further origins whose pages may send requests with cookies. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** The host's own origin as browsers see it. Needed if a proxy in front changes the Host header. */
  readonly publicOrigin?: string;
  /** URL of a PostgreSQL database for the gateway's ledger. Needed for several replicas. */
  readonly databaseUrl?: string;
  /** Folder of the embedded database, if there is no `databaseUrl`. Only one process may use it. Default: `./data`. */
  readonly dataDir?: string;
  /** Whether the embedded database writes to disk before it acknowledges a write. Default: true. */
  readonly flush?: boolean;
  /** Continues although the embedded database has lost writes. Set it only after an error has reported the loss. */
  readonly acceptLoss?: boolean;
  /** The operators' token for `/gateway/admin` and the command line. Default: nobody has access. */
  readonly gatewayToken?: string;
  /** Days for which decisions are stored for `policy explain --request`. Default: 30. */
  readonly explanationDays?: number;
  /** Secrets (`whsec_...`) that may sign the host's hooks. Default: hooks are off. */
  readonly hookSecrets?: readonly string[];
  /** Maximum difference between the clocks of sender and gateway, in seconds. Default: 300. */
  readonly hookToleranceSeconds?: number;
  /** Name of this gateway at the service, the same for all of its replicas. Default: one of its database. */
  readonly deploymentId?: string;
  /** Default: the memory of this process. For several replicas, use `openRedisCache`. */
  readonly cache?: Cache;
  /** Requests per minute of one user and of one tenant. Default: 300 and 12,000; null: no limit. */
  readonly limits?: { readonly userPerMinute?: number | null; readonly tenantPerMinute?: number | null };
  /** The counters of the limits. Default: in this process. For several replicas, use `openRedisLimiters`. */
  readonly limiters?: Limiters;
  /** Environment variables with the secrets that the policy names. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Receives one line for each request. Default: JSON on standard output. */
  readonly log?: HostLog;
};

/**
 * The options of `createGateway` are invalid. `message` names every fault and how to fix it.
 *
 * @example
 * ```ts
 * import { createGateway, InvalidOptions, type LibraryOptions } from '@guestlist/gateway';
 *
 * const start = async (options: LibraryOptions) => {
 *   try {
 *     return await createGateway(options);
 *   } catch (error) {
 *     if (error instanceof InvalidOptions) for (const fault of error.faults) console.error(fault);
 *     throw error;
 *   }
 * };
 * ```
 */
export class InvalidOptions extends TypeError {
  override readonly name = 'InvalidOptions';
  constructor(
    /** One line for each fault: the path of the option and what was expected. */
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
const origin = z.string({ error: originMend }).refine(isOrigin, { error: ({ input }) => originFault(input) });
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
  deploymentId: z.string().refine(isGatewayId, gatewayIdMend).optional(),
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

const suggest = (key: string, known: readonly string[]): string => {
  const near = nearestName(key, known);
  return near === undefined ? `the options are ${known.join(', ')}` : `did you mean ${near}?`;
};

const linesOf = ({ path, ...issue }: z.core.$ZodIssue): readonly string[] => {
  if (issue.code !== 'unrecognized_keys') return [lineOf(path, issue.message)];
  return issue.keys.map((key) => lineOf([...path, key], `unknown option; ${suggest(key, knownIn(path))}`));
};

/** Throws InvalidOptions. Opens nothing and reads no file. */
export const assertLibraryOptions = (options: object): void => {
  const { error } = schema.safeParse(options);
  if (error !== undefined) throw new InvalidOptions(error.issues.flatMap(linesOf));
};
