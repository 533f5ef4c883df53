/**
 * Loads the configuration from shipped defaults, a YAML file and the environment. Later sources override earlier ones.
 * All faults are reported at once, each with the file, the path and how to fix it. main.ts passes in the environment.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
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
import { type ConfiguredIssuer, listsIssuers, loadIssuers } from './issuers.js';
import { type Settings, settingsSchema } from './settings.js';

export type { Settings } from './settings.js';

export type Config = {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** The issuers of `gateway.session.issuers` with their keys. */
  readonly issuers: readonly ConfiguredIssuer[];
  /** Reads an environment variable. A policy names the variables of its secrets. */
  readonly readVariable: (name: string) => string | undefined;
  /** The folder that relative paths in the file refer to. */
  readonly folder: string;
  readonly isProduction: boolean;
  /** Whether the demo runs: it is enabled, the shipped file is used, and the process is not in production. */
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

const portFaults = (file: string, checked: Settings | undefined): readonly ConfigFault[] =>
  checked !== undefined && checked.management.port !== null && checked.management.port === checked.server.port
    ? [
        { file, path: 'management.port', mend: 'is that of server.port too: give it a port of its own, or null' },
      ].filter(() => checked.server.port !== 0)
    : [];

/** Which parts of the product will run. Each part needs other settings. */
export type LoadOptions = { readonly runsGateway: boolean; readonly runsService: boolean };

/** Reads the configuration. Throws ConfigError with all faults. */
export const loadConfig = (env: Environment, shipped: string, options: LoadOptions): Config => {
  const named = given(env, 'GUESTLIST_CONFIG');
  const file = named === undefined ? shipped : resolve(named);
  const parsed = parseFile(file);
  const checked = settingsSchema.safeParse(applyEnvironment(parsed.tree, env));
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
