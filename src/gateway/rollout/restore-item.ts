/** One tenant's copy in a rollback: exactly what it was before, and only where it still is what the roll-out made of it. */
import type { DashboardContent } from '../../domain/dashboard/dashboard.js';
import { Refusal } from '../../domain/refusal.js';
import type { Copies, Copy } from './copies.js';
import type { FindVersion } from './drift.js';
import { isSameBoard } from './merge-dashboard.js';
import type { Rollout, RolloutItem, RolloutLedger, Settlement } from './rollout.js';

export type RestoreWork = {
  readonly rollout: Rollout;
  readonly copies: Copies;
  readonly findVersion: FindVersion;
  readonly ledger: Pick<RolloutLedger, 'settle'>;
};

/** Where the roll-out was interrupted before it could note what it had written, the copy's content tells. */
const isAsWritten = async (
  { rollout, findVersion }: RestoreWork,
  item: RolloutItem,
  after: DashboardContent,
  current: Copy,
): Promise<boolean> => {
  const versions = [rollout.version, ...(item.fromVersion === null ? [] : [item.fromVersion])];
  const found = await Promise.all(versions.map((version) => findVersion(item.template, version)));
  return isSameBoard(current.content, after, ...found.flatMap((version) => version?.content ?? []));
};

/** The copy is a text that the tenant may have changed since: then it is reported, and left alone. */
const restore = async (work: RestoreWork, item: RolloutItem): Promise<Settlement> => {
  const { before, after, fromVersion } = item;
  const restored = { state: 'restored', version: fromVersion } as const;
  // Nothing was written.
  if (before === null || after === null) return restored;
  const current = await work.copies.find(item);
  if (current === undefined) return { state: 'restore-missing' };
  if (current.digest === before.digest) return restored;
  const isOurs =
    after.digest === null ? await isAsWritten(work, item, after.content, current) : current.digest === after.digest;
  if (!isOurs) return { state: 'restore-conflict', fault: 'the tenant changed it after the roll-out' };
  const written = await work.copies.replace(item, before.content, current.digest);
  if (written.outcome === 'missing') return { state: 'restore-missing' };
  if (written.outcome === 'changed') return { state: 'restore-conflict', fault: 'the tenant changed it just now' };
  const read = await work.copies.find(item);
  if (read?.digest === before.digest) return restored;
  return { state: 'restore-failed', fault: 'what was read back is not what it was before the roll-out' };
};

/** Takes one copy back. What the service refuses, or does not answer, is `restore-failed`; anything else that goes wrong is thrown. */
export const restoreItem = async (work: RestoreWork, item: RolloutItem): Promise<Settlement> => {
  const settlement = await restore(work, item).catch((error: unknown): Settlement => {
    if (!(error instanceof Refusal)) throw error;
    return { state: 'restore-failed', fault: error.message };
  });
  await work.ledger.settle({ ...item, rolloutId: work.rollout.id }, settlement);
  return settlement;
};
