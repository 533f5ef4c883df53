/** What all elements of a page share: one keeper for each token URL, and one probe for each service that is away. */
import { type KeeperDeps, type Member, type Membership, type MintOutcome, TokenKeeper } from './keeper.js';
import { type OutageDeps, Outages } from './outages.js';
import { callForToken, type EmbedToken, type GetToken, requestToken } from './request.js';

const pageDeps: OutageDeps = {
  startTimer: (run, waitMs) => {
    const timer = setTimeout(run, waitMs);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  isHidden: () => document.hidden,
  onWake: (run) => {
    const targets = [
      [document, 'visibilitychange'],
      [window, 'online'],
      [window, 'pageshow'],
    ] as const;
    for (const [target, name] of targets) target.addEventListener(name, run);
    return () => {
      for (const [target, name] of targets) target.removeEventListener(name, run);
    };
  },
  random: Math.random,
};

export const outages = new Outages(pageDeps);

/** A keeper for one page or element that knows how to ask. */
const keeperWith = (mint: KeeperDeps<EmbedToken>['mint']): TokenKeeper<EmbedToken> =>
  new TokenKeeper({ ...pageDeps, mint });

const keepers = new Map<string, TokenKeeper<EmbedToken>>();

/** Joins the keeper of a URL. The last member that leaves ends it, and nothing of its token stays. */
export const joinUrl = (url: string, member: Member<EmbedToken>): Membership => {
  const keeper = keepers.get(url) ?? keeperWith((dead) => requestToken(url, globalThis.fetch, { dead }));
  keepers.set(url, keeper);
  const membership = keeper.join(member);
  return {
    ...membership,
    leave: () => {
      membership.leave();
      if (keeper.isEmpty && keepers.get(url) === keeper) keepers.delete(url);
    },
  };
};

const calls = new Map<GetToken, Promise<MintOutcome<EmbedToken>>>();

/** Elements that share a function share its calls. */
const callOnce = (getToken: GetToken, dead: string | undefined): Promise<MintOutcome<EmbedToken>> => {
  const running = calls.get(getToken);
  if (running !== undefined) return running;
  const call = callForToken(getToken, dead).finally(() => calls.delete(getToken));
  calls.set(getToken, call);
  return call;
};

/** `current` is read at each request, because frameworks give a new function at each render. */
export const joinFunction = (current: () => GetToken, member: Member<EmbedToken>): Membership =>
  keeperWith((dead) => callOnce(current(), dead)).join(member);
