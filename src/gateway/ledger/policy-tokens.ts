/** Under which policies tokens may live, by process: a process that comes later knows nothing else of them. */
import type { Ledger } from './ledger.js';

export type PolicyTokens = {
  /** Notes that this process may hand out tokens of this policy until then. Never shortens. */
  readonly note: (meaning: string, until: Date) => Promise<void>;
  /** Whether tokens of another policy than this may live, of whatever process. */
  readonly areOthersLive: (meaning: string, now: Date) => Promise<boolean>;
  /** Forgets this process's other policies: their tokens were dealt with. */
  readonly settleOwn: (meaning: string) => Promise<void>;
  /** Forgets every other policy of every process: all tokens were revoked. */
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
