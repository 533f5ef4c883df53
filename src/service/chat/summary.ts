/** Summarises cards from what the guest's own queries answer. A model writes a text only where it may read rows. */
import type { Assistant } from '../../model/chat/assistant.js';
import { factsOf, labelsOf, valuesOf } from '../../model/chat/facts.js';
import { type Model, modelsOf } from '../../model/chat/model.js';
import { hasOnlyKnownNumbers, withoutQuoted } from '../../model/chat/numbers.js';
import { type MetricSummary, type Summary, type SummaryQuestion, summaryMessages } from '../../model/chat/summary.js';
import { knownNumbers, readText } from '../../model/chat/tool-results.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { Workspace } from '../../model/organization.js';
import type { Clock, Tag } from '../../model/ports.js';
import type { ReadEngine, RequestSignal } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import { answerGuestMetric, viewMetric } from '../guest/reads.js';
import { assertStillGood, openDashboard } from '../guest/scope.js';
import type { Store } from '../store/store.js';

type Deps = {
  readonly store: Store;
  readonly engine: ReadEngine;
  readonly clock: Clock;
  readonly tag: Tag;
  readonly assistant: Pick<Assistant, 'models' | 'assertFew' | 'note'>;
};

/** Refusals of one metric. Its card says why, and the summary tells of the others. */
const ofMetric: ReadonlySet<string> = new Set([
  'METRIC_QUERY_ERROR',
  'CLIENT_ID_ERROR',
  'RLS_SETTINGS_PARAM_ERROR',
  'APP_FILTER_PARAM_ERROR',
]);

/** A metric that cannot be answered has no facts. */
const summarise = async (
  deps: Deps,
  caller: GuestCaller,
  { metricId, chart }: GuestMetric,
  { dashboardId, dashboardFilter, language }: SummaryQuestion,
  signal: AbortSignal,
): Promise<MetricSummary> => {
  try {
    const query = { metricId, dashboardId, dashboardFilter, language };
    const { answer } = await answerGuestMetric(deps)(caller, query, signal);
    return { metricId, facts: factsOf(chart, answer) };
  } catch (error) {
    if (error instanceof Refusal && ofMetric.has(error.code)) return { metricId, facts: [] };
    throw error;
  }
};

/** The model that may write: of the workspace, on an embed with the assistant, and allowed to read rows. */
const writerOf = ({ assistant }: Deps, { embed }: Opened, workspace: Workspace | undefined): Model | undefined =>
  embed.accessSettings?.isAllowAiPilot === true
    ? modelsOf(assistant.models, workspace ?? {}).find(({ allowsRows }) => allowsRows)
    : undefined;

type Writing = { readonly model: Model; readonly workspace: Workspace; readonly names: ReadonlyMap<string, string> };

/** Refusals after which the facts speak for themselves. */
const withoutText: ReadonlySet<string> = new Set(['MODEL_UNAVAILABLE', 'MODEL_ANSWER_INVALID', 'RATE_LIMITED']);

/** Returns a text whose numbers are all among the facts, or null. */
const write = async (
  deps: Deps,
  caller: GuestCaller,
  { model, workspace, names }: Writing,
  summaries: readonly MetricSummary[],
  { dashboardId, language }: SummaryQuestion,
  signal: RequestSignal,
): Promise<string | null> => {
  const { clientId: tenant, userIdentifier: user } = caller.grant;
  const started = deps.clock.now().getTime();
  const named = summaries.map(({ metricId, facts }) => ({ name: names.get(metricId) ?? '', facts }));
  const note = (tokens: number, outcome: 'text' | 'failed'): void => {
    const durationInMs = deps.clock.now().getTime() - started;
    deps.assistant.note({ tenant, user, llmName: model.name, rounds: 1, tokens, tried: 0, outcome, durationInMs });
  };
  try {
    await deps.assistant.assertFew(caller.grant);
    await assertStillGood(deps, caller);
    const reply = await model.complete(summaryMessages(named, workspace, language), [], signal);
    signal.use?.add({ dashboardId, metricId: null }, { modelTokens: reply.tokens });
    note(reply.tokens, 'text');
    const text = readText(reply.text);
    const known = knownNumbers([named.map(({ name }) => name), summaries.map(({ facts }) => valuesOf(facts))]);
    const labels = summaries.flatMap(({ facts }) => labelsOf(facts));
    return text !== null && hasOnlyKnownNumbers(withoutQuoted(text, labels), known) ? text : null;
  } catch (error) {
    if (!(error instanceof Refusal) || !withoutText.has(error.code)) throw error;
    note(0, 'failed');
    return null;
  }
};

const assertSummaries = (workspace: Workspace | undefined): Workspace => {
  if (workspace?.isEnableMetricSummary === true) return workspace;
  throw new Refusal('UNAUTHORIZED', 'The workspace of this dashboard has no summaries (isEnableMetricSummary).', {
    reason: 'permission-missing',
  });
};

/**
 * Returns the facts about the metrics, in the order of the dashboard, with a text of a model where one may read rows.
 * Throws UNAUTHORIZED if the token does not open the dashboard, or its workspace has no summaries.
 */
export const summariseGuestDashboard =
  (deps: Deps) =>
  async (caller: GuestCaller, asked: SummaryQuestion, signal: RequestSignal): Promise<Summary> => {
    const { grant } = caller;
    const content = deps.store.contentAt(grant.revision);
    const opened = await openDashboard(content, grant, asked.dashboardId);
    const workspace = assertSummaries(await content.workspaces.findById(opened.dashboard.workspaceId));
    const open = await openMetricsOf(content, grant, opened);
    const views = open
      .filter(({ metricId }) => asked.metricIds.includes(metricId))
      .map((metric) => viewMetric(grant, metric));
    const metrics: MetricSummary[] = [];
    for (const view of views) metrics.push(await summarise(deps, caller, view, asked, signal));
    const model = writerOf(deps, opened, workspace);
    const hasFacts = metrics.some(({ facts }) => facts.length > 0);
    if (model === undefined || !hasFacts) return { metrics, text: null };
    const names = new Map(views.map(({ metricId, name }) => [metricId, name]));
    const text = await write(deps, caller, { model, workspace, names }, metrics, asked, signal);
    return { metrics, text };
  };
