/**
 * Reads the configured session issuers, each with its algorithms and one source of keys. Reports all faults of all
 * issuers at once. No fault contains a key or a secret.
 */

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isRecord } from '../../model/is-record.js';
import type { KeySource } from '../../model/signing-keys.js';
import { keysAddressFault } from '../addresses/keys-address.js';
import { shownUrl } from '../addresses/shown-url.js';
import {
  isWeak,
  type JwtAlgorithm,
  jwtAlgorithms,
  KeyFault,
  keysFor,
  minimumRsaBits,
  minimumSecretLength,
  type NamedKey,
  readPublicKeys,
  secretKey,
} from '../keys/jwt-keys.js';
import { weaknessOf } from '../keys/secret-strength.js';
import { severalSecrets } from '../keys/several-secrets.js';
import { askSetting, type ConfiguredAsk, readAsk } from './asked-issuer.js';
import { isPresetName, loadPreset, type Preset, presetNames } from './presets.js';

const text = z.string().min(1);

/** How much the clock of an issuer may differ, in seconds. */
export const clockTolerance = z.number().int().min(0).max(300).default(5);

const shape = {
  issuer: text.max(1000).describe('the `iss` of its sessions; each issuer once'),
  preset: z
    .enum(presetNames)
    .optional()
    .describe(
      `the login provider: brings algorithms and where the keys are, unless they are given, and says whether audience is needed; of ${presetNames.join(', ')}`,
    ),
  audience: z
    .union([text, z.array(text).min(1)])
    .nullable()
    .default(null)
    .describe('the `aud` that a session must have, or a list of accepted ones; null: not checked'),
  algorithms: z
    .array(z.enum(jwtAlgorithms))
    .min(1)
    .optional()
    .describe(
      `accepted signatures, of ${jwtAlgorithms.join(', ')}; left out with a preset: its own; not for an issuer with \`ask\``,
    ),
  clockToleranceSeconds: clockTolerance.describe('how much its clock may differ'),
  discover: z
    .literal(true)
    .optional()
    .describe('its keys, by exactly one of these six: true: its OpenID document says where they are'),
  jwksUrl: text.optional().describe('address of its JWKS'),
  publicKeyFile: text.optional().describe('file of public keys: PEM, JWK or JWKS'),
  publicKey: text.optional().describe('a public key in PEM'),
  secretVariable: text
    .optional()
    .describe('environment variable of an HS256 secret, at least 32 characters; several with spaces between them'),
  ask: askSetting.optional(),
};

/** The setting `gateway.session.issuers`. */
export const issuersSetting = z.array(z.strictObject(shape)).max(50).default([]);
type IssuerSetting = z.output<typeof issuersSetting>[number];
type Readable = Partial<IssuerSetting>;

/** Keys of the configuration, or where the issuer publishes them. */
type IssuerKeys = readonly NamedKey[] | { readonly jwksUrl: string } | { readonly discover: string };

/** An issuer of signed sessions with its keys. */
export type ConfiguredIssuer = Pick<IssuerSetting, 'issuer' | 'audience' | 'clockToleranceSeconds'> & {
  readonly algorithms: readonly JwtAlgorithm[];
  readonly keys: IssuerKeys;
  readonly source: KeySource;
};

/** An issuer of opaque sessions, whom the host names. */
export type ConfiguredAskedIssuer = Pick<IssuerSetting, 'issuer'> & { readonly ask: ConfiguredAsk };

/** A faulty setting and how to fix it. */
export type IssuerFault = { readonly path: string; readonly mend: string };

export type IssuerSources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths refer to. */
  readonly folder: string;
  /** Whether the simple session settings configure one more issuer. */
  readonly usesSimpleIssuer: boolean;
  /** Whether weak secrets are faults, as in production. The default is false. */
  readonly strongSecrets?: boolean;
};

const keyFields = ['discover', 'jwksUrl', 'publicKeyFile', 'publicKey', 'secretVariable', 'ask'] as const;
type KeyField = Exclude<(typeof keyFields)[number], 'discover' | 'ask'>;
const listed = keyFields.join(', ');
const maxFileBytes = 1024 * 1024;

/** A fault of one field. `mend` follows the path in the message. An empty `field` means the issuer as a whole. */
type Fault = { readonly field: string; readonly mend: string };
type Found = { readonly keys: IssuerKeys | null; readonly ask?: ConfiguredAsk; readonly faults: readonly Fault[] };

