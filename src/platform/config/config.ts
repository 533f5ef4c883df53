/**
 * Loads the configuration from shipped defaults, a YAML file and the environment. Later sources override earlier ones.
 * All faults are reported at once, each with the file, the path and how to fix it. main.ts passes in the environment.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { findViolations } from '../files/schema-faults.js';
import { createSource, type Source } from '../files/yaml-source.js';
import { type Dkim, loadDkim } from '../keys/dkim.js';
import { type Channel, channelVariables, loadChannels } from './channels.js';
import {
  applyEnvironment,
  type ConfigFault,
  type ConfigPart,
  type Environment,
  environmentFaults,
  findUnknownVariables,
  given,
  type Needs,
  readSecrets,
  type Secrets,
  type UnknownVariable,
  variableOf,
} from './environment.js';
import { type HookProvider, hookProviderVariables, loadHookProviders, type PlaceOf } from './hook-providers.js';
import {
  type ConfiguredAskedIssuer,
  type ConfiguredIssuer,
  issuerVariables,
  listsIssuers,
  loadIssuers,
} from './issuers.js';
import { type BrandOf, loadBrands } from './mail-brands.js';
import { type ConfiguredModel, loadModels, modelVariables } from './models.js';
import type { OutgoingSources } from './outgoing-settings.js';
import { defaultSettings, type Settings, settingsSchema } from './settings.js';

export type { Settings } from './settings.js';

export type Config = {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** The channels of `channels` with their secrets, but for that of use. */
  readonly channels: readonly Channel[];
  /** Where what tenants used is sent. Null: nowhere. */
  readonly usageChannel: Channel | null;
  /** The models of `models` with their keys. */
  readonly models: readonly ConfiguredModel[];
  /** How messages to users of a tenant look. */
  readonly brandOf: BrandOf;
  /** Signs messages; null: this process does not. */
  readonly dkim: Dkim | null;
  /** The issuers of `gateway.session.issuers` with their keys. */
  readonly issuers: readonly ConfiguredIssuer[];
  readonly askedIssuers: readonly ConfiguredAskedIssuer[];
  /** The providers of `gateway.hooks.providers` with their secrets. */
  readonly hookProviders: readonly HookProvider[];
  /** Reads an environment variable. A policy names the variables of its secrets. */
  readonly readVariable: (name: string) => string | undefined;
  /** Variables that look like settings, are none, and were not read so far. Call it once the policy is loaded. */
  readonly findUnknownVariables: () => readonly UnknownVariable[];
  /** The folder that relative paths in the file refer to. */
  readonly folder: string;
  readonly isProduction: boolean;
  /** Whether the demo runs: it is enabled, the shipped file is used, and the process is not in production. */
  readonly isDemo: boolean;
  /** Whether pages of this machine may call the gateway with a Bearer session: not in production, and only while nobody else reaches it. */
  readonly allowsLocalPages: boolean;
};

/** Thrown for a configuration that cannot work. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: readonly ConfigFault[]) {
    super(faults.map(({ file, path, mend }) => `${file}: ${path}: ${mend}`).join('\n'));
  }
}

type ParsedFile = {
  readonly source: Source;
  readonly faults: readonly ConfigFault[];
};

const parseFile = (file: string): ParsedFile => {
  try {
    const source = createSource(readFileSync(file, 'utf8'), file);
    return { source, faults: source.problems.map(({ at, message }) => ({ file: at, path: '(file)', mend: message })) };
  } catch (error) {
    const mend = `cannot be read (${error instanceof Error ? error.message : 'unknown'}); name another by GUESTLIST_CONFIG`;
    return { source: createSource('', file), faults: [{ file, path: '(file)', mend }] };
  }
};

/** How much of the path the tree has. */
const depthIn = (tree: unknown, path: readonly string[]): number => {
  const [head, ...rest] = path;
  const inner = head !== undefined && typeof tree === 'object' && tree !== null ? Object.entries(tree) : [];
  const found = inner.find(([key]) => key === head);
  return found === undefined ? 0 : 1 + depthIn(found[1], rest);
};

/** Returns the place of a path as `file:line:column`: that of its key, or of the nearest that there is. */
const placesIn =
  (source: Source): PlaceOf =>
  (path) => {
    const depth = depthIn(source.content, path);
    return source.at(depth === 0 ? 0 : source.offsetOfKey(path.slice(0, depth - 1), path[depth - 1] ?? ''));
  };

/** A fault of a setting with its line; the file alone, where no part of the path is in the file. */
const inFile = (source: Source, { path, mend }: Pick<ConfigFault, 'path' | 'mend'>): ConfigFault => {
  const parts = path.split('.');
  return { file: depthIn(source.content, parts) === 0 ? source.file : placesIn(source)(parts), path, mend };
};

