/**
 * Checks an expression while it is typed: a moment after the last key, and only the latest text. An earlier check is
 * cancelled.
 */
import { createLatest } from '../../base/latest.js';
import type { Api, OperationAnswer } from './api.js';
import type { CodeFault } from './sql-faults.js';

export type CheckedExpression = OperationAnswer<'checkDatamartExpression'>['data'];

export type ExpressionState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'checked'; readonly sql: string; readonly result: CheckedExpression }
  /** The check itself failed. */
  | { readonly kind: 'failed'; readonly message: string };

export type CheckSql = (sql: string, signal: AbortSignal) => Promise<CheckedExpression>;

export const checkOver =
  (api: Api, datamartName: string, tableName: string): CheckSql =>
  async (sql, signal) =>
    (await api.call('checkDatamartExpression', { datamartName, tableName, sql }, signal)).data;

/** Where the faults are. One without a place is marked at the beginning. */
export const placedFaults = (faults: CheckedExpression['faults']): readonly CodeFault[] =>
  faults.map(({ message, place }) => ({ message, ...(place ?? { line: 1, column: 1 }) }));

/** Calls `job` when nothing was typed for a moment. Returns how to take that back. */
export type Later = (job: () => void) => () => void;

const typingPauseMs = 300;
const usualLater: Later = (job) => {
  const timer = setTimeout(job, typingPauseMs);
  return () => clearTimeout(timer);
};

export const createExpressionCheck = (
  check: CheckSql,
  tell: (state: ExpressionState) => void,
  later: Later = usualLater,
) => {
  const latest = createLatest();
  let takeBack = (): void => {};
  const cancel = (): void => {
    takeBack();
    latest.cancel();
  };
  return {
    cancel,
    typed: (sql: string): void => {
      cancel();
      tell({ kind: sql.trim() === '' ? 'empty' : 'checking' });
      if (sql.trim() === '') return;
      takeBack = later(() => {
        void latest.run(
          (signal) => check(sql, signal),
          (result) => tell({ kind: 'checked', sql, result }),
          (error) => tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
        );
      });
    },
  };
};