const faulty = (field: string, mend: string): Found => ({ keys: null, faults: [{ field, mend }] });

const discoverFault = (issuer: string | undefined): string | null => {
  if (issuer === undefined) return null;
  const fault = keysAddressFault(issuer, true);
  return fault === null ? null : `looks for keys at the address of the issuer, and \`issuer\` ${fault}`;
};

const readDiscover = (issuer: string | undefined): Found => {
  const mend = discoverFault(issuer);
  return mend === null ? { keys: { discover: issuer ?? '' }, faults: [] } : faulty('discover', mend);
};

const readJwksUrl = (url: string): Found => {
  const mend = keysAddressFault(url, true);
  return mend === null ? { keys: { jwksUrl: url }, faults: [] } : faulty('jwksUrl', mend);
};

/** Returns the reason only if this product wrote the text. Messages of the key parser may quote the keys. */
const causeOf = (error: unknown): string =>
  error instanceof KeyFault ? error.message : 'cannot be read as PEM, JWK or JWKS';

const readKeys = (field: KeyField, content: string): Found => {
  try {
    const keys = readPublicKeys(content);
    if (!keys.some(({ key }) => isWeak(key))) return { keys, faults: [] };
    return faulty(field, `has an RSA key under ${minimumRsaBits} bits: let the issuer make a longer one`);
  } catch (error) {
    return faulty(field, `${causeOf(error)}; give the issuer's public key`);
  }
};

