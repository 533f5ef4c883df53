/**
 * Applies a roll-out to one tenant's copy: compares it with the template, stores its content, writes the merged content
 * only if the copy is unchanged since, and reads it back. An interrupted item is resumed from its stored state.
 */
import { isSameJson } from '../../model/canonical-json.js';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import { isSameBoard } from '../../model/dashboard/merge/merge-dashboard.js';
import { Refusal } from '../../model/refusal.js';
import type { Copies, Copy } from './copies.js';
import { type Drift, type DriftContext, detectDrift, type FindVersion, mergeCopy } from './drift.js';
import type { ItemOutcome, Rollout, RolloutItem, RolloutLedger } from './model.js';

export type ApplyContext = DriftContext & {
  readonly rollout: Rollout;
  readonly ledger: Pick<RolloutLedger, 'prepare' | 'settle'>;
};

/** Maximum number of attempts on a copy that its tenant keeps changing. */
const maxTries = 3;

const settleWith = async (work: ApplyContext, item: RolloutItem, settlement: ItemOutcome): Promise<ItemOutcome> => {
  await work.ledger.settle({ ...item, rolloutId: work.rollout.id }, settlement);
  return settlement;
};

const isSameSettings = (a: DashboardContent, b: DashboardContent): boolean =>
  isSameJson(a.settings ?? null, b.settings ?? null);

const hasSettings = ({ content }: Pick<Copy, 'content'>): boolean => content.settings !== undefined;

/** Whether the two contents are the same, by the metric ids of either version of the template. */
const isSame = async (
  work: ApplyContext,
  item: RolloutItem,
  a: DashboardContent,
  b: DashboardContent,
): Promise<boolean> => {
  const base = item.fromVersion === null ? undefined : await work.findVersion(item.template, item.fromVersion);
  const templates = [work.target.content, ...(base === undefined ? [] : [base.content])];
  return isSameSettings(a, b) && isSameBoard(a, b, ...templates);
};

/**
 * Reads the copy back after the write. A tenant's edit at this moment also fails the check: an operator then looks at
 * the copy, and nothing is lost.
 */
const verify = async (
  work: ApplyContext,
  item: RolloutItem,
  after: DashboardContent,
  digest: string,
): Promise<ItemOutcome> => {
  const read = await work.copies.find(item, after.settings !== undefined);
  if (read?.digest === digest && (await isSame(work, item, read.content, after)))
    return settleWith(work, item, { state: 'applied', afterDigest: digest, version: work.target.version });
  const fault = 'what was read back is not what was written';
  return settleWith(work, item, { state: 'failed', afterDigest: digest, fault });
};

/** Returns undefined if the tenant changed the copy after it was read. */
const write = async (
  work: ApplyContext,
  item: RolloutItem,
  before: Copy,
  after: DashboardContent,
): Promise<ItemOutcome | undefined> => {
  const written = await work.copies.replace(item, after, before.digest);
  if (written.outcome === 'written') return verify(work, item, after, written.digest);
  return written.outcome === 'missing' ? settleWith(work, item, { state: 'missing', isUnwritten: true }) : undefined;
};

/** Settles an item that needs no write. Returns undefined if the item needs one. */
const settleUnwritten = (work: ApplyContext, item: RolloutItem, drift: Drift): Promise<ItemOutcome> | undefined => {
  switch (drift.status) {
    case 'missing':
    case 'unknown-base':
      return settleWith(work, item, { state: drift.status });
    case 'unreadable':
      throw drift.fault;
    case 'up-to-date':
      return settleWith(work, item, { state: 'current', version: work.target.version });
    case 'conflict':
      return work.rollout.options.onConflict === 'keep-tenant' && drift.merge.isChanged
        ? undefined
        : settleWith(work, item, { state: 'conflict', conflicts: drift.merge.conflicts });
    default:
      return undefined;
  }
};

const begin = async (work: ApplyContext, item: RolloutItem): Promise<ItemOutcome> => {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const drift = await detectDrift(work, item, work.rollout.options.isAdopting);
    const settled = await settleUnwritten(work, item, drift);
    if (settled !== undefined) return settled;
    if (!('merge' in drift)) throw new Error(`a copy that is ${drift.status} is not written`);
    const { copy, merge } = drift;
    const key = { rolloutId: work.rollout.id, dashboardId: item.dashboardId };
    await work.ledger.prepare(key, { before: copy, after: merge.content, conflicts: merge.conflicts });
    const written = await write(work, item, copy, merge.content);
    if (written !== undefined) return written;
  }
  const fault = 'the tenant is changing the dashboard now';
  return settleWith(work, item, { state: 'failed', fault, isUnwritten: true });
};

const fault = 'the tenant changed it while the roll-out was interrupted';

/**
 * Settles an interrupted item whose copy matches neither its old content nor the content to write, because the tenant
 * edited it before or after the write. If the copy has all the template's changes, the write had happened. Otherwise
 * the order is unknown, and the copy is not written.
 */
