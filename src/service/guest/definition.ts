/** Checks a definition that a guest sent against what the guest may use. Nothing is stored or queried unchecked. */
import { type Metric, type MetricDefinition, testsOf } from '../../model/dashboard/metric.js';
import { sameColumn } from '../../model/datamart/datamart.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import {
  changedDefinition,
  type DefinitionWrite,
  type GuestDefinition,
  guestFaults,
  type NewGuestDefinition,
  newDefinition,
} from '../../model/guest/metric.js';
import type { Clock } from '../../model/ports.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { findSource, type Opened } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { withOpenColumns } from './open-columns.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly sqlRewriter: SqlRewriter };

const maxFaults = 10;

const assertSound = async (
  { store, clock, sqlRewriter }: Deps,
  grant: GuestGrant,
  opened: Opened,
  write: DefinitionWrite,
): Promise<void> => {
  const source = await findSource(store, opened, grant);
  if (source === undefined) {
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'This embed has no datamart; the host application must name one in its access settings.',
    );
  }
  const datamart = await withOpenColumns(sqlRewriter, source.datasource.datasourceType, source.datamart);
  const faults = guestFaults(write, datamart, { now: clock.now(), timezone: grant.timezone });
  if (faults.sent.length > 0) {
    const lines = faults.sent.slice(0, maxFaults).map((fault) => `definition.${fault}.`);
    throw new Refusal('INVALID_REQUEST_BODY', lines.join('\n'), { reason: 'guest-definition' });
  }
  if (faults.stored.length > 0) {
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      `The stored metric is not valid, so no part of it can be changed: ${faults.stored.slice(0, maxFaults).join('; ')}.`,
      { reason: 'stored-definition' },
    );
  }
};

/**
 * Returns the definition of a new metric. Throws INVALID_REQUEST_BODY with a line for each of the first ten faults, which starts
 * with the fault's JSON path, or METRIC_QUERY_ERROR if the
 * embed has no datamart.
 */
export const readNewDefinition = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  parts: NewGuestDefinition,
): Promise<MetricDefinition> => {
  const definition = newDefinition(parts);
  await assertSound(deps, grant, opened, { parts, whole: definition, before: null });
  return definition;
};

const refuseChange = (field: string, why: string, reason: Reason): never => {
  throw new Refusal('INVALID_REQUEST_BODY', `definition.${field}: ${why}`, { reason });
};

/**
 * Throws INVALID_REQUEST_BODY if a change would weaken the host's conditions. A comparison moves the conditions on its
 * column to an earlier time, and would show rows that these conditions exclude. The host's own comparison applies only
 * to a single value, so removing all dimensions would activate it.
 */
const assertKeepsRestrictions = (made: MetricDefinition, parts: GuestDefinition): void => {
  const { filters, where, dimensions } = parts;
  if (filters !== undefined) {
    refuseChange(
      'filters',
      'this metric was made by the host application, and keeps its filters; leave the field out.',
      'filters-of-the-host',
    );
  }
  if (where !== undefined) {
    refuseChange(
      'where',
      'this metric was made by the host application, and keeps its conditions; leave the field out, and narrow the metric by filters or make a metric of your own.',
      'where-of-the-host',
    );
  }
  const conditions = [
    ...(made.kind === 'visual' ? testsOf(made.where) : []),
    ...made.filters.filter(({ predicate }) => predicate !== undefined),
  ];
  const begins = made.kind === 'visual' && made.dimensions.length > 0 && dimensions?.length === 0;
  const comparison = parts.comparison ?? (begins ? made.comparison : undefined);
  if (comparison !== undefined && conditions.some(({ column }) => sameColumn(column, comparison.column))) {
    refuseChange(
      parts.comparison === undefined ? 'dimensions' : 'comparison',
      'the host application restricts this metric by the column of its comparison; compare along another column, keep a dimension, or make a metric of your own.',
      'comparison-of-the-host',
    );
  }
};

/**
 * As `readNewDefinition`, for a change. spec-gap: in a metric that the host made, filters, `where` and RLS variables
 * cannot be changed or added. Tokens name the filters and variables, and a guest may not remove the author's
 * conditions. A guest's `where` is also refused, since a second change could not distinguish it from the author's.
 */
export const readChangedDefinition = async (
  deps: Deps,
  grant: GuestGrant,
  opened: Opened,
  metric: Metric,
  parts: GuestDefinition,
): Promise<MetricDefinition> => {
  if (metric.guest === null) assertKeepsRestrictions(metric.definition, parts);
  const definition = changedDefinition(metric, parts);
  await assertSound(deps, grant, opened, { parts, whole: definition, before: metric.definition });
  return definition;
};