/** Violations of the schema: by the file with their line, and by a variable with its name. */
const settingFaults = (source: Source, env: Environment, error: z.ZodError): readonly ConfigFault[] =>
  findViolations(source, error, settingsSchema).map(({ offset, path, words }) => {
    const setting = path.join('.');
    const variable = variableOf(setting);
    const isFromFile = variable === undefined || given(env, variable) === undefined;
    const file = isFromFile ? source.at(offset) : `${source.file} or ${variable}`;
    return { file, path: setting || '(file)', mend: words };
  });

const portFaults = (checked: Settings | undefined) =>
  checked !== undefined && checked.management.port !== null && checked.management.port === checked.server.port
    ? [{ path: 'management.port', mend: 'is that of server.port too: give it a port of its own, or null' }].filter(
        () => checked.server.port !== 0,
      )
    : [];

/** Entries of the audit are deleted only once they are archived, and explanations are found by their entries. */
const retentionFaults = (checked: Settings | undefined) => {
  const { auditDays = null, archiveFolder = null, explanationsDays = 0 } = checked?.retention ?? {};
  if (auditDays === null) return [];
  const noFolder =
    'needs a folder: the audit is archived before it is deleted. Add retention.archiveFolder, such as ./audit-archive, or set auditDays to null';
  const tooFew = `must be at least retention.explanationsDays (${explanationsDays}): an explanation is found by its entry`;
  const faults = [...(archiveFolder === null ? [noFolder] : []), ...(auditDays < explanationsDays ? [tooFew] : [])];
  return faults.map((mend) => ({ path: 'retention.auditDays', mend }));
};

/** Reports need all of these, so that a setting that is half done does not look like one that works. */
const mailFaults = (source: Source, checked: Settings | undefined, smtpUrl: string | null): readonly ConfigFault[] => {
  if (checked === undefined || checked.mail.from === null) return [];
  return [
    ...(smtpUrl === null
      ? [
          {
            file: '(environment)',
            path: 'GUESTLIST_SMTP_URL',
            mend: 'is not set, but mail.from is: set the mail server',
          },
        ]
      : []),
    ...(checked.gateway.publicOrigin === null
      ? [
          inFile(source, {
            path: 'gateway.publicOrigin',
            mend: 'is null, but mail.from is set: messages need it for their links',
          }),
        ]
      : []),
  ];
};

/**
 * What the process uses of the configuration. A server names its halves, and uses all that they need. A command names its
 * parts. The secrets and files of other parts are neither read nor checked, so that a command does not need them.
 */
export type LoadOptions =
  | { readonly runsGateway: boolean; readonly runsService: boolean }
  | { readonly uses: readonly ConfigPart[] };

const partsOf = (options: LoadOptions): ReadonlySet<ConfigPart> => {
  if ('uses' in options) return new Set(options.uses);
  const { runsGateway, runsService } = options;
  return new Set<ConfigPart>([
    ...(runsGateway ? (['gateway', 'issuers'] as const) : []),
    ...(runsService ? (['service', 'sealing'] as const) : []),
    ...(['mail', 'receivers'] as const),
  ]);
};

/** A misspelt variable is often why a needed one is missing. */
const misspelt = (unknown: readonly UnknownVariable[]): readonly ConfigFault[] =>
  unknown.flatMap(({ variable, suggestion }) =>
    suggestion === undefined
      ? []
      : [{ file: '(environment)', path: variable, mend: `is not a setting; did you mean ${suggestion}?` }],
  );

const localHosts: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Which secrets the process needs; `settings` is undefined where they are faulty. */
const needsOf = (
  settings: Settings | undefined,
  parts: ReadonlySet<ConfigPart>,
  known: Pick<Config, 'isProduction' | 'isDemo'> & { readonly listsIssuers: boolean },
): Needs => {
  const { isProduction, isDemo } = known;
  const serviceUrl = settings?.gateway.upstream.serviceUrl ?? null;
  const [runsGateway, runsService] = [parts.has('gateway'), parts.has('service')];
  return {
    session: parts.has('issuers') && !isDemo && !known.listsIssuers,
    serviceUrl: runsGateway && !runsService && serviceUrl === null,
    // It signs the archive of the audit too, and replicas must sign with the same.
    encryptionKey:
      (parts.has('sealing') || (runsGateway && (settings?.retention.auditDays ?? null) !== null)) &&
      isProduction &&
      (settings?.databaseUrl ?? null) !== null,
    apiKey: runsGateway && (!runsService || serviceUrl !== null),
    strongSecrets: isProduction,
  };
};

