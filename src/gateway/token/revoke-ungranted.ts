/**
 * Revokes the tokens that a changed policy no longer grants. Evaluates each unexpired token of this process under the
 * new policy, for its session and request body. Tokens that are still granted stay valid. This process does not know
 * the tokens that a former process issued under an earlier policy; if there may be such tokens, all tokens are revoked.
 */
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import type { ForgetClient } from '../common/eraser.js';
import type { PolicyTokens } from '../ledger/policy-tokens.js';
import type { Decide } from '../policy/decide.js';
import { isGrantSubset } from '../policy/grant-subset.js';
import type { Policy } from '../policy/policy.js';
import type { TenantOf } from '../tenant/resolve.js';
import { unavailable } from '../upstream/unavailable.js';
import { createIssuedTokens, type IssuedToken, type IssuedTokens } from './issued-tokens.js';

/** Revokes all tokens of the data app, or those of one user in one tenant. Rejects unless all of them are certainly revoked. */
export type Revoke = (what: RevokeTarget) => Promise<void>;
export type RevokeTarget =
  | { readonly kind: 'policy' }
  | { readonly kind: 'user'; readonly clientId: string; readonly userIdentifier: string };

export type RevokeUngrantedOptions = {
  readonly revoke: Revoke;
  readonly tenantOf: TenantOf;
  readonly decide: Decide;
  readonly policyTokens: PolicyTokens;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs a task once after `ms`. Does not keep the process alive. */
  readonly after?: ((ms: number, task: () => void) => void) | undefined;
  readonly maxTokens?: number | undefined;
};

export type RevokeUngranted = {
  /**
   * Call before a mint. Records in the ledger that tokens of this policy may be valid. Rejects with
   * UPSTREAM_UNAVAILABLE if the ledger fails.
   */
  readonly expectMint: (policy: Policy, expiryMs: number) => Promise<void>;
  /** Call with every token that is returned. */
  readonly remember: (token: string, live: IssuedToken) => void;
  /** Resolves when every token that must be revoked is revoked or is being retried. */
  readonly policyChanged: (next: Policy, previous: Policy) => Promise<void>;
  /** Revokes, once, the tokens that earlier processes issued under another policy. Rejects if the ledger fails. */
  readonly revokeLeftovers: (policy: Policy) => Promise<void>;
  /** Deletes the entries of a client's tokens, because all of them were revoked. */
  readonly forgetClient: ForgetClient;
};

const atLeastMs = 3_600_000;
const retryMs = 2_000;
/** Maximum number of users to revoke one by one. If more are affected, all tokens are revoked at once. */
const maxSingle = 1_000;
const atOnce = 8;

type Ending = { readonly live: IssuedToken; readonly token: string };

const isStillGranted = async (
  { tenantOf, decide, clock }: RevokeUngrantedOptions,
  policy: Policy,
  { session, clientId, asked, grant, expiresAtMs }: IssuedToken,
): Promise<boolean> => {
  try {
    await tenantOf(policy, session, clientId);
    const now = decide(policy, session, clientId, asked);
    return expiresAtMs - clock.now().getTime() <= now.expiryMs && isGrantSubset(grant, now);
  } catch (error) {
    // The new policy denies the session or cannot be evaluated, which is a denial too.
    if (error instanceof Refusal) return false;
    throw error;
  }
};

const listEnding = async (
  options: RevokeUngrantedOptions,
  tokens: IssuedTokens,
  next: Policy,
): Promise<readonly Ending[]> => {
  const live = tokens.list(options.clock.now().getTime());
  const ending: Ending[] = [];
  for (let start = 0; start < live.length; start += atOnce) {
    const judged = await Promise.all(
      live.slice(start, start + atOnce).map(async ([token, held]) => {
        return (await isStillGranted(options, next, held)) ? [] : [{ token, live: held }];
      }),
    );
    ending.push(...judged.flat());
  }
  return ending;
};

const usersOf = (ending: readonly Ending[]): readonly RevokeTarget[] => {
  const users = new Map<string, RevokeTarget>();
  for (const { live } of ending) {
    const { userIdentifier } = live.session;
    const { clientId } = live;
    users.set(JSON.stringify([clientId, userIdentifier]), { kind: 'user', clientId, userIdentifier });
  }
  return users.size > maxSingle ? [{ kind: 'policy' }] : [...users.values()];
};

const isImpossible = (error: unknown): boolean => error instanceof Refusal && error.code === 'NOT_SUPPORTED';

/** Revokes one target. Resolves to false if the revocation must be retried. */
const revokeOne = async ({ revoke: retire, log }: RevokeUngrantedOptions, what: RevokeTarget): Promise<boolean> => {
  try {
    await retire(what);
    return true;
  } catch (err) {
    const isFinal = isImpossible(err);
    const outlook = isFinal ? 'they stay valid until they expire' : 'retrying';
    log.error(
      { event: 'revocation.failed', err, kind: what.kind },
      `failed to revoke tokens that are no longer granted: ${outlook}`,
    );
    return isFinal;
  }
};

const wait = (ms: number, task: () => void): void => {
  setTimeout(task, ms).unref();
};

