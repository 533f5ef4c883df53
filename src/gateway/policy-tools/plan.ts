/**
 * Compares policies before and after a change. Runs a dry run of both for every sample user, and reports what each user
 * gains or loses.
 */
import { counted } from '../../model/texts/counted.js';
import type { Policy } from '../policy/policy.js';
import { evaluateCase } from './dry-run.js';
import { runEach } from './files.js';
import { factsOf, viewOf } from './grant-facts.js';
import { type Change, changesBetween, type Effect, effectOfAll, type Side } from './plan-changes.js';
import type { SampleUser } from './sample.js';
import { writeTable } from './text-table.js';

/** One policy before and after the change. Undefined if it does not exist on that side. */
export type PolicyPair = { readonly name: string; readonly old: Policy | undefined; readonly new: Policy | undefined };

/** A sample user whose result changes. `line` is the line in the sample. */
export type ChangedUser = {
  readonly policy: string;
  readonly line: number;
  readonly user: string;
  readonly tenant: string | null;
  readonly effect: Effect;
  readonly changes: readonly Change[];
};
export type Plan = {
  readonly changed: readonly ChangedUser[];
  /** Numbers of users, counted once for each policy. `denied`: the users whom both sides deny, by code. */
  readonly counts: Readonly<Record<'users' | 'unchanged' | Effect, number>> & {
    readonly denied: Readonly<Record<string, number>>;
  };
  /** Differences that change no user's grant. */
  readonly notes: readonly string[];
};

type EvaluatedSide = { readonly side: Side; readonly tenant: string | null };

const evaluateSide = async (policy: Policy | undefined, user: SampleUser): Promise<EvaluatedSide> => {
  if (policy === undefined) return { side: { denied: 'by no such policy' }, tenant: null };
  const dryRun = await evaluateCase(policy, user);
  const { clientId: tenant } = dryRun;
  return dryRun.isGranted
    ? { side: { facts: factsOf(viewOf(dryRun)) }, tenant }
    : { side: { denied: dryRun.refusal.code }, tenant };
};

type Compared = { readonly user: ChangedUser | null; readonly deniedByBoth: string | null };

const compareUser = async (pair: PolicyPair, user: SampleUser): Promise<Compared> => {
  const [before, after] = await Promise.all([evaluateSide(pair.old, user), evaluateSide(pair.new, user)]);
  const changes = changesBetween(before.side, after.side);
  const effect = effectOfAll(changes);
  const { line } = user;
  return {
    user:
      effect === null
        ? null
        : { policy: pair.name, line, user: user.user, tenant: after.tenant ?? before.tenant, effect, changes },
    deniedByBoth: 'denied' in before.side && 'denied' in after.side ? after.side.denied : null,
  };
};

const pairNotes = ({ name, old: before, new: after }: PolicyPair): readonly string[] => {
  if (before === undefined) return [`${name} is new.`];
  if (after === undefined) return [`${name} is gone: its users lose what it granted.`];
  const fields = (['workspace', 'datamart'] as const)
    .filter((field) => before[field] !== after[field])
    .map((field) => `${name}: ${field} is "${after[field]}", not "${before[field]}", for new dashboards.`);
  const templates = [...after.templates.values()]
    .filter((template) => {
      const known = before.templates.get(template.template);
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(template);
    })
    .map(({ template }) => `${name}: template "${template}" has other settings, for new dashboards.`);
  return [...fields, ...templates];
};

const countBy = (values: readonly string[]): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
};

/** Pairs policies by name. If each side has only one policy, these two are a pair whatever their names. */
export const pairPolicies = (
  before: ReadonlyMap<string, Policy>,
  after: ReadonlyMap<string, Policy>,
): readonly PolicyPair[] => {
  const [only] = after.keys();
  if (only !== undefined && before.size === 1 && after.size === 1) {
    return [{ name: only, old: [...before.values()][0], new: after.get(only) }];
  }
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.map((name) => ({ name, old: before.get(name), new: after.get(name) }));
};

/** Compares all pairs for all users. Rejects with PolicyFaults if a user needs a lookup answer and has none. */
export const planPolicies = async (pairs: readonly PolicyPair[], users: readonly SampleUser[]): Promise<Plan> => {
  const cases = pairs.flatMap((pair) => users.map((user) => ({ pair, user })));
  const compared = await runEach(cases, ({ pair, user }) => compareUser(pair, user));
  const changed = compared.flatMap(({ user }) => (user === null ? [] : [user]));
  const count = (effect: Effect): number => changed.filter((user) => user.effect === effect).length;
  return {
    changed,
    counts: {
      users: compared.length,
      unchanged: compared.length - changed.length,
      gain: count('gain'),
      loss: count('loss'),
      both: count('both'),
      other: count('other'),
      denied: countBy(compared.flatMap(({ deniedByBoth }) => deniedByBoth ?? [])),
    },
    notes: pairs.flatMap(pairNotes),
  };
};

export const failConditions = ['loss', 'gain', 'any'] as const;
export type FailOn = (typeof failConditions)[number];

/** Whether the plan must fail a review check. A user who both gains and loses counts for both. */
export const isStopped = ({ changed }: Plan, failOn: FailOn): boolean =>
  changed.some(({ effect }) => failOn === 'any' || effect === failOn || effect === 'both');

const words: Readonly<Record<Effect, string>> = {
  gain: 'gains',
  loss: 'loses',
  both: 'gains and loses',
  other: 'changes',
};

const writeSummary = ({ counts }: Plan): string => {
  const { users, unchanged, gain, loss, both, other, denied } = counts;
  const parts = [
    ...(gain > 0 ? [`${gain} gain`] : []),
    ...(loss > 0 ? [`${loss} lose`] : []),
    ...(both > 0 ? [`${both} gain and lose`] : []),
    ...(other > 0 ? [`${other} change otherwise`] : []),
    `${unchanged} unchanged`,
  ];
  const codes = Object.entries(denied).map(([code, count]) => `${count} ${code}`);
  const alsoDenied = codes.length === 0 ? '' : `; denied before and after: ${codes.join(', ')}`;
  return `${counted(users, 'user')}: ${parts.join(', ')}${alsoDenied}`;
};

/** Returns the text, without a final newline. */
export const writePlan = (plan: Plan): string => {
  const rows = plan.changed.flatMap(({ policy, line, user, tenant, changes }) =>
    changes.map(({ field, effect, old, new: now }) => [
      policy,
      String(line),
      user,
      tenant ?? '-',
      words[effect],
      field,
      old,
      now,
    ]),
  );
  const table =
    rows.length === 0
      ? []
      : [writeTable([['POLICY', 'LINE', 'USER', 'TENANT', '', 'FIELD', 'OLD', 'NEW'], ...rows]), ''];
  return [...plan.notes.map((note) => `note: ${note}`), ...table, writeSummary(plan)].join('\n');
};