/** Reads the environment for what names its variables itself, and knows which variables nothing has read. */
const createVariables = (env: Environment, named: readonly string[]) => {
  const used = new Set(named);
  return {
    readVariable: (name: string): string | undefined => {
      used.add(name);
      return given(env, name);
    },
    findUnknownVariables: () => findUnknownVariables(env, (name) => used.has(name)),
  };
};

type Sources = OutgoingSources & {
  readonly parts: ReadonlySet<ConfigPart>;
  readonly dkimKey: string | null;
  readonly folder: string;
};

const noReceivers = { channels: {}, usage: { channel: null } };

/** Reads what this process sends to, with its secrets, and how messages look. */
const loadOutgoing = (settings: Settings | undefined, { parts, ...sources }: Sources) => {
  const receivers = parts.has('receivers') ? settings : undefined;
  const { channels, usageChannel, faults } = loadChannels(
    receivers ?? noReceivers,
    sources,
    settings?.gateway.publicOrigin,
  );
  const { models, faults: modelFaults } = loadModels(receivers?.models ?? {}, sources);
  const { mail } = (parts.has('mail') ? settings : undefined) ?? defaultSettings();
  const { brandOf, faults: brandFaults } = loadBrands(mail, sources.folder);
  const { dkim, faults: dkimFaults } = loadDkim(mail.dkim, sources.dkimKey, sources.folder);
  return {
    outgoing: { channels, usageChannel, models, brandOf, dkim },
    faults: [...faults, ...modelFaults, ...brandFaults, ...dkimFaults],
    variables: [...channelVariables(settings?.channels), ...modelVariables(settings?.models)],
  };
};

type HookSources = OutgoingSources & { readonly parts: ReadonlySet<ConfigPart>; readonly source: Source };

/** Reads the providers that send hooks. A command that runs no gateway reads them without their secrets. */
const loadHooks = (settings: Settings | undefined, { source, parts, ...sources }: HookSources) => {
  const setting = settings?.gateway.hooks.providers ?? {};
  const { providers, faults } = loadHookProviders(setting, sources, placesIn(source));
  return { providers, faults: parts.has('gateway') ? faults : [], variables: hookProviderVariables(setting) };
};

const readFileOf = (env: Environment, shipped: string) => {
  const named = given(env, 'GUESTLIST_CONFIG');
  const { source, faults } = parseFile(named === undefined ? shipped : resolve(named));
  const tree = source.content ?? {};
  const { data: settings, error } = settingsSchema.safeParse(applyEnvironment(tree, env));
  const own = error === undefined || faults.length > 0 ? [] : settingFaults(source, env, error);
  return { named, source, tree, settings, folder: dirname(source.file), faults: [...faults, ...own] };
};

const noIssuers = { issuers: [], askedIssuers: [], faults: [] };

/** Reads the configuration. Throws ConfigError with all faults of what the process uses. */
export const loadConfig = (env: Environment, shipped: string, options: LoadOptions): Config => {
  const parts = partsOf(options);
  const { named, source, tree, settings, folder, faults: fileFaults } = readFileOf(env, shipped);
  const secrets = readSecrets(env, parts);
  const isProduction = env.NODE_ENV === 'production';
  const runsServiceElsewhere = parts.has('gateway') && !parts.has('service');
  const isDemo = named === undefined && !isProduction && !runsServiceElsewhere && (settings?.demo ?? true);
  const usesSimpleIssuer = secrets.hostJwtSecret !== null;
  const { faults: issuerFaults, ...accepted } = parts.has('issuers')
    ? loadIssuers(tree, { env, folder, usesSimpleIssuer, strongSecrets: isProduction })
    : noIssuers;
  const hooks = loadHooks(settings, { env, isProduction, source, parts });
  const { dkimKey } = secrets;
  const { outgoing, ...loaded } = loadOutgoing(settings, { env, isProduction, dkimKey, folder, parts });
  const needs = needsOf(settings, parts, { isProduction, isDemo, listsIssuers: listsIssuers(tree) });
  const faults = [
    ...fileFaults,
    ...[...issuerFaults, ...portFaults(settings), ...retentionFaults(settings), ...loaded.faults, ...hooks.faults].map(
      (fault) => inFile(source, fault),
    ),
    ...(parts.has('mail') ? mailFaults(source, settings, secrets.smtpUrl) : []),
    ...environmentFaults(secrets, needs),
  ];
  const variables = createVariables(env, [...issuerVariables(tree), ...loaded.variables, ...hooks.variables]);
  if (faults.length > 0 || settings === undefined)
    throw new ConfigError([...faults, ...misspelt(variables.findUnknownVariables())]);
  return {
    ...variables,
    settings,
    secrets,
    ...outgoing,
    ...accepted,
    hookProviders: hooks.providers,
    folder,
    isProduction,
    isDemo,
    allowsLocalPages: !isProduction && localHosts.includes(settings.server.host),
  };
};
