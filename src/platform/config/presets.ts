/**
 * The presets of login providers, as files of the product: what the sessions of a provider say and how they are signed.
 * The policy takes the meaning of claims from a preset, the configuration how an issuer is trusted. Names are a fixed
 * list, so that no text that somebody saves or tries reads another file.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { isRecord } from '../../model/is-record.js';
import { jwtAlgorithms } from '../keys/jwt-keys.js';

export const presetNames = [
  'auth0',
  'better-auth',
  'clerk',
  'cognito',
  'entra',
  'firebase',
  'frontegg',
  'keycloak',
  'kinde',
  'logto',
  'propelauth',
  'stytch',
  'supabase',
  'workos',
] as const;
export type PresetName = (typeof presetNames)[number];

const text = z.string().min(1);
const claims = z.record(z.string(), z.unknown());

const sample = z
  .strictObject({
    name: text,
    claims,
    tenant: text.optional(),
    roles: z.array(text).optional(),
    /** Why the session is refused. */
    refused: text.optional(),
  })
  .refine(({ tenant, roles, refused }) => (refused === undefined) === (tenant !== undefined && roles !== undefined), {
    message: 'takes either tenant and roles, or refused',
  });

const presetSchema = z.strictObject({
  /** The provider's name for people. */
  provider: text,
  /** The provider's page on its tokens. */
  docs: z.url({ protocol: /^https$/ }),
  /** What was read on the provider's own pages, and where. */
  verified: z.array(z.strictObject({ says: text, at: z.url({ protocol: /^https$/ }) })).min(1),
  /** What is known from elsewhere, or depends on the customer's set-up. */
  unverified: z.array(text),
  /** The policy reads this part, and checks it as its own (gateway/policy/schema.ts). */
  session: z.strictObject({ claims, tenant: text, roles: text }),
  issuer: z.strictObject({
    /** How the issuer's `iss` looks, with the customer's parts in braces. */
    iss: text,
    algorithms: z.array(z.enum(jwtAlgorithms)).min(1),
    /** Whether the keys are found by OpenID discovery of the issuer. */
    discover: z.boolean(),
    /** Where the keys are, as `iss`. Left out where they are discovered. */
    jwksUrl: text.optional(),
    /** Whether the configuration must name an audience. */
    audience: z.enum(['required', 'optional', 'none']),
    audienceIs: text,
  }),
  /**
   * The claims that a session of an organization carries, for sign-ups by webhook: `{id}` stands for the id. Left out
   * where the provider knows no organizations, or sends no event of them.
   */
  organization: claims.optional(),
  samples: z.array(sample).min(1),
});
export type Preset = z.output<typeof presetSchema>;
/** What the configuration takes from a preset. */
export type PresetIssuer = Preset['issuer'];

/** Below dist/ of the product or of a package, or below the sources. */
const folders = ['../config/presets/', '../../config/presets/', '../../../config/presets/'];

const fileOf = (name: PresetName): string => {
  const found = folders
    .map((folder) => fileURLToPath(new URL(`${folder}${name}.yaml`, import.meta.url)))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Error(`config/presets/${name}.yaml is missing beside the program`);
  return found;
};

/** The name of a preset's file in faults, and among the files of a policy. */
export const presetFile = (name: PresetName): string => `presets/${name}.yaml`;

/** Whether the file among those of a policy is a preset. */
export const isPresetFile = (file: string): boolean => presetNames.some((name) => presetFile(name) === file);

export const isPresetName = (name: unknown): name is PresetName => presetNames.some((one) => one === name);

/** Returns the text of a preset, as this release has it. */
export const readPresetText = (name: PresetName): string => readFileSync(fileOf(name), 'utf8');

/**
 * Loads a preset, without the meaning of its expressions. Throws if the product is broken.
 */
export const loadPreset = (name: PresetName): Preset => {
  const read = presetSchema.safeParse(parse(readPresetText(name)));
  if (!read.success) throw new Error(`${presetFile(name)}: ${z.prettifyError(read.error)}`);
  return read.data;
};

const filled = (template: unknown, id: string): unknown => {
  if (typeof template === 'string') return template.replaceAll('{id}', () => id);
  if (Array.isArray(template)) return template.map((item) => filled(item, id));
  if (!isRecord(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) => [name.replaceAll('{id}', () => id), filled(value, id)]),
  );
};

/**
 * Returns the claims that a session of the provider's organization `id` would carry, so that the policy's
 * `session.tenant` gives the same tenant for its webhook as for its login. Undefined: the preset has none.
 */
export const organizationClaims = (
  { organization }: Pick<Preset, 'organization'>,
  id: string,
): Readonly<Record<string, unknown>> | undefined => {
  const made = organization === undefined ? undefined : filled(organization, id);
  return isRecord(made) ? made : undefined;
};