const readKeyFile = (path: string, folder: string): Found => {
  const file = resolve(folder, path);
  try {
    if (statSync(file).size > maxFileBytes) return faulty('publicKeyFile', `${file} is larger than 1 MiB`);
    return readKeys('publicKeyFile', readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    return faulty('publicKeyFile', `${file} cannot be read (${reason})`);
  }
};

const readSecret = (name: string, { env, strongSecrets = false }: IssuerSources): Found => {
  const secret = env[name] ?? '';
  if (secret === '') return faulty('secretVariable', `names the variable ${name}, which is not set`);
  const all = severalSecrets(secret);
  const weakness = strongSecrets ? all.map(weaknessOf).find((one) => one !== undefined) : undefined;
  if (weakness !== undefined) {
    return faulty('secretVariable', `names ${name}, which ${weakness}: make one by "openssl rand -base64 48"`);
  }
  if (secret.length >= minimumSecretLength) return { keys: all.map(secretKey), faults: [] };
  return faulty(
    'secretVariable',
    `names ${name}, which must have at least ${minimumSecretLength} characters; make one with "openssl rand -base64 48"`,
  );
};

const readKeyField = (field: KeyField, value: string, sources: IssuerSources): Found => {
  if (field === 'jwksUrl') return readJwksUrl(value);
  if (field === 'publicKeyFile') return readKeyFile(value, sources.folder);
  return field === 'publicKey' ? readKeys(field, value) : readSecret(value, sources);
};

const kindFaults = (field: KeyField | 'discover', algorithms: readonly JwtAlgorithm[]): readonly Fault[] => {
  const isSecret = field === 'secretVariable';
  if (isSecret && algorithms.some((algorithm) => algorithm !== 'HS256')) {
    return [{ field: 'algorithms', mend: 'must be [HS256] alone where the key is a secret (secretVariable)' }];
  }
  if (!isSecret && algorithms.includes('HS256')) {
    return [
      {
        field: 'algorithms',
        mend: `has HS256, but ${field} holds public keys, with which anybody could sign then: leave HS256 out, or give a secretVariable`,
      },
    ];
  }
  return [];
};

const fitFaults = (field: string, keys: readonly NamedKey[], algorithms: readonly JwtAlgorithm[]): readonly Fault[] =>
  algorithms
    .filter((algorithm) => keysFor(keys, algorithm).length === 0)
    .map((algorithm) => ({
      field,
      mend: `has no key for ${algorithm}: give one, or take ${algorithm} out of algorithms`,
    }));

const presetOf = (entry: Readonly<Record<string, unknown>>): Preset | undefined =>
  isPresetName(entry.preset) ? loadPreset(entry.preset) : undefined;

/** Returns the address of the keys, as far as the issuer's name tells it. */
const presetUrl = ({ issuer: { jwksUrl = '' } }: Preset, issuer: unknown): string =>
  typeof issuer === 'string' ? jwksUrl.replaceAll('{iss}', issuer.replace(/\/+$/, '')) : jwksUrl;

const isWhole = (url: string): boolean => !/[{}]/.test(url);

/** Returns the entry with what its preset brings. What the entry says itself stays. */
const withPreset = (entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const preset = presetOf(entry);
  if (preset === undefined || 'ask' in entry) return entry;
  const { algorithms, discover } = preset.issuer;
  const url = presetUrl(preset, entry.issuer);
  const brought = discover ? { discover } : isWhole(url) ? { jwksUrl: url } : {};
  return { algorithms, ...(keyFields.some((field) => field in entry) ? {} : brought), ...entry };
};

/** `entry` is as the configuration has it, without what the preset brings. */
const presetFaults = (entry: Readonly<Record<string, unknown>>): readonly Fault[] => {
  const preset = presetOf(entry);
  if (preset === undefined) return [];
  if ('ask' in entry)
    return [{ field: 'preset', mend: 'is for signed sessions, and `ask` is for opaque ones: keep one' }];
  const { audience, audienceIs, discover } = preset.issuer;
  const url = presetUrl(preset, entry.issuer);
  const isKeyless = !discover && !isWhole(url) && !keyFields.some((field) => field in entry);
  return [
    ...(audience === 'required' && (entry.audience ?? null) === null
      ? [{ field: 'audience', mend: `is missing, which sessions of ${preset.provider} need: ${audienceIs}` }]
      : []),
    ...(isKeyless ? [{ field: 'jwksUrl', mend: `is missing: for ${preset.provider} it is ${url}` }] : []),
  ];
};

/** Opaque sessions have no signature and no audience that could be checked. */
const askedFaults = (raw: object): readonly Fault[] =>
  ['algorithms', 'audience', 'clockToleranceSeconds'].flatMap((field) =>
    field in raw ? [{ field, mend: 'is for signed sessions, and an issuer with `ask` has none: leave it out' }] : [],
  );

const readAsked = (raw: object, { ask: setting }: Readable, sources: IssuerSources): Found => {
  const faults = askedFaults(raw);
  if (setting === undefined) return { keys: null, faults };
  const { ask, faults: found } = readAsk(setting, sources);
  return { keys: null, ask, faults: [...faults, ...found] };
};

const readSigned = (
  field: KeyField | 'discover',
  raw: object,
  { issuer, ...given }: Readable,
  sources: IssuerSources,
): Found => {
  const { algorithms } = given;
  const value = given[field];
  const missing =
    'algorithms' in raw
      ? []
      : [
          {
            field: 'algorithms',
            mend: `is missing: name those that the issuer signs with, of ${jwtAlgorithms.join(', ')}`,
          },
        ];
  if (value === undefined) return { keys: null, faults: missing };
  const found = field === 'discover' ? readDiscover(issuer) : readKeyField(field, String(value), sources);
  const kinds = kindFaults(field, algorithms ?? []);
  const isFixed = Array.isArray(found.keys);
  const fits = kinds.length === 0 && isFixed ? fitFaults(field, found.keys, algorithms ?? []) : [];
  return { keys: found.keys, faults: [...missing, ...found.faults, ...kinds, ...fits] };
};

const readKeySource = (raw: object, given: Readable, sources: IssuerSources): Found => {
  const fields = keyFields.filter((field) => field in raw);
  const [field, ...others] = fields;
  if (field === undefined) return faulty('', `has no key: give one of ${listed}`);
  if (others.length > 0) return faulty('', `has ${fields.join(' and ')}: keep exactly one of ${listed}`);
  return field === 'ask' ? readAsked(raw, given, sources) : readSigned(field, raw, given, sources);
};

/** Where the issuer's keys are kept, for operators. A query of an address may hold a credential. */
const sourceOf = ({ issuer, discover, jwksUrl, publicKeyFile, secretVariable }: Readable): KeySource => {
  if (discover !== undefined && issuer !== undefined) return { kind: 'jwks', name: issuer };
  if (jwksUrl !== undefined) {
    return { kind: 'jwks', name: shownUrl(jwksUrl) };
  }
  if (publicKeyFile !== undefined) return { kind: 'file', name: publicKeyFile };
  return secretVariable === undefined ? { kind: 'setting', name: null } : { kind: 'variable', name: secretVariable };
};

/** Returns the well-formed fields, so that their faults are also reported if other fields are malformed. */
const readable = (tree: Readonly<Record<string, unknown>>): Readable =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, schema]) => {
      const read = schema.safeParse(tree[name]);
      return read.success ? [[name, read.data]] : [];
    }),
  );

