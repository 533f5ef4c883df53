/** One keeper for each token URL and tenant of a page, for all elements that ask the same. Pure, as the keeper. */
import {
  type KeeperDeps,
  type Member,
  type Membership,
  type MintedToken,
  type MintOutcome,
  TokenKeeper,
} from './keeper.js';

type Ask = { readonly dead: string | undefined; readonly tenant: string | undefined };
/** Joins the keeper of a URL and a tenant. The last member that leaves ends it, and nothing of its token stays. */
type JoinUrl<T extends MintedToken> = (url: string, tenant: string | undefined, member: Member<T>) => Membership;

export const createJoinUrl = <T extends MintedToken>(
  deps: Omit<KeeperDeps<T>, 'mint'>,
  mint: (url: string, asked: Ask) => Promise<MintOutcome<T>>,
): JoinUrl<T> => {
  const keepers = new Map<string, TokenKeeper<T>>();
  return (url, tenant, member) => {
    const key = JSON.stringify([url, tenant ?? null]);
    const keeper = keepers.get(key) ?? new TokenKeeper({ ...deps, mint: (dead) => mint(url, { dead, tenant }) });
    keepers.set(key, keeper);
    const membership = keeper.join(member);
    return {
      ...membership,
      leave: () => {
        membership.leave();
        if (keeper.isEmpty && keepers.get(key) === keeper) keepers.delete(key);
      },
    };
  };
};
