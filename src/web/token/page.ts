/** What all elements of a page share: one keeper for each token URL, and one probe for each service that is away. */
import { createJoinUrl } from './by-url.js';
import { type Member, type Membership, type MintOutcome, TokenKeeper } from './keeper.js';
import { type OutageDeps, Outages } from './outages.js';
import { callForToken, type EmbedToken, type GetToken, requestToken, type TokenAsk } from './request.js';

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

export const joinUrl = createJoinUrl<EmbedToken>(pageDeps, (url, asked) => requestToken(url, globalThis.fetch, asked));

type Calls = Map<string | undefined, Promise<MintOutcome<EmbedToken>>>;
const calls = new WeakMap<GetToken, Calls>();

/** Elements that share a function share its calls for a tenant. */
const callOnce = (getToken: GetToken, asked: TokenAsk): Promise<MintOutcome<EmbedToken>> => {
  const own: Calls = calls.get(getToken) ?? new Map();
  calls.set(getToken, own);
  const running = own.get(asked.tenant);
  if (running !== undefined) return running;
  const call = callForToken(getToken, asked).finally(() => own.delete(asked.tenant));
  own.set(asked.tenant, call);
  return call;
};

/** `current` is read at each request, because frameworks give a new function at each render. */
export const joinFunction = (
  current: () => GetToken,
  tenant: string | undefined,
  member: Member<EmbedToken>,
): Membership =>
  new TokenKeeper<EmbedToken>({ ...pageDeps, mint: (dead) => callOnce(current(), { dead, tenant }) }).join(member);

/** The tenant that the user chose, for all elements of the page that ask the same URL. */
const chosen = new Map<string, string>();
const choosing = new EventTarget();

export const chosenTenant = (url: string): string | null => chosen.get(url) ?? null;

/** Null: no tenant is chosen. */
export const chooseTenant = (url: string, tenant: string | null): void => {
  if (tenant === null) chosen.delete(url);
  else chosen.set(url, tenant);
  choosing.dispatchEvent(new Event('chosen'));
};

/** Calls `run` after each choice. Returns a function that ends this. */
export const watchChoice = (run: () => void): (() => void) => {
  choosing.addEventListener('chosen', run);
  return () => choosing.removeEventListener('chosen', run);
};
