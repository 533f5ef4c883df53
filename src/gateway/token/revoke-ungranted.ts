/**
 * Ends the tokens that a changed policy no longer grants, at the service too. Each token that this process has answered is decided
 * anew, for the session and the body that it was answered to; one that the policy still covers lives on. Where nothing is known of
 * the tokens of another policy, since the process that made them has ended, all are ended.
 */
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import type { ForgetClient } from '../common/eraser.js';
import type { PolicyTokens } from '../ledger/policy-tokens.js';
import type { Decide } from '../policy/decide.js';
import { isGrantSubset } from '../policy/grant-subset.js';
import type { Policy } from '../policy/policy.js';
import type { TenantOf } from '../tenant/resolve.js';
import { unavailable } from '../upstream/unavailable.js';
import { createIssuedTokens, type IssuedToken, type IssuedTokens } from './issued-tokens.js';

/** Revokes, everywhere: all tokens of the data app, or those of one user in one tenant. Rejects where it may not have been done. */
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
  /** Runs a task once, later. It keeps no process alive. */
  readonly after?: ((ms: number, task: () => void) => void) | undefined;
  readonly maxTokens?: number | undefined;
};

export type RevokeUngranted = {
  /** Before a mint; rejects with UPSTREAM_UNAVAILABLE where the ledger cannot be asked. From then on, a process that knows nothing else knows that there may be tokens of this policy. */
  readonly expectMint: (policy: Policy, expiryMs: number) => Promise<void>;
  /** With every answer. */
  readonly remember: (token: string, live: IssuedToken) => void;
  /** Resolves once all that had to end has ended, or is being tried again. */
  readonly policyChanged: (next: Policy, previous: Policy) => Promise<void>;
  /** Ends what an earlier process left under another policy, once. Rejects where the ledger cannot be asked. */
  readonly revokeLeftovers: (policy: Policy) => Promise<void>;
  /** All of the client's tokens were revoked. */
  readonly forgetClient: ForgetClient;
};

const atLeastMs = 3_600_000;
const retryMs = 2_000;
/** More users than this are not revoked one by one. */
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
    // Denied now; or not to be decided, which denies too.
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

/** Resolves to whether it is done with. */
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

/** What has to be revoked, until it is. */
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
  let turn: Promise<void> = Promise.resolve();
  /** One at a time: two at once would both revoke what is pending. */
  const run = (): Promise<void> => {
    turn = turn.then(tryAll);
    return turn;
  };
  return {
    add: (more: readonly RevokeTarget[]): Promise<void> => {
      pending = [...pending, ...more];
      return run();
    },
    isEmpty: () => pending.length === 0,
  };
};

/** Until when this process may have handed out tokens of which policy. */
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
      // Noted well ahead, so that hardly any mint waits for it.
      if ((noted.get(policy.meaning) ?? 0) < endMs) await note(policy, endMs + Math.max(expiryMs, atLeastMs));
    },
    settle: async ({ meaning }: Policy): Promise<void> => {
      await policyTokens.settleOwn(meaning);
      for (const other of noted.keys()) if (other !== meaning) noted.delete(other);
    },
  };
};

/** Runs once. A run that fails is none. */
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

/** Ends tokens: those of which it is known that they have to, or all. */
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
  const tokens = createIssuedTokens(options.maxTokens ?? 100_000);
  const end = createEnd(options, tokens);
  const notes = createNotes(options);
  const changed = async (next: Policy, previous: Policy): Promise<void> => {
    const nowMs = clock.now().getTime();
    const isKnown = tokens.lostUntilMs() <= nowMs && next.dataApp === previous.dataApp;
    const ended = await (isKnown ? end.ungranted(next) : end.all());
    log.info({ event: 'token.revoked', ended, digest: next.digest }, 'revoked tokens that the policy no longer grants');
    // Where something is left to revoke, the notes stay: they are for whoever starts after this process.
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
