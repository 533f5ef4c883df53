/** A definition that the service answered, as the editor changes it. */
import type { GuestClient } from '../base/client.js';
import { updateGuestMetric } from '../base/guest-operations.js';
import type { OperationAnswer } from '../base/operations.js';
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
export const openedOf = (
  client: GuestClient,
  { metricId, name, definition, digest }: OperationAnswer<'getGuestMetricDefinition'>['data'],
): Opened => {
  const { chart, from, ...parts } = definition;
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  const draft = draftOf(wholeOf({ chart, from, ...given }));
  const save: SaveMetric = (next, signal) =>
    client.call(updateGuestMetric, { metricId, name: next.name, definition: next.definition, digest }, signal);
  return { metricId, initial: { name, draft }, save };
};
