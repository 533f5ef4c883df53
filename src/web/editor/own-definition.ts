/** A definition that the service answered, as the editor changes it. */
import type { VisualDefinition } from '../../domain/dashboard/metric.js';
import type { OwnDefinition } from '../../domain/guest/metric.js';
import type { GuestClient } from '../base/client.js';
import { draftOf } from './draft.js';
import type { InitialMetric, SaveMetric } from './panel.js';

/** An own metric that the editor shows. */
export type Opened = {
  readonly metricId: string;
  readonly initial: InitialMetric;
  /** Refused if somebody else changed the metric since it was read. */
  readonly save: SaveMetric;
};

const empty = {
  dimensions: [],
  measures: [],
  filters: [],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
} as const;

/** Returns undefined for a definition with parts that the editor cannot show. */
export const openedOf = (client: GuestClient, data: unknown): Opened | undefined => {
  const { metricId, name, definition, digest } = data as OwnDefinition;
  const { chart, from, ...parts } = definition;
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  const draft = draftOf({ kind: 'visual', ...empty, chart, from, ...given } as VisualDefinition);
  if (draft === undefined) return undefined;
  // Parts that the editor does not show stay.
  const { where: _, calculations: __, comparison: ___, ...kept } = definition;
  const save: SaveMetric = (next, signal) => {
    const body = { name: next.name, definition: { ...kept, ...(next.definition as object) }, digest };
    return client.call(`metrics/${encodeURIComponent(metricId)}`, { method: 'PUT', body }, signal);
  };
  return { metricId, initial: { name, draft }, save };
};
