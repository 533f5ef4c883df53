/**
 * Rotates a secret that a variable holds and another party uses too. Two values hold meanwhile: the old one and the new
 * one with a space between them. What is checked fits either; what is sent has a signature of each. So the other party
 * can change at any time between the two steps.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../platform/config/config.js';
import { readHookSecrets } from '../../platform/config/hook-secrets.js';
import { minimumSecretLength } from '../../platform/keys/jwt-keys.js';
import { severalSecrets } from '../../platform/keys/several-secrets.js';

/** A secret with a variable that takes two values. */
type Shared = {
  readonly variable: string;
  /** Who uses it too, and for what. */
  readonly holder: string;
  readonly valuesOf: (text: string) => readonly string[];
  readonly make: () => string;
};

/** `added`: the variable has to hold both values now. `ended`: the new one alone. */
export type RotatedVariable = Pick<Shared, 'variable' | 'holder'> & {
  readonly step: 'added' | 'ended';
  /** The next value of the variable. */
  readonly next: string;
};

const text = { valuesOf: severalSecrets, make: () => randomBytes(48).toString('base64url') };
const webhook = { valuesOf: readHookSecrets, make: () => `whsec_${randomBytes(32).toString('base64')}` };

const listIssuers = ({ issuers }: Pick<Config, 'issuers'>): readonly Shared[] =>
  issuers.flatMap(({ issuer, source: { kind, name } }) =>
    kind === 'variable' && name !== null
      ? [{ variable: name, holder: `the issuer ${issuer}, which signs sessions with it`, ...text }]
      : [],
  );

const listShared = (config: Pick<Config, 'issuers' | 'settings'>): readonly Shared[] => [
  {
    variable: 'GUESTLIST_HOST_JWT_SECRET',
    holder: 'the host application, which signs sessions with it',
    ...text,
  },
  { variable: 'GUESTLIST_HOOK_SECRETS', holder: 'the host application, which signs hooks with it', ...webhook },
  { variable: 'GUESTLIST_GATEWAY_TOKEN', holder: 'everything that calls /gateway/admin', ...text },
  { variable: 'GUESTLIST_METRICS_TOKEN', holder: 'the scraper of /metrics', ...text },
  ...listIssuers(config),
  ...Object.entries(config.settings.channels).flatMap(([name, { secretVariable: variable }]): readonly Shared[] =>
    variable === undefined
      ? []
      : [{ variable, holder: `the receiver of the channel ${name}, which checks messages with it`, ...webhook }],
  ),
];

/** The variables that are set, and how many values each has. */
export const listVariables = (
  config: Pick<Config, 'issuers' | 'settings' | 'readVariable'>,
): ReadonlyMap<string, number> =>
  new Map(
    listShared(config).flatMap(({ variable, valuesOf }) => {
      const value = config.readVariable(variable);
      return value === undefined ? [] : [[variable, valuesOf(value).length] as const];
    }),
  );

/** Makes the next value of the variable. Throws an Error that says what to do, and that holds no secret. */
export const rotateVariable = (
  config: Pick<Config, 'issuers' | 'settings' | 'readVariable'>,
  variable: string,
): RotatedVariable => {
  const shared = listShared(config).find((one) => one.variable === variable);
  const value = config.readVariable(variable);
  if (shared === undefined || value === undefined) {
    const names = [...listVariables(config).keys()].join(', ') || 'none';
    throw new Error(`${variable} is no secret of this installation that takes two values. There are: ${names}.`);
  }
  const { holder, valuesOf, make } = shared;
  const [first, second, ...others] = valuesOf(value);
  if (others.length > 0)
    throw new Error(`${variable} has more than two values: take away those that nobody uses, and run this again.`);
  if (second !== undefined) return { variable, holder, step: 'ended', next: second };
  const added = { variable, holder, step: 'added', next: `${first} ${make()}` } as const;
  if (valuesOf(added.next).length === 2) return added;
  throw new Error(
    `${variable} has a value with spaces or with fewer than ${minimumSecretLength} characters, which cannot stand beside another one: neither would hold. Replace it here and at the other end at once.`,
  );
};
