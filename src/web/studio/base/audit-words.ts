/** Entries of the audit as sentences. What a machine wrote stays beside them, for those who look closer. */

import type { CommandName } from '../../../compose/commands.js';
import { wordsOf } from '../../../model/datamart/column-names.js';
import { counted } from '../../../model/texts/counted.js';
import { personIn } from './editions.js';

export type Entry = {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly code: string;
  readonly requestId?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly policyAt?: readonly string[];
  readonly durationMs?: number;
  readonly detail?: Readonly<Record<string, unknown>>;
};

/** What people call a user, by the user's identifier. Those who may not see users know none. */
export type UserNames = ReadonlyMap<string, string>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The subject of an identifier. A user of a view has no issuer. */
const subjectIn = (user: string): string => user.slice(user.indexOf('|') + 1);

const userText = ({ user }: Entry, names: UserNames): string =>
  user === undefined ? 'A user' : (names.get(user) ?? subjectIn(user));

const denials: Readonly<Record<string, string>> = {
  NO_POLICY: 'the policy lets this user see nothing',
  NOT_TOLD_APART: 'too many of them came to list each',
  POLICY_UNDECIDED: 'the policy could not be decided for this user',
  RATE_LIMITED: 'too many requests',
  SESSION_INVALID: 'the login is not valid',
  SESSION_EXPIRED: 'the login has expired',
  SESSION_REQUIRED: 'nobody was logged in',
  TENANT_SUSPENDED: 'the tenant is suspended',
  UNAUTHORIZED: 'this is not open to the user',
};

/** Words of an identifier: `tenant-suspend` and `createDatamart` read alike. */
const wordsIn = (name: string): string => wordsOf(name).join(' ');

/** What the audit calls a deed that is no command. */
type Deed = 'studio-login' | 'studio-logout-everywhere' | 'view-as' | 'upload-file';

const deeds: Partial<Record<CommandName | Deed, string>> = {
  'studio-login': 'logged in to Studio',
  'studio-logout-everywhere': 'logged out of Studio everywhere',
  'view-as': 'looked through the eyes of a user',
  'metric-preview': 'tried a chart',
  'report-preview': 'saw a report’s mail before it was saved, as a user gets it',
  'rollout-apply': 'started a roll-out',
  'rollout-resume': 'continued a roll-out',
  'rollout-rollback': 'took a roll-out back',
  'tenant-suspend': 'suspended a tenant',
  'tenant-resume': 'resumed a tenant',
  'tenant-delete': 'erased a tenant',
  'tenants-provision': 'made the dashboards of tenants',
  'policy-save': 'changed the policy',
  'policy-reload': 'had the policy read again',
  'schedule-pause': 'paused a report or alert',
  'schedule-resume': 'resumed a report or alert',
  'key-create': 'made a key',
  'key-rotate': 'renewed a key',
  'studio-link': 'made a login link',
  'upload-file': 'uploaded a file',
  revoke: 'ended access',
  unrevoke: 'gave access back',
};

const didOf = ({ detail = {} }: Entry): string => {
  const command = text(detail.command);
  return (Object.hasOwn(deeds, command) ? deeds[command as CommandName] : undefined) ?? `ran “${wordsIn(command)}”`;
};

const adminOf = (entry: Entry, names: UserNames): string => {
  const { detail = {}, user, code } = entry;
  const name = personIn(text(detail.operator) || null);
  const who = ['operator', personIn(null)].includes(name) ? 'An operator' : name;
  const whom = user === undefined ? '' : ` (${userText(entry, names)})`;
  const refused = code === 'OK' ? '' : ', and was refused';
  return `${who} ${didOf(entry)}${whom}${refused}`;
};

const rolloutOf = ({ detail = {}, code, tenant }: Entry): string => {
  const template = text(detail.template);
  const isBack = text(detail.step).startsWith('roll');
  const what = isBack ? 'was taken back' : 'was brought';
  if (code !== 'OK') return `The roll-out of ${template} did not change a copy: ${wordsIn(code)}`;
  return tenant === undefined ? `The roll-out of ${template} went on` : `A change of ${template} ${what}`;
};

const mintOf = (entry: Entry, names: UserNames): string => {
  const { dashboards, embeds } = entry.detail ?? {};
  const opened = text(dashboards);
  return `${userText(entry, names)} opened ${opened === '' ? counted(number(embeds), 'dashboard', 'dashboards') : opened}`;
};

const sentences: Readonly<Record<string, (entry: Entry, names: UserNames) => string>> = {
  mint: mintOf,
  denial: (entry, names) => `${userText(entry, names)} was turned away: ${denials[entry.code] ?? wordsIn(entry.code)}`,
  provision: ({ detail = {}, code }) =>
    code === 'OK'
      ? `The tenant’s copy of ${text(detail.template)} was ${text(detail.how) || 'made'}`
      : `The tenant’s copy of ${text(detail.template)} could not be made`,
  hook: () => 'The login provider told of a change',
  revocation: (entry, names) => `Access ended for ${entry.user === undefined ? 'the tenant' : userText(entry, names)}`,
  'policy-load': ({ code, detail = {} }) =>
    code === 'OK'
      ? 'The policy was loaded'
      : `A changed policy was refused: ${counted(number(detail.faults), 'fault', 'faults')}`,
  rollout: rolloutOf,
  erasure: () => 'The data of a tenant was erased',
  admin: adminOf,
};

/** What happened, in one sentence without a full stop. */
export const sentenceOf = (entry: Entry, names: UserNames): string =>
  sentences[entry.kind]?.(entry, names) ?? wordsIn(entry.kind);

export const kindWords: Readonly<Record<string, string>> = {
  mint: 'opened dashboards',
  denial: 'turned away',
  provision: 'copies made',
  hook: 'login provider',
  revocation: 'access ended',
  'policy-load': 'policy',
  rollout: 'roll-outs',
  erasure: 'erased',
  admin: 'operators',
};

const durationWords = (ms: number): string => {
  const units = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1_000, 'second'],
  ] as const;
  const [size, unit] = units.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'millisecond'];
  return (ms / size).toLocaleString(undefined, { style: 'unit', unit, unitDisplay: 'long' });
};

/** A field of a machine as a person reads it. */
const factOf = (name: string, value: unknown): readonly [name: string, value: string] => {
  if (name.endsWith('Ms') && typeof value === 'number') return [wordsIn(name.slice(0, -2)), durationWords(value)];
  if (typeof value === 'boolean') return [wordsIn(name), value ? 'yes' : 'no'];
  return [wordsIn(name), typeof value === 'string' ? value : JSON.stringify(value)];
};

/** All that the entry says, as names and values. */
export const factsOf = ({ seq, kind, code, requestId, user, policyAt, durationMs, detail = {} }: Entry) =>
  [
    ['number', String(seq)],
    ['kind', kind],
    ['result', code],
    ...(user === undefined ? [] : [['user', user.replace(/^\|/, '')] as const]),
    ...(requestId === undefined ? [] : [['request', requestId] as const]),
    ...(durationMs === undefined ? [] : [['took', durationWords(Math.round(durationMs))] as const]),
    ...(policyAt ?? []).map((at) => ['policy', at] as const),
    ...Object.entries(detail).map(([name, value]) => factOf(name, value)),
  ] as readonly (readonly [string, string])[];
