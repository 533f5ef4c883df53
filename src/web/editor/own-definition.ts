/** A definition that the service answered, as the editor changes it. */
import type { OwnDefinition } from '../../domain/guest/metric.js';
import type { GuestClient } from '../base/client.js';
import { draftOf, wholeOf } from './draft.js';
import type { InitialMetric, SaveMetric } from './panel.js';

/** An own metric that the editor shows. */
export type Opened = {
  readonly metricId: string;
  readonly initial: InitialMetric;
  /** Refused if somebody else changed the metric since it was read. */
  readonly save: SaveMetric;
};

/** Returns the metric as the editor begins with it. */
export const openedOf = (client: GuestClient, data: unknown): Opened => {
  const { metricId, name, definition, digest } = data as OwnDefinition;
  const { chart, from, ...parts } = definition;
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  const draft = draftOf(wholeOf({ chart, from, ...given }));
  const save: SaveMetric = (next, signal) => {
    const body = { name: next.name, definition: next.definition, digest };
    return client.call(`metrics/${encodeURIComponent(metricId)}`, { method: 'PUT', body }, signal);
  };
  return { metricId, initial: { name, draft }, save };
};
