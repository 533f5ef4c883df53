/**
 * Loads the configuration from shipped defaults, a YAML file and the environment. Later sources override earlier ones.
 * All faults are reported at once, each with the file, the path and how to fix it. main.ts passes in the environment.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { type Dkim, loadDkim } from '../keys/dkim.js';
import { type Channel, channelVariables, loadChannels } from './channels.js';
import {
  applyEnvironment,
  type ConfigFault,
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
  /** The channels of `channels` with their secrets. */
  readonly channels: readonly Channel[];
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

type ParsedFile = { readonly tree: unknown; readonly faults: readonly ConfigFault[]; readonly placeOf: PlaceOf };

/** Returns the place of a path as `file:line:column`: that of its key, or of the nearest that there is. */
const placesIn =
  (file: string, document: Document, lines: LineCounter): PlaceOf =>
  (path) => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const map = document.getIn(path.slice(0, depth - 1), true);
      const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === path[depth - 1]) : undefined;
      const offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
      if (offset === undefined) continue;
      const { line, col } = lines.linePos(offset);
      return `${file}:${line}:${col}`;
    }
    return `${file}:1:1`;
  };

const parseFile = (file: string): ParsedFile => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return {
      tree: {},
      placeOf: () => `${file}:1:1`,
      faults: [
        {
          file,
          path: '(file)',
          mend: `cannot be read (${error instanceof Error ? error.message : 'unknown'}); name another by GUESTLIST_CONFIG`,
        },
      ],
    };
  }
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const faults = document.errors.map((error) => ({
    file,
    path: error.linePos === undefined ? '(file)' : `line ${error.linePos[0].line}`,
    mend: error.message.split('\n')[0] ?? 'is no YAML',
  }));
  return { tree: document.toJS() ?? {}, faults, placeOf: placesIn(file, document, lineCounter) };
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

const portFaults = (file: string, checked: Settings | undefined): readonly ConfigFault[] =>
  checked !== undefined && checked.management.port !== null && checked.management.port === checked.server.port
    ? [
        { file, path: 'management.port', mend: 'is that of server.port too: give it a port of its own, or null' },
      ].filter(() => checked.server.port !== 0)
    : [];

/** Reports need all of these, so that a setting that is half done does not look like one that works. */
const mailFaults = (file: string, checked: Settings | undefined, smtpUrl: string | null): readonly ConfigFault[] => {
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
          {
            file,
            path: 'gateway.publicOrigin',
            mend: 'is null, but mail.from is set: messages need it for their links',
          },
        ]
      : []),
  ];
};

/** Which parts of the product will run. Each part needs other settings. */
export type LoadOptions = { readonly runsGateway: boolean; readonly runsService: boolean };

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
  { runsGateway, runsService }: LoadOptions,
  known: Pick<Config, 'isProduction' | 'isDemo'> & { readonly listsIssuers: boolean },
): Needs => {
  const { isProduction, isDemo } = known;
  const serviceUrl = settings?.gateway.upstream.serviceUrl ?? null;
  return {
    session: runsGateway && !isDemo && !known.listsIssuers,
    serviceUrl: runsGateway && !runsService && serviceUrl === null,
    encryptionKey: runsService && isProduction && (settings?.databaseUrl ?? null) !== null,
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

type Sources = OutgoingSources & { readonly dkimKey: string | null; readonly folder: string };

/** Reads what this process sends to, with its secrets, and how messages look. */
const loadOutgoing = (settings: Settings | undefined, sources: Sources) => {
  const { channels, faults } = loadChannels(settings?.channels ?? {}, sources, settings?.gateway.publicOrigin);
  const { models, faults: modelFaults } = loadModels(settings?.models ?? {}, sources);
  const { mail } = settings ?? defaultSettings();
  const { brandOf, faults: brandFaults } = loadBrands(mail, sources.folder);
  const { dkim, faults: dkimFaults } = loadDkim(mail.dkim, sources.dkimKey, sources.folder);
  return {
    outgoing: { channels, models, brandOf, dkim },
    faults: [...faults, ...modelFaults, ...brandFaults, ...dkimFaults],
    variables: [...channelVariables(settings?.channels), ...modelVariables(settings?.models)],
  };
};

type HookSources = OutgoingSources & Pick<LoadOptions, 'runsGateway'> & { readonly placeOf: PlaceOf };

/** Reads the providers that send hooks. A command that runs no gateway reads them without their secrets. */
const loadHooks = (settings: Settings | undefined, { placeOf, runsGateway, ...sources }: HookSources) => {
  const setting = settings?.gateway.hooks.providers ?? {};
  const { providers, faults } = loadHookProviders(setting, sources, placeOf);
  return { providers, faults: runsGateway ? faults : [], variables: hookProviderVariables(setting) };
};

/** Reads the configuration. Throws ConfigError with all faults. */
export const loadConfig = (env: Environment, shipped: string, options: LoadOptions): Config => {
  const named = given(env, 'GUESTLIST_CONFIG');
  const file = named === undefined ? shipped : resolve(named);
  const folder = dirname(file);
  const parsed = parseFile(file);
  const { data: settings, error } = settingsSchema.safeParse(applyEnvironment(parsed.tree, env));
  const secrets = readSecrets(env);
  const isProduction = env.NODE_ENV === 'production';
  const isDemo = named === undefined && !isProduction && options.runsService && (settings?.demo ?? true);
  const usesSimpleIssuer = secrets.hostJwtSecret !== null;
  const { faults: issuerFaults, ...accepted } = options.runsGateway
    ? loadIssuers(parsed.tree, { env, folder, usesSimpleIssuer, strongSecrets: isProduction })
    : { issuers: [], askedIssuers: [], faults: [] };
  const hooks = loadHooks(settings, { env, isProduction, placeOf: parsed.placeOf, ...options });
  const { dkimKey } = secrets;
  const { outgoing, ...loaded } = loadOutgoing(settings, { env, isProduction, dkimKey, folder });
  const needs = needsOf(settings, options, { isProduction, isDemo, listsIssuers: listsIssuers(parsed.tree) });
  const faults = [
    ...parsed.faults,
    ...(error === undefined ? [] : schemaFaults(file, error)),
    ...issuerFaults.map((fault) => ({ file, ...fault })),
    ...portFaults(file, settings),
    ...[...loaded.faults, ...hooks.faults].map((fault) => ({ file, ...fault })),
    ...mailFaults(file, settings, secrets.smtpUrl),
    ...environmentFaults(secrets, needs),
  ];
  const variables = createVariables(env, [...issuerVariables(parsed.tree), ...loaded.variables, ...hooks.variables]);
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
