/**
 * Until when tokens may live, by process and policy. A process knows its own tokens in memory only; these rows tell a later
 * process that tokens of another policy may still live.
 */
import type { Ledger } from './ledger.js';

export type PolicyTokens = {
  /** Notes that tokens of this policy, minted by this process, may live until `until`. Never shortens an earlier note. */
  readonly note: (meaning: string, until: Date) => Promise<void>;
  /** Whether tokens of another policy may live, minted by any process. */
  readonly areOthersLive: (meaning: string, now: Date) => Promise<boolean>;
  /** Deletes this process's notes of other policies, once their tokens were checked or revoked. */
  readonly settleOwn: (meaning: string) => Promise<void>;
  /** Deletes every process's notes of other policies, once all tokens were revoked. */
  readonly settleAll: (meaning: string) => Promise<void>;
};

/** `replica` names the process. */
export const createPolicyTokens = ({ db }: Pick<Ledger, 'db'>, replica: string): PolicyTokens => ({
  note: async (meaning, until) => {
    await db
      .insertInto('policy_tokens')
      .values({ replica, meaning, until })
      .onConflict((conflict) =>
        conflict.columns(['replica', 'meaning']).doUpdateSet({ until }).where('policy_tokens.until', '<', until),
      )
      .execute();
  },
  areOthersLive: async (meaning, now) => {
    const found = await db
      .selectFrom('policy_tokens')
      .select('replica')
      .where('meaning', '!=', meaning)
      .where('until', '>', now)
      .limit(1)
      .execute();
    return found.length > 0;
  },
  settleOwn: async (meaning) => {
    await db.deleteFrom('policy_tokens').where('replica', '=', replica).where('meaning', '!=', meaning).execute();
  },
  settleAll: async (meaning) => {
    await db.deleteFrom('policy_tokens').where('meaning', '!=', meaning).execute();
  },
});
