/** The file for support: what the doctor found, without secrets, names, addresses and values of rows. */

import type { Config } from '../../platform/config/config.js';
import { withoutSecrets } from '../../studio/process-commands.js';
import type { Finding } from './finding.js';

export type BundleParts = {
  readonly version: string;
  readonly at: string;
  readonly findings: readonly Finding[];
  /** Undefined: the configuration has faults. */
  readonly config: Pick<Config, 'settings' | 'isProduction' | 'isDemo'> | undefined;
  /** The number of rows of each table of the product. */
  readonly tables: Readonly<Record<string, number>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Credentials that are not in the environment, such as those of the data folder. */
  readonly kept: readonly string[];
};

const hidden = '•••';
const leastSecret = 4;

const isOurs = (name: string): boolean => /^(?:GUESTLIST_|DATABASE_URL$|REDIS_URL$|NODE_ENV$|HOST$|PORT$)/.test(name);

/** A variable of the product that is no secret: it is a number, a switch, a level, or the path of a file. */
const isHarmless = (text: string): boolean =>
  /^(?:\d+|true|false|production|development|test|[./][\w./-]*)$/.test(text);

/** Every part of the environment that may be a secret, also one that a setting names (`secretVariable`). */
const secretsIn = (environment: BundleParts['environment']): readonly string[] =>
  Object.entries(environment).flatMap(([name, text = '']) => {
    const mayBe = isOurs(name) || /SECRET|TOKEN|KEY|PASS|CREDENTIAL|URL/i.test(name);
    if (!mayBe || isHarmless(text)) return [];
    const password = /\/\/[^/@\s:]*:([^/@\s]+)@/.exec(text)?.[1];
    const parts = text.split(/[\s,]+/);
    return [text, ...parts, ...(password === undefined ? [] : [password, decodeURIComponent(password)])];
  });

/** JSON escapes some characters, so each secret is looked for as it would be written. */
const scrub = (text: string, secrets: readonly string[]): string => {
  const written = [...new Set(secrets)]
    .filter((secret) => secret.length >= leastSecret)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .toSorted((one, other) => other.length - one.length);
  return written.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, hidden), text);
};

/** What a file names of customers is not needed to help: `mail.tenants` and others have clientIds as names. */
const withoutTenants = (settings: Config['settings']) => ({
  ...settings,
  mail: {
    ...settings.mail,
    tenants: Object.keys(settings.mail.tenants).length,
    allowedDomains: settings.mail.allowedDomains.length,
  },
});

/** Writes the file as JSON. */
export const bundleOf = ({ version, at, findings, config, tables, environment, kept }: BundleParts): string => {
  const text = JSON.stringify(
    {
      ...{ version, at, node: process.version, platform: `${process.platform} ${process.arch}` },
      findings: findings.map(({ area, level, text: words }) => ({ area, level, text: words })),
      settings: config === undefined ? null : withoutSecrets(withoutTenants(config.settings)),
      ...(config === undefined ? {} : { isProduction: config.isProduction, isDemo: config.isDemo }),
      variables: Object.keys(environment).filter((name) => isOurs(name) && (environment[name] ?? '') !== ''),
      tables,
    },
    null,
    2,
  );
  return `${scrub(text, [...secretsIn(environment), ...kept])}\n`;
};
