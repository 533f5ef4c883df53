/** How the counts of use are written in SQL. */
import { sql } from 'kysely';
import { type UsageName, usageNames } from '../../model/usage.js';

export const usageColumns: Readonly<Record<UsageName, string>> = {
  logins: 'logins',
  mints: 'mints',
  sourceQueries: 'source_queries',
  keptAnswers: 'kept_answers',
  failedAnswers: 'failed_answers',
  rows: 'rows',
  ms: 'ms',
  exports: 'exports',
  mails: 'mails',
  modelTokens: 'model_tokens',
  warmUpQueries: 'warm_up_queries',
  warmUpMs: 'warm_up_ms',
};

export const countColumns = usageNames.map((name) => usageColumns[name]);

export const columnList = (names: readonly string[], write: (name: string) => string = (name) => name) =>
  sql.raw(names.map(write).join(', '));
