/**
 * Applies a changed template to the tenants' copies, one cohort after the other, and can roll it back. A roll-out runs
 * in one process at a time, under a lease. If that process dies or cannot go on, any one continues it.
 */
import { randomUUID } from 'node:crypto';
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import type { RunningWork } from '../../model/query/running.js';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { eachOf } from '../../platform/work/bounded.js';
import { unlisted } from '../../platform/work/running-work.js';
import type { Audit } from '../audit/audit.js';
import type { Lease } from '../ledger/leases.js';
import type { ItemState, RolloutState } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { createCopies } from './copies.js';
import { rememberVersions } from './drift.js';
import { type ApplyContext, applyItem, restoreItem } from './item.js';
import {
  cohortOf,
  type ItemOutcome,
  type Rollout,
  type RolloutItem,
  type RolloutLedger,
  type RolloutOptions,
  reachesAll,
  type TenantDashboard,
} from './model.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';
import { type TrialContext, tryCanaries } from './trial.js';
import { assertReadable } from './unreadable.js';

export type RolloutDeps = {
  readonly upstream: Call;
  readonly ledger: RolloutLedger;
  readonly versions: TemplateVersions;
  readonly capabilities: Pick<Capabilities, 'requireCapability' | 'supports'>;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Lists what runs. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
  /** Maximum number of copies in progress at once. */
  readonly width?: number;
};

export type StartRollout = RolloutOptions & {
  readonly template: string;
  /** The version that was planned. Undefined for the template's current version. */
  readonly version?: string | undefined;
  readonly label?: string | undefined;
  /** Who begins it, as the audit names people. Left out: the gateway token. */
  readonly by?: string | null;
};

/** A roll-out that runs in the background. `done` rejects if it is interrupted. */
export type StartedRollout = { readonly id: string; readonly done: Promise<void> };

/** Told of each interrupted roll-out: that work on it has begun, or why not. */
export type TakenOver = {
  readonly begun: (rollout: StartedRollout) => void;
  readonly failed: (id: string, error: unknown) => void;
};

export type Rollouts = {
  /** Throws if the template has changed since it was planned. */
  readonly start: (policy: Policy, wanted: StartRollout) => Promise<StartedRollout>;
  /**
   * Continues a roll-out that was stopped or interrupted, and retries failed items. Throws as `start` if no query would
   * answer a metric by now: the owner of a table may have been taken away since.
   */
  readonly resume: (policy: Policy, id: string) => Promise<StartedRollout>;
  /** Restores the copies that the roll-out wrote. A repeated call retries the copies that could not be restored. */
  readonly rollback: (id: string) => Promise<StartedRollout>;
  /**
   * Continues the interrupted roll-outs. One that may not go on is stopped. Resolves to the number that could not be
   * continued now: a later call tries them again.
   */
  readonly takeOver: (policy: Policy, told: TakenOver) => Promise<number>;
};

const pageSize = 200;

const conflict = (message: string): Refusal => new Refusal('NOT_SUPPORTED', message, { reason: 'rollout-state' });

export const loadRollout = async (ledger: Pick<RolloutLedger, 'find'>, id: string): Promise<Rollout> => {
  const rollout = await ledger.find(id);
  if (rollout === undefined) throw new Refusal('NOT_FOUND', `There is no roll-out ${JSON.stringify(id)}.`);
  return rollout;
};

