/**
 * Updates the policy in force when its files change. A changed policy replaces the earlier one as a whole. A policy
 * with faults changes nothing, and is logged once. Each replica reads its own files.
 */
import { handled } from '../../model/handled.js';
import type { Source } from '../../platform/files/yaml-source.js';
import type { Log } from '../../platform/logs/log.js';
import type { GatewayMeters } from '../common/meters.js';
import { createFileWatch, type FileWatchOptions } from './file-watch.js';
import { loadPolicyTexts, type PolicyDocuments } from './load.js';
import type { Policies, PolicyListener, Reload } from './policies.js';
import type { Policy } from './policy.js';
import { type ReachOf, tableNamedIn } from './reach.js';
import { compileRead, type Reading, readPolicy } from './reading.js';
import { PolicyFaults } from './source.js';
import { closeTenantRule, tableOf } from './tenant-rule.js';
import { markOf, type PolicyTexts, readPolicyTexts } from './texts.js';

type PolicyRead = {
  readonly kind: 'policy-load';
  readonly code: 'OK' | 'INVALID_POLICY';
  readonly detail: Readonly<Record<string, string | number>>;
};

export type WatchOptions = Pick<FileWatchOptions, 'every' | 'pollMs' | 'hasEvents'> & {
  readonly log: Log;
  /** Records loaded and refused policies. A policy that cannot be recorded is not used. */
  readonly audit: { readonly record: (event: PolicyRead) => Promise<void> };
  readonly meters?: Pick<GatewayMeters, 'policyRead'> | undefined;
  /** Finds what the policy may read. */
  readonly reachOf: ReachOf;
  /** Stores the policy's text before the policy is used. */
  readonly keep?: (policy: Policy) => Promise<void>;
};

type Followed = WatchOptions & { readonly path: string; readonly listeners: PolicyListener[] };

/** The current state. `taken` and `refused` are digests of the files that were last used and last refused. */
type State = { current: Policy; taken: string; refused: string | null };

/** Stores and records a policy. Rejects if that fails; then the policy must not be used. */
const recordPolicy = async ({ audit, keep }: WatchOptions, policy: Policy): Promise<void> => {
  const { file, digest } = policy;
  await keep?.(policy);
  await audit.record({ kind: 'policy-load', code: 'OK', detail: { file, digest } });
};

const refuse = async (state: State, mark: string, { faults }: PolicyFaults, followed: Followed) => {
  const { path, log, audit, meters } = followed;
  if (state.refused === mark) return;
  const detail = { file: path, digest: mark, keeps: state.current.digest };
  log.error(
    { event: 'policy.refused', ...detail, faults },
    `the changed policy has ${faults.length} fault(s); the earlier policy stays in force`,
  );
  await audit.record({ kind: 'policy-load', code: 'INVALID_POLICY', detail: { ...detail, faults: faults.length } });
  meters?.policyRead('refused');
  state.refused = mark;
};

const take = async (state: State, mark: string, next: Policy, followed: Followed) => {
  const { path, log, meters, listeners } = followed;
  const previous = state.current;
  await recordPolicy(followed, next);
  Object.assign(state, { current: next, taken: mark, refused: null });
  meters?.policyRead('changed');
  log.info(
    { event: 'policy.loaded', file: path, digest: next.digest, previous: previous.digest },
    'loaded the changed policy',
  );
  for (const { changed } of listeners) await changed?.(next, previous);
};

const namedIn = (source: Source | null): string | undefined => (source === null ? undefined : tableNamedIn(source));

const compileNext = async (
  documents: PolicyDocuments | PolicyFaults,
  { listeners, reachOf }: Followed,
  current: Policy,
): Promise<Policy | PolicyFaults> => {
  if (documents instanceof PolicyFaults) return documents;
  try {
    const reach = await reachOf(tableNamedIn(documents.own.source), tableOf(current.tenant));
    const next = await compileRead(documents, reach);
    for (const { prepare } of listeners) prepare?.(next);
    return next;
  } catch (error) {
    if (error instanceof PolicyFaults) return error;
    throw error;
  }
};

const compare = async (state: State, { mark, documents }: Reading, followed: Followed): Promise<Reload> => {
  if (documents === null) {
    state.refused = null;
    followed.meters?.policyRead('unchanged');
    return { outcome: 'unchanged', digest: state.current.digest };
  }
  const next = await compileNext(documents, followed, state.current);
  if (next instanceof PolicyFaults) await refuse(state, mark, next, followed);
  else await take(state, mark, next, followed);
  return { outcome: next instanceof PolicyFaults ? 'refused' : 'changed', digest: state.current.digest };
};

/** At the start no request waits, so the texts are read here: a thread takes longer for most policies. */
const beginWith = async (texts: PolicyTexts, { reachOf }: WatchOptions): Promise<State> => {
  const current = loadPolicyTexts(texts, await reachOf(namedIn(texts.source)));
  return { current, taken: markOf(texts), refused: null };
};

/** Loads the policy and watches its files. Rejects with PolicyFaults if the policy is not valid at the start. */
export const watchPolicies = async (path: string, options: WatchOptions): Promise<Policies> => {
  const texts = readPolicyTexts(path);
  const state = await beginWith(texts, options);
  const followed: Followed = { ...options, path, listeners: [] };
  await recordPolicy(options, state.current);
  options.meters?.policyRead('changed');
  let turn: Promise<unknown> = Promise.resolve();
  const reload = (): Promise<Reload> => {
    const read = async (): Promise<Reload> => {
      const found = await readPolicy({ from: path, unless: state.taken });
      await files.follow(found.watched);
      return compare(state, found, followed);
    };
    // One reload at a time, so that the latest read takes effect. A rejection goes to the caller of that reload.
    const next = handled(turn.then(read, read));
    turn = next;
    return next;
  };
  const look = async (): Promise<void> => {
    try {
      await reload();
    } catch (error) {
      options.log.error(
        { event: 'policy.load_failed', err: error, file: path },
        'failed to load the changed policy; retrying',
      );
      files.forget();
    }
  };
  const files = createFileWatch({ ...options, onChange: () => void look() });
  const close = async (): Promise<void> => {
    files.close();
    // The caller of a reload, or the log, has its failure.
    await turn.catch(() => {});
    closeTenantRule(state.current.tenant);
  };
  try {
    await files.follow(texts.watched);
    await turn;
  } catch (error) {
    await close();
    throw error;
  }
  return {
    current: () => state.current,
    reload,
    subscribe: (listener) => {
      listener.prepare?.(state.current);
      followed.listeners.push(listener);
    },
    close,
  };
};
