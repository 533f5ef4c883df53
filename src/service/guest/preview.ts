/** Answers a definition that is not saved, under all restrictions of its dashboard. */
import { hostMade, type Metric, type MetricDefinition } from '../../model/dashboard/metric.js';
import { assertDefines, assertWrites } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { type GuestDefinition, isWhole } from '../../model/guest/metric.js';
import type { GuestQuery, MetricReply } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { withMeasureNumbers } from '../../model/query/answer-columns.js';
import { withCourse } from '../../model/query/comparison.js';
import type { ReadEngine } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import type { Opened } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { readChangedDefinition, readNewDefinition } from './definition.js';
import { guestReads } from './engine.js';
import { loadTarget } from './metric-target.js';
import { openDashboard, openMetric, questionFor } from './scope.js';

type Deps = {
  readonly store: Store;
  readonly engine: ReadEngine;
  readonly clock: Clock;
  readonly sqlRewriter: SqlRewriter;
};

type Question = Pick<GuestQuery, 'dashboardFilter' | 'metricFilter' | 'sort' | 'limit' | 'offset'>;

/** With a `metricId`, the definition is a change of that metric: missing parts keep their values. */
export type PreviewGuestMetric = Question & {
  readonly dashboardId: string;
  readonly metricId?: string | undefined;
  readonly definition: GuestDefinition;
};

const previewId = 'preview';

/** Returns a metric that exists for one question only, as the guest's client would own it. */
export const unsavedMetric = (grant: GuestGrant, { dashboard }: Opened, definition: MetricDefinition): Metric => {
  const { workspaceId } = dashboard;
  return { metricId: previewId, workspaceId, name: previewId, definition, lineage: [], owner: grant, ...hostMade };
};

/** Returns the metric as it would be after the write. A guest needs the permission of that write. */
const draft = async (
  deps: Deps,
  { grant }: GuestCaller,
  opened: Opened,
  command: PreviewGuestMetric,
): Promise<Metric> => {
  if (command.metricId === undefined) {
    assertWrites(grant, opened.embed, 'createGuestMetric');
    assertDefines(grant);
    if (!isWhole(command.definition)) {
      throw new Refusal('INVALID_REQUEST_BODY', 'definition: a new metric needs chart and from.');
    }
    return unsavedMetric(grant, opened, await readNewDefinition(deps, grant, opened, command.definition));
  }
  const { metric } = await loadTarget(deps.store, grant, command.metricId, 'updateGuestMetric');
  await openMetric(deps.store, grant, command.metricId, command.dashboardId);
  assertWrites(grant, opened.embed, 'updateGuestMetric');
  assertDefines(grant);
  const definition = await readChangedDefinition(deps, grant, opened, metric, command.definition);
  return { ...metric, definition, isChangedByGuest: true };
};

/** Returns the answer. Stores nothing. */
export const previewGuestMetric =
  (deps: Deps) =>
  async (caller: GuestCaller, command: PreviewGuestMetric, signal: AbortSignal): Promise<MetricReply> => {
    const { grant } = caller;
    const started = deps.clock.now();
    const opened = await openDashboard(deps.store, grant, command.dashboardId);
    const metric = await draft(deps, caller, opened, command);
    const { dashboardFilter, metricFilter, sort, limit, offset } = command;
    const query = { metricId: metric.metricId, dashboardFilter, metricFilter, sort, limit, offset };
    const target = { opened, metric, dashboards: [opened.dashboard] };
    const ask = withCourse(guestReads(deps.engine, signal, target).query);
    const answer = await ask(await questionFor(deps.store, grant, target, query, started));
    const columns = withMeasureNumbers(answer.columns, metric.definition);
    const timeTakenInMs = deps.clock.now().getTime() - started.getTime();
    return { metricId: metric.metricId, answer: { ...answer, columns }, timeTakenInMs };
  };