const twiceFault = (all: readonly Readable[], index: number, simpleIssuer: string | null): readonly Fault[] => {
  const name = all[index]?.issuer;
  if (name === undefined) return [];
  const first = all.findIndex(({ issuer }) => issuer === name);
  const other = name === simpleIssuer ? 'gateway.session.issuer' : `gateway.session.issuers.${first}`;
  if (first === index && name !== simpleIssuer) return [];
  return [{ field: 'issuer', mend: `is that of ${other} too: which key is meant could not be told; keep one of them` }];
};

/** Returns the session settings of the file, without validation. */
const sessionOf = (tree: unknown): Readonly<Record<string, unknown>> => {
  const gateway = isRecord(tree) ? tree.gateway : undefined;
  const session = isRecord(gateway) ? gateway.session : undefined;
  return isRecord(session) ? session : {};
};

const entriesOf = (tree: unknown): readonly unknown[] => {
  const { issuers } = sessionOf(tree);
  return Array.isArray(issuers) ? issuers : [];
};

/** The environment variables that the issuers of a configuration file name. */
export const issuerVariables = (tree: unknown): readonly string[] =>
  entriesOf(tree)
    .flatMap((entry) => (isRecord(entry) ? [entry, entry.ask] : []))
    .flatMap((entry) => (isRecord(entry) && typeof entry.secretVariable === 'string' ? [entry.secretVariable] : []));

/** Whether a configuration file lists any issuer. */
export const listsIssuers = (tree: unknown): boolean => entriesOf(tree).length > 0;

export type LoadedIssuers = {
  readonly issuers: readonly ConfiguredIssuer[];
  readonly askedIssuers: readonly ConfiguredAskedIssuer[];
  readonly faults: readonly IssuerFault[];
};

type ReadIssuer = Found & { readonly given: Readable };

// A field that is left out has the schema's default; one that is malformed is undefined.
const signedOf = ({ given, keys }: ReadIssuer): readonly ConfiguredIssuer[] => {
  const { issuer, algorithms, audience, clockToleranceSeconds } = given;
  if (issuer === undefined || algorithms === undefined || keys === null) return [];
  if (audience === undefined || clockToleranceSeconds === undefined) return [];
  return [{ issuer, algorithms, audience, clockToleranceSeconds, keys, source: sourceOf(given) }];
};

const askedOf = ({ given: { issuer }, ask }: ReadIssuer): readonly ConfiguredAskedIssuer[] =>
  issuer === undefined || ask === undefined ? [] : [{ issuer, ask }];

/**
 * Reads the issuers of a configuration file, even if other settings have faults. Faults that the schema reports are not
 * repeated.
 */
export const loadIssuers = (tree: unknown, sources: IssuerSources): LoadedIssuers => {
  const { issuer: simple } = sessionOf(tree);
  const simpleIssuer = sources.usesSimpleIssuer && typeof simple === 'string' ? simple : null;
  const written = entriesOf(tree).map((entry) => (isRecord(entry) ? entry : {}));
  const entries = written.map(withPreset);
  const all = entries.map(readable);
  const read = all.map((given, index): ReadIssuer => {
    const ofPreset = presetFaults(written[index] ?? {});
    const isKeyless = ofPreset.some(({ field }) => field === 'jwksUrl');
    const found = isKeyless ? { keys: null, faults: [] } : readKeySource(entries[index] ?? {}, given, sources);
    return { ...found, given, faults: [...twiceFault(all, index, simpleIssuer), ...ofPreset, ...found.faults] };
  });
  const faults = read.flatMap(({ faults: found }, index) =>
    found.map(({ field, mend }) => ({
      path: ['gateway.session.issuers', index, field].filter((part) => part !== '').join('.'),
      mend,
    })),
  );
  return { issuers: read.flatMap(signedOf), askedIssuers: read.flatMap(askedOf), faults };
};