/** Revokes targets, and retries until all are revoked. */
const createPending = (options: RevokeUngrantedOptions) => {
  const { after = wait } = options;
  let pending: readonly RevokeTarget[] = [];
  const tryAll = async (): Promise<void> => {
    const left: RevokeTarget[] = [];
    const trying = pending;
    for (let start = 0; start < trying.length; start += atOnce) {
      const batch = trying.slice(start, start + atOnce);
      const done = await Promise.all(batch.map((what) => revokeOne(options, what)));
      left.push(...batch.filter((_, index) => done[index] === false));
    }
    pending = [...left, ...pending.filter((what) => !trying.includes(what))];
    if (left.length > 0) after(retryMs, () => void run());
  };
  let running: Promise<void> = Promise.resolve();
  /** One run at a time, since concurrent runs would revoke the same targets twice. */
  const run = (): Promise<void> => {
    running = handled(running.then(tryAll));
    return running;
  };
  return {
    add: (more: readonly RevokeTarget[]): Promise<void> => {
      pending = [...pending, ...more];
      return run();
    },
    isEmpty: () => pending.length === 0,
  };
};

/** Records in the ledger, by policy, until when tokens of this process may be valid. */
const createNotes = ({ policyTokens, clock }: RevokeUngrantedOptions) => {
  const noted = new Map<string, number>();
  const note = async ({ meaning }: Policy, untilMs: number): Promise<void> => {
    if ((noted.get(meaning) ?? 0) >= untilMs) return;
    await policyTokens.note(meaning, new Date(untilMs));
    noted.set(meaning, untilMs);
  };
  return {
    note,
    expect: async (policy: Policy, expiryMs: number): Promise<void> => {
      const endMs = clock.now().getTime() + expiryMs;
      // Recorded at least an hour ahead, so that very few mints wait for the ledger.
      if ((noted.get(policy.meaning) ?? 0) < endMs) await note(policy, endMs + Math.max(expiryMs, atLeastMs));
    },
    settle: async ({ meaning }: Policy): Promise<void> => {
      await policyTokens.settleOwn(meaning);
      for (const other of noted.keys()) if (other !== meaning) noted.delete(other);
    },
  };
};

/** Returns a function that runs `work` once. If it fails, the next call runs it again. */
const once = <Argument>(work: (argument: Argument) => Promise<void>): ((argument: Argument) => Promise<void>) => {
  let running: Promise<void> | null = null;
  return async (argument) => {
    running ??= work(argument);
    try {
      await running;
    } catch (error) {
      running = null;
      throw error;
    }
  };
};

/** Returns functions that revoke the known ungranted tokens, or all tokens. */
const createEnd = (options: RevokeUngrantedOptions, tokens: IssuedTokens) => {
  const pending = createPending(options);
  const all = async (): Promise<'all'> => {
    tokens.clear();
    await pending.add([{ kind: 'policy' }]);
    return 'all';
  };
  const ungranted = async (next: Policy): Promise<number | 'all'> => {
    try {
      const ending = await listEnding(options, tokens, next);
      for (const { token } of ending) tokens.forget(token);
      await pending.add(usersOf(ending));
      return ending.length;
    } catch (err) {
      options.log.error(
        { event: 'token.check_failed', err },
        'failed to determine which tokens the policy still grants; revoking all',
      );
      return all();
    }
  };
  return { all, ungranted, isDone: pending.isEmpty };
};

export const createRevokeUngranted = (options: RevokeUngrantedOptions): RevokeUngranted => {
  const { policyTokens, clock, log } = options;
  const tokens = createIssuedTokens(options.maxTokens ?? 100_000, () => clock.now().getTime());
  const end = createEnd(options, tokens);
  const notes = createNotes(options);
  const changed = async (next: Policy, previous: Policy): Promise<void> => {
    const nowMs = clock.now().getTime();
    const isKnown = tokens.lostUntilMs() <= nowMs && next.dataApp === previous.dataApp;
    const ended = await (isKnown ? end.ungranted(next) : end.all());
    log.info({ event: 'token.revoked', ended, digest: next.digest }, 'revoked tokens that the policy no longer grants');
    // While a revocation is pending, the records stay, so that a later process revokes if this one dies.
    if (!end.isDone()) return;
    const endMs = tokens.list(nowMs).reduce((latest, [, { expiresAtMs }]) => Math.max(latest, expiresAtMs), nowMs);
    await notes.note(next, endMs);
    await notes.settle(next);
  };
  const begin = once(async (policy: Policy) => {
    if (!(await policyTokens.areOthersLive(policy.meaning, clock.now()))) return;
    log.warn(
      { event: 'token.all_revoked', digest: policy.digest },
      'tokens of an earlier policy may be valid; revoking all tokens',
    );
    await end.all();
    if (end.isDone()) await policyTokens.settleAll(policy.meaning);
  });
  return {
    revokeLeftovers: begin,
    expectMint: async (policy, expiryMs) => {
      try {
        await begin(policy);
        await notes.expect(policy, expiryMs);
      } catch (error) {
        throw unavailable('ledger-unreachable', error);
      }
    },
    remember: tokens.remember,
    forgetClient: tokens.forgetClient,
    policyChanged: async (next, previous) => {
      if (next.meaning === previous.meaning) return;
      try {
        await changed(next, previous);
      } catch (err) {
        log.error(
          { event: 'revocation.note_failed', err },
          'failed to store which tokens were revoked; the next start revokes all tokens',
        );
      }
    },
  };
};
