/** A first dashboard whose metrics were asked for one tenant: those that answer nothing are no part of it. */

import type { FirstDashboard, FirstMetric } from '../../dashboard/first/first-dashboard.js';
import type { Datamart } from '../../datamart/datamart.js';
import { Refusal } from '../../refusal.js';
import type { MetricAnswer } from '../engine.js';
import type { AskMetric } from './ask.js';
import { withFunnel } from './stages.js';

export type TriedDashboard = {
  readonly dashboard: FirstDashboard;
  /** The answers of its metrics, by their ids. */
  readonly answers: ReadonlyMap<string, MetricAnswer>;
  /** The metrics that cannot be asked, each with the reason. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
};

const isWorth = ({ shape }: FirstMetric, rows: readonly object[]): boolean => {
  if (shape === 'value') return Object.values(rows[0] ?? {}).some((value) => value !== null);
  return rows.length >= (shape === 'table' ? 1 : 2);
};

/** Runs each metric for the tenant, and keeps those that answer something. */
export const tryDashboard = async (
  ask: AskMetric,
  datamart: Datamart,
  tenant: string,
  { metrics, filters }: FirstDashboard,
): Promise<TriedDashboard> => {
  const answers = new Map<string, MetricAnswer>();
  const refused = new Map<string, string>();
  await Promise.all(
    metrics.map(async (metric) => {
      try {
        const answer = await ask(datamart, tenant, metric.definition);
        if (isWorth(metric, answer.rows)) answers.set(metric.metricId, answer);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused.set(metric.metricId, error.message);
      }
    }),
  );
  return {
    dashboard: {
      metrics: metrics.flatMap((metric) => {
        const answer = answers.get(metric.metricId);
        return answer === undefined ? [] : [withFunnel(metric, answer.rows)];
      }),
      filters,
    },
    answers,
    refused: metrics.flatMap(({ metricId, name }) => {
      const reason = refused.get(metricId);
      return reason === undefined ? [] : [{ name, reason }];
    }),
  };
};
