/** A draft as a card shows it: the metric that the service would describe, and a client that asks for previews. */
import { combiningOf } from '../../model/guest/combining.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { MetricAnswer } from '../../model/query/engine.js';
import type { GuestClient } from '../base/client.js';
import { type Draft, definitionOf } from './draft.js';

/** Returns the metric as the service describes a saved one. */
export const viewOf = (
  {
    chart,
    dimensions,
    measures,
    calculations,
    comparison,
  }: Pick<Draft, 'chart' | 'dimensions' | 'measures' | 'calculations' | 'comparison'>,
  name: string,
): GuestMetric => ({
  metricId: 'preview',
  name,
  filters: [],
  chart: {
    ...chart,
    dimensions: dimensions.map((dimension) => dimension.name),
    measures: [...measures.filter(({ isHidden }) => isHidden !== true), ...calculations].map(({ name: of }) => of),
    isDrillable: false,
    grains: Object.fromEntries(
      dimensions.flatMap(({ name: of, grain }) => (grain === undefined ? [] : [[of, grain] as const])),
    ),
    combine: combiningOf({ measures, calculations }),
    ...(comparison === null ? {} : { comparison: { grain: comparison.grain, periods: comparison.periods } }),
  },
});

/** Answers a definition that is not saved. Throws GuestError if the service refuses it. */
export type AskPreview = GuestClient['preview'];

/** The metric as a table of its answer. */
export const asTable = (metric: GuestMetric): GuestMetric => ({ ...metric, chart: { ...metric.chart, type: 'table' } });

/** A client for the card of a draft: its first answer is there already, and a sorted one is asked for. */
export const previewClient = (
  client: GuestClient,
  ask: AskPreview,
  dashboardId: string,
  draft: Draft,
  answer: MetricAnswer,
): GuestClient => ({
  ...client,
  query: async (_, { sort, limit, offset }, signal) => {
    if (sort === undefined && limit === undefined && offset === undefined) return answer;
    return ask({ dashboardId, definition: definitionOf(draft), sort, limit, offset }, signal);
  },
});
