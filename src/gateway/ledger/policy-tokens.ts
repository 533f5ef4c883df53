/**
 * Stores until when tokens may be valid, by process and policy. A process has its own tokens in memory only. These rows
 * tell a later process that tokens of another policy may still be valid.
 */
import type { Ledger } from './ledger.js';

export type PolicyTokens = {
  /**
   * Records that tokens of this policy, minted by this process, may be valid until `until`. Never shortens an earlier
   * record.
   */
  readonly note: (meaning: string, until: Date) => Promise<void>;
  /** Whether tokens of another policy, minted by any process, may be valid. */
  readonly areOthersLive: (meaning: string, now: Date) => Promise<boolean>;
  /** Deletes this process's records of other policies. Call it after their tokens were checked or revoked. */
  readonly settleOwn: (meaning: string) => Promise<void>;
  /** Deletes all processes' records of other policies. Call it after all tokens were revoked. */
  readonly settleAll: (meaning: string) => Promise<void>;
};

/** Creates the storage. `replica` is the process's id. */
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