/** Returns every copy of the template, read in pages. */
const listAll = async (ledger: RolloutLedger, template: string): Promise<readonly TenantDashboard[]> => {
  const all: TenantDashboard[] = [];
  for (;;) {
    const page = await ledger.listDashboards(template, { after: all.at(-1)?.tenantRef ?? '', limit: pageSize });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
};

/** `policy` tells the names that overrides give to tenants' copies. A rollback needs none. */
type RunDeps = RolloutDeps & { readonly policy?: Policy };

/** `isEnded`: an operator has ended the work, and no further copy is begun. */
type Run = RunDeps & { readonly rollout: Rollout; readonly isEnded: () => boolean };

const record = (
  { audit, rollout: { id, template, version } }: Run,
  code: string,
  detail: Record<string, string | number>,
  clientId?: string,
) => audit.record({ kind: 'rollout', code, clientId, detail: { rollout: id, template, version, ...detail } });

const codeOf = ({ state }: ItemOutcome): string =>
  ['applied', 'current', 'restored'].includes(state) ? 'OK' : state.toUpperCase().replaceAll('-', '_');

type WorkOn = (item: RolloutItem) => Promise<ItemOutcome>;

/** Returns a function that loads a dashboard's item, runs `workOn` for it, and records the outcome in the audit. */
const createStep =
  (run: Run, step: string, workOn: WorkOn) =>
  async (dashboardId: string): Promise<ItemOutcome> => {
    const item = await run.ledger.findItem({ rolloutId: run.rollout.id, dashboardId });
    if (item === undefined) return { state: 'missing' };
    const settlement = await workOn(item);
    await record(run, codeOf(settlement), { step, state: settlement.state }, item.clientId);
    return settlement;
  };

const isFailure = (states: readonly ItemState[], { state }: ItemOutcome): boolean => states.includes(state);

/** Tries the canary tenants and records each failure in the audit. A service that cannot try them fails nobody. */
const isTrialFailed = async (run: Run, context: TrialContext): Promise<boolean> => {
  if (!(await run.capabilities.supports('try-content'))) return false;
  const failures = await tryCanaries(context);
  for (const { clientId } of failures) await record(run, 'FAILED', { step: 'try', state: 'failed' }, clientId);
  return failures.length > 0;
};

/** The version that the roll-out names. The ledger keeps it as long as the roll-out. */
const loadTarget = async (
  versions: Pick<TemplateVersions, 'find'>,
  { template, version }: Pick<Rollout, 'template' | 'version'>,
): Promise<TemplateVersion> => {
  const target = await versions.find(template, version);
  if (target === undefined) throw new Error(`version ${version} of ${template} is not kept`);
  return target;
};

const openWork = async (run: Run) => {
  const { ledger, versions, rollout, upstream, policy } = run;
  const target = await loadTarget(versions, rollout);
  const findVersion = rememberVersions(versions);
  const known = await versions.list(rollout.template);
  const { choices } = rollout.options;
  const copies = createCopies(upstream, rollout.workspace);
  return { rollout, ledger, findVersion, target, known, copies, choices, policy };
};

/** Applies the roll-out to the copies, and returns the number of failures. Stops if there are more than allowed. */
const applyTo = async (run: Run, work: ApplyContext, ids: readonly string[]): Promise<number> => {
  const { rollout, width = 4 } = run;
  const step = createStep(run, 'apply', (item) => applyItem(work, item));
  let failures = 0;
  const one = async (id: string): Promise<void> => {
    if (isFailure(['failed'], await step(id))) failures += 1;
  };
  await eachOf(ids, width, one, () => failures > rollout.options.maxFailures || run.isEnded());
  return failures;
};

/** Applies the roll-out to the copies that were added to its last cohort, which an interrupted process may have begun. */
const applyToAdded = async (run: Run, work: ApplyContext): Promise<number> => {
  const { ledger, rollout } = run;
  return applyTo(run, work, await ledger.listIds(rollout.id, ['waiting', 'prepared'], rollout.options.steps.length));
};

/** Applies a roll-out to all tenants also to copies that were made since it began, from the edition before it. */
const applyToNew = async (run: Run, work: ApplyContext): Promise<number> => {
  const { ledger, rollout } = run;
  if (!reachesAll(rollout.options)) return 0;
  await ledger.addNew(rollout);
  return applyToAdded(run, work);
};

/**
 * Applies the roll-out to each cohort in turn and returns the state that it ends in: `paused` after a cohort, if that is
 * wanted and others wait.
 */
const applyAll = async (run: Run, policy: Policy): Promise<RolloutState> => {
  const { ledger, rollout } = run;
  const work = await openWork(run);
  if (await isTrialFailed(run, { ...work, policy })) return 'stopped';
  const { steps, maxFailures, isPausing = false } = rollout.options;
  for (let cohort = 0; cohort <= steps.length; cohort += 1) {
    const open = (await ledger.count(rollout.id)).filter(({ state }) => state === 'waiting' || state === 'prepared');
    const ids = await ledger.listIds(rollout.id, ['waiting', 'prepared', 'failed'], cohort);
    if ((await applyTo(run, work, ids)) > maxFailures) return 'stopped';
    if (run.isEnded()) return 'paused';
    const isStep = open.some((count) => count.cohort === cohort) && open.some((count) => count.cohort > cohort);
    if (isPausing && isStep) return 'paused';
  }
  if ((await applyToNew(run, work)) > maxFailures) return 'stopped';
  return run.isEnded() ? 'paused' : 'finished';
};

const written: readonly ItemState[] = [
  'prepared',
  'applied',
  'current',
  'failed',
  'restore-conflict',
  'restore-missing',
  'restore-failed',
];

const restoreAll = async (run: Run): Promise<RolloutState> => {
  const { ledger, versions, rollout, upstream, width = 4 } = run;
  const copies = createCopies(upstream, rollout.workspace);
  const work = { rollout, ledger, findVersion: rememberVersions(versions), copies };
  const step = createStep(run, 'rollback', (item) => restoreItem(work, item));
  let left = 0;
  const one = async (id: string): Promise<void> => {
    if (isFailure(['restore-conflict', 'restore-failed'], await step(id))) left += 1;
  };
  await eachOf(await ledger.listIds(rollout.id, written), width, one, run.isEnded);
  return left > 0 || run.isEnded() ? 'rollback-stopped' : 'rolled-back';
};

const atWork = (id: string): Refusal =>
  new Refusal('NOT_SUPPORTED', `Another process is running roll-out ${id}: see its status.`, {
    reason: 'rollout-at-work',
  });

/** Takes the roll-out's lease. */
const takeLease = async ({ ledger }: RolloutDeps, id: string): Promise<Lease> => {
  const lease = await ledger.lease(id);
  if (lease === undefined) throw atWork(id);
  return lease;
};

type Work = (run: Run) => Promise<RolloutState>;

/** Runs a roll-out to its end. An interrupted one keeps its state, and any process continues it. */
const runUnder = async (run: Run, [state, all]: readonly [RolloutState, Work]): Promise<void> => {
  const { ledger, rollout } = run;
  const { id } = rollout;
  await ledger.setState(id, state);
  await record(run, 'OK', { step: state });
  const end = await all(run);
  await (end === 'finished' ? ledger.finish(rollout) : ledger.setState(id, end));
  await record(run, end.includes('stopped') ? 'STOPPED' : 'OK', { step: end });
  // New copies get this edition from now on. Those that began before this moment are brought to it.
  if (end === 'finished') await applyToAdded(run, await openWork(run));
};

/** Lists the work while it lasts, and releases the lease after it. */
const runToEnd = async (
  deps: RunDeps,
  rollout: Rollout,
  lease: Lease,
  work: readonly [RolloutState, Work],
): Promise<void> => {
  const { running = unlisted } = deps;
  const ledger = deps.ledger.under(lease);
  try {
    await running.during({ kind: 'rollout', subject: rollout.template, canEnd: true }, ({ signal, begins }) => {
      begins();
      return runUnder({ ...deps, ledger, rollout, isEnded: () => signal?.aborted === true }, work);
    });
  } finally {
    await lease.release();
  }
};

/**
 * Starts work on a roll-out after `claim`, with its lease. Throws if another process runs it, or runs another roll-out of its
 * template: two would write each other's copies.
 */
const startAlone = async (
  deps: RunDeps,
  rollout: Rollout,
  claim: (ledger: RolloutLedger) => Promise<void>,
  work: readonly [RolloutState, Work],
): Promise<StartedRollout> => {
  // The lease comes first: a stored roll-out without one counts as interrupted.
  const lease = await takeLease(deps, rollout.id);
  try {
    await claim(deps.ledger.under(lease));
  } catch (error) {
    await lease.release();
    throw error;
  }
  return { id: rollout.id, done: handled(runToEnd(deps, rollout, lease, work)) };
};

/** Starts work on a roll-out that is stored. */
const startStored = (deps: RunDeps, rollout: Rollout, work: readonly [RolloutState, Work]): Promise<StartedRollout> =>
  startAlone(deps, rollout, (ledger) => ledger.assertAlone(rollout), work);

const assertNamed = ({ templates }: Policy, template: string): void => {
  if (templates.has(template)) return;
  throw new Refusal('NOT_FOUND', `The policy has no template ${JSON.stringify(template)}.`);
};

const begin = async (deps: RolloutDeps, policy: Policy, wanted: StartRollout): Promise<StartedRollout> => {
  const { template, version, label, by = null, ...options } = wanted;
  assertNamed(policy, template);
  await deps.capabilities.requireCapability('replace-content');
  const target = await deps.versions.record(policy, template, { label });
  if (version !== undefined && version !== target.version)
    throw conflict(`Template ${JSON.stringify(template)} has changed (version ${target.version}): plan again.`);
  await assertReadable(deps, policy, target);
  const rollout: Rollout = {
    id: randomUUID(),
    template,
    version: target.version,
    workspace: policy.workspace,
    options,
    state: 'running',
    startedBy: by,
  };
  const items = (await listAll(deps.ledger, template)).flatMap((dashboard) => {
    const cohort = cohortOf(dashboard.tenantRef, options);
    return cohort === undefined ? [] : [{ ...dashboard, cohort }];
  });
  const work = ['running', (run: Run) => applyAll(run, policy)] as const;
  return startAlone({ ...deps, policy }, rollout, (ledger) => ledger.insert(rollout, items), work);
};

/**
 * Throws unless the roll-out's version may be rolled out now: the policy names its template, and queries answer each of
 * its metrics. The template may have another version by now, which is not looked at.
 */
const assertMayGoOn = async (deps: RolloutDeps, policy: Policy, rollout: Rollout): Promise<void> => {
  assertNamed(policy, rollout.template);
  await assertReadable(deps, policy, await loadTarget(deps.versions, rollout));
};

/** Codes that another try answers with again. */
const finalCodes: readonly string[] = ['NOT_SUPPORTED', 'NOT_FOUND'];

const stopsAtOnce = async (): Promise<RolloutState> => 'stopped';
const finishesAtOnce = async (): Promise<RolloutState> => 'finished';

/** What an interrupted roll-out goes on with. Throws if that cannot be said now. */
const workLeft = async (
  deps: RolloutDeps,
  policy: Policy,
  rollout: Rollout,
): Promise<readonly [RolloutState, Work]> => {
  if (rollout.state === 'rolling-back') return ['rolling-back', restoreAll];
  try {
    await assertMayGoOn(deps, policy, rollout);
    // Only the copies that were added at its end are left.
    return rollout.state === 'finished' ? ['finished', finishesAtOnce] : ['running', (run) => applyAll(run, policy)];
  } catch (error) {
    const isSaid = error instanceof UpstreamRefusal || (error instanceof Refusal && finalCodes.includes(error.code));
    if (isSaid) return ['running', stopsAtOnce];
    throw error;
  }
};

const isAtWork = (error: unknown): boolean => error instanceof Refusal && error.reason === 'rollout-at-work';

export const createRollouts = (deps: RolloutDeps): Rollouts => ({
  start: (policy, wanted) => begin(deps, policy, wanted),
  resume: async (policy, id) => {
    const rollout = await loadRollout(deps.ledger, id);
    if (!['running', 'paused', 'stopped'].includes(rollout.state))
      throw conflict(`Roll-out ${id} is ${rollout.state}: only one that was paused, stopped or interrupted goes on.`);
    await assertMayGoOn(deps, policy, rollout);
    return startStored({ ...deps, policy }, rollout, ['running', (run) => applyAll(run, policy)]);
  },
  rollback: async (id) => {
    const rollout = await loadRollout(deps.ledger, id);
    if (rollout.state === 'rolled-back') throw conflict(`Roll-out ${id} is rolled back already.`);
    return startStored(deps, rollout, ['rolling-back', restoreAll]);
  },
  takeOver: async (policy, { begun, failed }) => {
    let failures = 0;
    for (const rollout of await deps.ledger.listInterrupted()) {
      try {
        begun(await startStored({ ...deps, policy }, rollout, await workLeft(deps, policy, rollout)));
      } catch (error) {
        // Another process has been first: it goes on with this one.
        if (isAtWork(error)) continue;
        failures += 1;
        failed(rollout.id, error);
      }
    }
    return failures;
  },
});
