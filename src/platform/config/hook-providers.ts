/**
 * Reads `gateway.hooks.providers`: login and billing providers whose webhooks are accepted, each by a name. Reports all
 * faults at once. No fault contains a secret. gateway/hooks/providers has what each kind sends.
 */
import { z } from 'zod';
import { isLoopback } from '../addresses/addresses.js';
import { jwtAlgorithms } from '../keys/jwt-keys.js';
import { weaknessOf, weaknessOfBytes } from '../keys/secret-strength.js';
import { isHookSecret } from './hook-secrets.js';
import { type OutgoingFault, type OutgoingSources, readVariable, variable } from './outgoing-settings.js';

/** A name as it is in the path. */
const nameShape = 'must be made of up to 64 small letters, digits and "-"';
const providerName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, nameShape);

const cel = z.string().min(1).max(4000);
const headerName = z
  .string()
  .max(100)
  .regex(/^[a-z0-9-]+$/, 'must be the name of a header in small letters');

const every = {
  claims: z.record(z.string().min(1).max(300), cel).default({}),
  when: cel.optional(),
  erase: z.boolean().default(false),
};
const withSecret = {
  ...every,
  secretVariable: variable.optional(),
  secretVariables: z.array(variable).min(1).max(2).optional(),
};

/** The states of a subscription (https://docs.stripe.com/api/subscriptions/object#subscription_object-status). */
const subscriptionStates = [
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'canceled',
  'unpaid',
  'paused',
] as const;
const states = z.array(z.enum(subscriptionStates));

const tolerance = z.number().int().min(1).max(3600).default(300);
const signatureScheme = z.discriminatedUnion('scheme', [
  z.strictObject({ scheme: z.literal('standard-webhooks'), headers: z.enum(['webhook', 'svix']).default('webhook') }),
  z.strictObject({
    scheme: z.literal('hmac'),
    header: headerName,
    encoding: z.enum(['hex', 'base64']).default('hex'),
    prefix: z.string().max(20).default(''),
    timestamp: z
      .strictObject({
        header: headerName,
        unit: z.enum(['seconds', 'milliseconds']).default('seconds'),
        toleranceSeconds: tolerance,
      })
      .nullable()
      .default(null),
  }),
  z.strictObject({ scheme: z.literal('bearer'), header: headerName.default('authorization') }),
  z.strictObject({ scheme: z.literal('jwt'), jwksUrl: z.string().min(1), algorithms: z.array(z.enum(jwtAlgorithms)) }),
]);

const providerSetting = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('clerk'), ...withSecret }),
  z.strictObject({ kind: z.literal('workos'), ...withSecret }),
  z.strictObject({ kind: z.literal('auth0'), ...withSecret }),
  z.strictObject({ kind: z.literal('propelauth'), ...withSecret }),
  z.strictObject({ kind: z.literal('kinde'), ...every, issuer: z.string().min(1) }),
  z.strictObject({ kind: z.literal('logto'), ...withSecret }),
  z.strictObject({
    kind: z.literal('stripe'),
    ...withSecret,
    suspend: states.default(['unpaid', 'paused', 'canceled']),
    resume: states.default(['active', 'trialing']),
  }),
  z.strictObject({
    kind: z.literal('supabase'),
    ...withSecret,
    header: headerName.default('authorization'),
    table: z.string().min(1).max(63).default('organizations'),
  }),
  z.strictObject({
    kind: z.literal('custom'),
    ...withSecret,
    signature: signatureScheme,
    read: z.strictObject({ id: cel, kind: cel, moment: cel }),
  }),
]);

/** The setting `gateway.hooks.providers`. */
export const hookProvidersSetting = z
  .record(providerName, providerSetting, {
    error: ({ code }) => (code === 'invalid_key' ? `a name ${nameShape}` : undefined),
  })
  .default({});
type ProviderSettings = z.output<typeof hookProvidersSetting>;
export type HookProviderSetting = ProviderSettings[string];
export type SignatureSetting = z.output<typeof signatureScheme>;

export const hookProviderKinds = providerSetting.options.map(({ shape }) => shape.kind.value);

/** Returns the settings of a kind that needs no more than its name. Undefined for other kinds. */
export const usualHookProvider = (kind: string): HookProviderSetting | undefined =>
  providerSetting.safeParse({ kind, ...(kind === 'kinde' ? { issuer: 'https://example.kinde.com' } : {}) }).data;

/** A provider with its secrets. `at` returns the place of a field, such as `guestlist.yaml:12:7`. */
export type HookProvider = {
  readonly name: string;
  readonly setting: HookProviderSetting;
  /** A signature by any of them is accepted. There are two while one replaces the other. */
  readonly secrets: readonly string[];
  readonly at: (...field: readonly string[]) => string;
};

/** Where the signing keys of a provider are published. Null if it signs with a secret. */
export const jwksUrlOf = (setting: HookProviderSetting): string | null => {
  if (setting.kind === 'kinde') return `${setting.issuer.replace(/\/+$/, '')}/.well-known/jwks`;
  return setting.kind === 'custom' && setting.signature.scheme === 'jwt' ? setting.signature.jwksUrl : null;
};

/** Whether the provider signs the body. Otherwise a secret in a header is all that it proves. */
export const signsBody = (setting: HookProviderSetting): boolean =>
  setting.kind === 'custom'
    ? setting.signature.scheme !== 'bearer'
    : setting.kind !== 'auth0' && setting.kind !== 'supabase';