const settleEdited = async (work: ApplyContext, item: RolloutItem, current: Copy): Promise<ItemOutcome> => {
  const base = item.fromVersion === null ? undefined : await work.findVersion(item.template, item.fromVersion);
  const merge = base && mergeCopy(work, item, base, current, work.rollout.options.isAdopting).merge;
  if (merge?.isChanged === false && merge.conflicts.length === 0)
    return settleWith(work, item, { state: 'applied', version: work.target.version });
  return settleWith(work, item, { state: 'conflict', conflicts: merge?.conflicts ?? [], fault });
};

/** Resumes an item whose before-image is stored. The copy's digest at the service shows whether the write happened. */
const resume = async (
  work: ApplyContext,
  item: RolloutItem,
  { before, after }: { readonly before: Copy; readonly after: DashboardContent },
): Promise<ItemOutcome> => {
  const current = await work.copies.find(item, hasSettings(before));
  if (current === undefined) return settleWith(work, item, { state: 'missing' });
  if (current.digest === before.digest)
    return (await write(work, item, before, after)) ?? resume(work, item, { before, after });
  if (await isSame(work, item, current.content, after))
    return settleWith(work, item, { state: 'applied', afterDigest: current.digest, version: work.target.version });
  return settleEdited(work, item, current);
};

/**
 * Brings one copy to the roll-out's version. If the service refuses or cannot be reached, the outcome is `failed`. Any
 * other error is thrown.
 */
export const applyItem = async (work: ApplyContext, item: RolloutItem): Promise<ItemOutcome> => {
  const { before, after } = item;
  try {
    return before === null || after === null
      ? await begin(work, item)
      : await resume(work, item, { before, after: after.content });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Refused content was not written. After any other failure, the content may have been written.
    const isUnwritten = error.code === 'INVALID_DASHBOARD_DATA';
    return settleWith(work, item, { state: 'failed', fault: error.message, isUnwritten });
  }
};

/**
 * The dependencies of a rollback. It restores a copy to exactly its content before the roll-out, and only if the copy
 * still has the content that the roll-out wrote.
 */
export type RestoreContext = {
  readonly rollout: Rollout;
  readonly copies: Copies;
  readonly findVersion: FindVersion;
  readonly ledger: Pick<RolloutLedger, 'settle'>;
};

/**
 * Whether the copy still has the content that the roll-out wrote. If the roll-out was interrupted before it stored the
 * digest of that content, the contents are compared.
 */
const isAsWritten = async (
  { rollout, findVersion }: RestoreContext,
  item: RolloutItem,
  after: DashboardContent,
  current: Copy,
): Promise<boolean> => {
  const versions = [rollout.version, ...(item.fromVersion === null ? [] : [item.fromVersion])];
  const found = await Promise.all(versions.map((version) => findVersion(item.template, version)));
  const templates = found.flatMap((version) => version?.content ?? []);
  return isSameSettings(current.content, after) && isSameBoard(current.content, after, ...templates);
};

/**
 * Restores one copy. If the tenant has changed it since the roll-out, the change is reported and the copy is not
 * written.
 */
const restore = async (work: RestoreContext, item: RolloutItem): Promise<ItemOutcome> => {
  const { before, after, fromVersion } = item;
  const restored = { state: 'restored', version: fromVersion } as const;
  // The roll-out did not write this copy.
  if (before === null || after === null) return restored;
  const current = await work.copies.find(item, hasSettings(before));
  if (current === undefined) return { state: 'restore-missing' };
  if (current.digest === before.digest) return restored;
  const isOurs =
    after.digest === null ? await isAsWritten(work, item, after.content, current) : current.digest === after.digest;
  if (!isOurs) return { state: 'restore-conflict', fault: 'the tenant changed it after the roll-out' };
  const written = await work.copies.replace(item, before.content, current.digest);
  if (written.outcome === 'missing') return { state: 'restore-missing' };
  if (written.outcome === 'changed') return { state: 'restore-conflict', fault: 'the tenant changed it a moment ago' };
  const read = await work.copies.find(item, hasSettings(before));
  if (read?.digest === before.digest) return restored;
  return { state: 'restore-failed', fault: 'what was read back is not what it was before the roll-out' };
};

/**
 * Restores one copy and stores the outcome. If the service refuses or cannot be reached, the outcome is
 * `restore-failed`. Any other error is thrown.
 */
export const restoreItem = async (work: RestoreContext, item: RolloutItem): Promise<ItemOutcome> => {
  const settlement = await restore(work, item).catch((error: unknown): ItemOutcome => {
    if (!(error instanceof Refusal)) throw error;
    return { state: 'restore-failed', fault: error.message };
  });
  await work.ledger.settle({ ...item, rolloutId: work.rollout.id }, settlement);
  return settlement;
};