const isStandard = (setting: HookProviderSetting): boolean =>
  setting.kind === 'custom'
    ? setting.signature.scheme === 'standard-webhooks'
    : setting.kind === 'clerk' || setting.kind === 'propelauth';

/** Minimum characters of a secret that the provider makes. */
const minimumLength = 16;

const secretFault = (setting: HookProviderSetting, secret: string, isProduction: boolean): string | null => {
  if (isStandard(setting)) {
    if (!isHookSecret(secret)) return 'holds no secret of Standard Webhooks: copy it from the provider, with "whsec_"';
    const weakness = isProduction ? weaknessOfBytes(secret) : undefined;
    return weakness === undefined ? null : `holds a secret that ${weakness}: let the provider make another one`;
  }
  if (secret.length < minimumLength) {
    return `holds a secret of less than ${minimumLength} characters: copy the whole one, or make one by "openssl rand -base64 48"`;
  }
  const weakness = isProduction && !signsBody(setting) ? weaknessOf(secret) : undefined;
  return weakness === undefined ? null : `holds a secret that ${weakness}: make one by "openssl rand -base64 48"`;
};

/** The environment variables of its secrets. */
export const secretVariablesOf = (setting: HookProviderSetting): readonly string[] => {
  if (setting.kind === 'kinde') return [];
  const { secretVariable, secretVariables = [] } = setting;
  return [...(secretVariable === undefined ? [] : [secretVariable]), ...secretVariables];
};

const urlFault = (url: string): string | null => {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null) return 'is no URL: write https://...';
  const isSafe = parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname));
  return isSafe && parsed.username === '' ? null : 'must begin with https://, without a user: keys are fetched there';
};

type Fault = { readonly field: string; readonly mend: string };
type Read = { readonly secrets: readonly string[]; readonly faults: readonly Fault[] };

const readKeys = (setting: HookProviderSetting): Read => {
  const url = jwksUrlOf(setting) ?? '';
  const field = setting.kind === 'kinde' ? 'issuer' : 'signature.jwksUrl';
  const mend = urlFault(url);
  const algorithms =
    setting.kind === 'custom' && setting.signature.scheme === 'jwt' ? setting.signature.algorithms : [];
  return {
    secrets: [],
    faults: [
      ...(mend === null ? [] : [{ field, mend }]),
      ...(secretVariablesOf(setting).length === 0
        ? []
        : [{ field: 'secretVariable', mend: 'has no use here: the keys are those of the JWKS; leave it out' }]),
      ...(algorithms.includes('HS256')
        ? [{ field: 'signature.algorithms', mend: 'has HS256, and a JWKS holds public keys: leave HS256 out' }]
        : []),
    ],
  };
};

const readSecrets = (setting: HookProviderSetting, { env, isProduction }: OutgoingSources): Read => {
  const names = secretVariablesOf(setting);
  const hasBoth = 'secretVariable' in setting && setting.secretVariable !== undefined && names.length > 1;
  if (names.length === 0 || hasBoth) {
    const mend = 'needs secretVariable, or secretVariables with two while one secret replaces the other';
    return { secrets: [], faults: [{ field: '', mend }] };
  }
  const field = names.length === 1 ? 'secretVariable' : 'secretVariables';
  const read = names.map((name) => ({ name, ...readVariable(name, env) }));
  return {
    secrets: read.flatMap(({ value }) => value ?? []),
    faults: read.flatMap(({ name, value, fault }) => {
      const weakness = value === null ? null : secretFault(setting, value, isProduction);
      const mend = fault ?? (weakness === null ? null : `names the variable ${name}, which ${weakness}`);
      return mend === null ? [] : [{ field, mend }];
    }),
  };
};

const otherFaults = (setting: HookProviderSetting): readonly Fault[] => [
  ...(setting.erase && !signsBody(setting)
    ? [{ field: 'erase', mend: 'is for providers that sign the body; this one may only sign up: leave it out' }]
    : []),
  ...(setting.kind === 'stripe' && setting.suspend.some((state) => setting.resume.includes(state))
    ? [{ field: 'resume', mend: 'has a state of `suspend` too: keep it in one of them' }]
    : []),
];

export type PlaceOf = (path: readonly string[]) => string;

const path = ['gateway', 'hooks', 'providers'];

/** Reads the providers with their secrets. `placeOf` returns the place of a path in the configuration file. */
export const loadHookProviders = (settings: ProviderSettings, sources: OutgoingSources, placeOf: PlaceOf) => {
  const loaded = Object.entries(settings).map(([name, setting]) => {
    const { secrets, faults } = jwksUrlOf(setting) === null ? readSecrets(setting, sources) : readKeys(setting);
    const at: HookProvider['at'] = (...field) => placeOf([...path, name, ...field]);
    return { provider: { name, setting, secrets, at }, faults: [...faults, ...otherFaults(setting)] };
  });
  return {
    providers: loaded.map(({ provider }): HookProvider => provider),
    faults: loaded.flatMap(({ provider, faults }): readonly OutgoingFault[] =>
      faults.map(({ field, mend }) => ({
        path: [...path, provider.name, ...(field === '' ? [] : [field])].join('.'),
        mend,
      })),
    ),
  };
};

/** The environment variables that providers name. */
export const hookProviderVariables = (settings: ProviderSettings): readonly string[] =>
  Object.values(settings).flatMap(secretVariablesOf);
