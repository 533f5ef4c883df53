/** The ways in which a guest receives answers: each asks one question and returns all that the guest is given for it. */
import { unzipSync } from 'fflate';
import { expect } from 'vitest';
import { callTool } from '../../src/assistants/mcp/call-tool.js';
import { guestTools } from '../../src/assistants/mcp/tools.js';
import { assistantOpener } from '../../src/compose/assistant.js';
import { checkAlert } from '../../src/delivery/alert-content.js';
import type { Ask } from '../../src/delivery/report-content.js';
import type { Assistant } from '../../src/model/chat/assistant.js';
import type { Model } from '../../src/model/chat/model.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { Workbook } from '../../src/model/guest/download.js';
import type { RenderRequest } from '../../src/model/guest/render.js';
import type { GuestQuery } from '../../src/model/guest/view.js';
import { Refusal } from '../../src/model/refusal.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { createDispatch, type Dispatch } from '../../src/platform/http/wire/bind.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { createMemoryLimiters } from '../../src/platform/limits/limiter.js';
import type { Log } from '../../src/platform/logs/log.js';
import { chatOnGuestDashboard } from '../../src/service/chat/chat.js';
import { listGuestSuggestions } from '../../src/service/chat/suggestions.js';
import { summariseGuestDashboard } from '../../src/service/chat/summary.js';
import { toCsv } from '../../src/service/guest/contract/csv.js';
import { toXlsx } from '../../src/service/guest/contract/xlsx/workbook.js';
import { queryGuestDashboard } from '../../src/service/guest/dashboard-query.js';
import { downloadGuestCsv, downloadGuestDashboardXlsx, downloadGuestXlsx } from '../../src/service/guest/downloads.js';
import { listGuestFields } from '../../src/service/guest/fields.js';
import { previewGuestMetric } from '../../src/service/guest/preview.js';
import { listGuestUnderlying, queryGuestMetric } from '../../src/service/guest/reads.js';
import { renderGuestDashboardPdf, renderGuestMetricPng } from '../../src/service/guest/renders.js';
import { openDashboard } from '../../src/service/guest/scope.js';
import { createHandlers, operations } from '../../src/service/operations.js';
import { openAlert } from '../../src/service/schedules/alerts.js';
import { stays } from '../engine/world.js';
import { scheduleSample } from '../suites/store-deliveries.js';
import { type Deps, definitionOf, metricIds } from './guest-world.js';

export type BoardQuery = GuestQuery & { readonly dashboardId: string };

export type Asking = {
  readonly deps: Deps;
  readonly guest: GuestCaller;
  readonly query: BoardQuery;
  /** The embed of the board whose users make metrics by chat. */
  readonly chatEmbedId: string;
};
type Way = (asking: Asking) => Promise<unknown>;

/** What the guest is given if the question is refused. Any other error is thrown. */
export const refusalIn = (error: unknown): unknown => {
  if (!(error instanceof Refusal)) throw error;
  return { refused: [error.code, error.reason, error.message] };
};

const listed = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/** The texts of a workbook's parts: what it states, and its cells. */
const partsOf = async (workbook: Workbook): Promise<readonly (readonly [string, string])[]> => {
  const refused = () => ({ code: 'METRIC_QUERY_ERROR' as const, message: 'refused', status: 400 });
  const files = Object.entries(unzipSync(Buffer.concat(await listed(toXlsx(workbook, refused)))));
  return files.map(([name, bytes]) => [name, Buffer.from(bytes).toString()] as const);
};

const dashboardOf = ({ metricId, dashboardId, dashboardFilter, crossFilter }: BoardQuery) => ({
  ...{ dashboardId, dashboardFilter, crossFilter },
  metrics: [...new Set([metricId, 'shops', 'days'])].map((id) => ({ metricId: id })),
});

/** The answers of a dashboard's cards, by metric. */
const answersOf = async (
  deps: Deps,
  guest: GuestCaller,
  query: Parameters<ReturnType<typeof queryGuestDashboard>>[1],
) => {
  const answers: Record<string, unknown> = {};
  for await (const part of await queryGuestDashboard(deps)(guest, query, stays)) {
    if ('reply' in part) answers[part.metricId] = part.reply.answer;
    else if ('failure' in part) answers[part.metricId] = refusalIn(part.failure);
  }
  return answers;
};

/** A drawing is what the renderer is asked for, and the answers to what the drawn page asks then. */
const drawn = async ({ deps, guest }: Asking, draw: (on: Deps) => Promise<unknown>): Promise<unknown> => {
  const requests: RenderRequest[] = [];
  const renderer = {
    render: async (request: RenderRequest) => {
      requests.push(request);
      return new Uint8Array();
    },
  };
  await draw({ ...deps, renderer } as Deps);
  const [target] = requests.map((request) => request.target);
  if (target?.dashboardId === undefined) throw new Error('nothing was drawn');
  expect(requests.every((request) => request.caller === guest)).toBe(true);
  const { dashboardId, metricId, dashboardFilter, crossFilter } = target;
  const metrics = (metricId === undefined ? metricIds : [metricId]).map((id) => ({ metricId: id }));
  return [target, await answersOf(deps, guest, { dashboardId, dashboardFilter, crossFilter, metrics })];
};

/** The operations over these use cases, called by this guest. */
const dispatchFor = (deps: Deps, guest: GuestCaller): Dispatch =>
  createDispatch({
    ...{ operations, handlers: createHandlers(deps), authenticate: async () => guest, newRequestId: () => 'r' },
    log: {
      info: () => undefined,
      error: (_, message) => {
        throw new Error(message);
      },
    },
  });

/** A text without what differs between two answers to the same question. */
const withoutTimes = (text: string): string => text.replace(/"timeTaken":\d+/, '');

/** The tools of a token that may do everything. */
const everyTool = guestTools(operations);

/** A tool by its name, called as an assistant calls it. A refusal is one of its answers. */
const tool =
  (name: string, argumentsOf: (query: BoardQuery) => object): Way =>
  async ({ deps, guest, query }) => {
    const found = everyTool().find((one) => one.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    const asker = { authorization: 'Bearer guest', signal: stays };
    const { result } = await callTool(dispatchFor(deps, guest), asker, found, argumentsOf(query));
    const texts = result.content.map((part) => ('text' in part ? withoutTimes(part.text) : part.resource.blob));
    return result.isError === true ? { refused: texts } : texts;
  };

/** What the check of an alert tells, and what it leaves for the next check. */
const checkedAlert: Way = async ({ deps, guest, query: { dashboardId, metricId } }) => {
  const condition = metricId === 'total' ? ({ is: 'above', value: 0 } as const) : ({ is: 'newKey' } as const);
  const alert = { metricId, measure: 'Count', condition, quietHours: null };
  const opened = await openDashboard(deps.store, guest.grant, dashboardId);
  const openedAlert = await openAlert(deps, guest.grant, opened, alert);
  const owner = { dataAppId: guest.grant.dataAppId, clientId: guest.grant.clientId, userIdentifier: 'ann' };
  const schedule = scheduleSample(opened.dashboard.id, owner, { id: 'alert', openedId: dashboardId, alert });
  const call = inProcessTransport(dispatchFor(deps, guest));
  const ask: Ask = (path, body, bearer, signal) => call({ method: 'POST', path, query: {}, body, bearer }, signal);
  const reading = { ask, token: 'guest', schedule, alert, opened: openedAlert };
  return checkAlert({ ...reading, tag: deps.tag, now: deps.clock.now(), isRequested: true }, stays);
};

/** An assistant of this guest that asks this model. */
export const assistantOf = (deps: Deps, guest: GuestCaller, model: Model): Assistant => {
  const { chat } = defaultSettings();
  const limits = { ...chat, userPerMinute: null, tenantPerMinute: null };
  const parts = { settings: { chat: limits }, models: [], limiters: createMemoryLimiters(deps), clock: deps.clock };
  const log = { info: () => undefined } as unknown as Log;
  const opened = assistantOpener({ ...parts, log } as never)(() => dispatchFor(deps, guest));
  return { ...opened, models: [model] };
};

/** All that a model is sent for a summary, and the summary. */
const summarised: Way = async ({ deps, guest, query: { metricId, dashboardFilter }, chatEmbedId }) => {
  const sent: unknown[] = [];
  const model: Model = {
    ...{ name: 'seeing', allowsRows: true },
    complete: async (messages) => {
      sent.push(messages);
      return { text: 'So it is.', toolCalls: [], tokens: 1 };
    },
  };
  const asked = { dashboardId: chatEmbedId, metricIds: [metricId, 'shops', 'months'], dashboardFilter };
  const on = { ...deps, assistant: assistantOf(deps, guest, model) };
  const summary = await summariseGuestDashboard(on)(guest, asked, stays);
  expect([summary.text, sent.length]).toEqual(
    summary.metrics.some(({ facts }) => facts.length > 0) ? ['So it is.', 1] : [null, 0],
  );
  return [sent, summary];
};

/**
 * All that a model is sent while it tries a metric and sees its rows, with the answer to the guest; and the rows of that
 * answer as the guest reads them.
 */
const chatted: Way = async ({ deps, guest, query: { metricId, dashboardFilter }, chatEmbedId }) => {
  const { kind: _, rlsVariables: __, filters: ___, ...definition } = definitionOf(metricId);
  const calls = [
    { id: '1', name: 'list_fields', arguments: '{}' },
    { id: '2', name: 'make_metric', arguments: JSON.stringify({ name: 'Made', definition }) },
  ];
  const sent: unknown[] = [];
  const model: Model = {
    ...{ name: 'seeing', allowsRows: true },
    complete: async (messages) => {
      sent.push(messages.at(-1), messages.at(-2));
      return sent.length > 2
        ? { text: 'Made.', toolCalls: [], tokens: 1 }
        : { text: null, toolCalls: calls, tokens: 1 };
    },
  };
  const assistant = assistantOf(deps, guest, model);
  const asked = { dashboardId: chatEmbedId, question: 'What?', dashboardFilter };
  const { metric: made } = await chatOnGuestDashboard({ ...deps, assistant })(guest, asked, stays);
  if (made === null) throw new Error('the metric did not run');
  const preview = { dashboardId: 'board', dashboardFilter, definition: made.definition };
  return [sent, made, (await previewGuestMetric(deps)(guest, preview, stays)).answer];
};

const previewed: Way = async ({ deps, guest, query: { metricId, dashboardId, dashboardFilter } }) => {
  const { kind: _, rlsVariables: __, measures, ...parts } = definitionOf(metricId);
  const definition = { ...parts, measures: measures.filter((one) => one.aggregate !== undefined) };
  return (await previewGuestMetric(deps)(guest, { dashboardId, dashboardFilter, definition }, stays)).answer;
};

/** Every way by its name. */
export const ways: Readonly<Record<string, Way>> = {
  chat: chatted,
  query: async ({ deps, guest, query }) => (await queryGuestMetric(deps)(guest, query, stays)).answer,
  preview: previewed,
  summary: summarised,
  suggestions: ({ deps, guest, chatEmbedId }) => listGuestSuggestions(deps)(guest, { dashboardId: chatEmbedId }, stays),
  fields: ({ deps, guest, query: { dashboardId } }) => listGuestFields(deps)(guest, { dashboardId }, stays),
  rows: async ({ deps, guest, query: { sort: _, ...query } }) =>
    (await listGuestUnderlying(deps)(guest, query, stays)).answer,
  csv: async ({ deps, guest, query }) => listed(toCsv(await downloadGuestCsv(deps)(guest, query, stays))),
  xlsx: async ({ deps, guest, query }) => partsOf(await downloadGuestXlsx(deps)(guest, query, stays)),
  'dashboard query': ({ deps, guest, query }) => answersOf(deps, guest, dashboardOf(query)),
  'dashboard xlsx': async ({ deps, guest, query }) =>
    partsOf(await downloadGuestDashboardXlsx(deps)(guest, dashboardOf(query), stays)),
  'dashboard pdf': (asking) =>
    drawn(asking, (on) =>
      renderGuestDashboardPdf(on)(asking.guest, { ...asking.query, metricId: undefined } as never, stays),
    ),
  alert: checkedAlert,
  'tool query_metric': tool('query_metric', ({ metricId, dashboardId, dashboardFilter, crossFilter }) => ({
    ...{ metricId, dashboardId, dashboardFilter, crossFilter },
  })),
  'tool list_underlying_rows': tool('list_underlying_rows', ({ sort: _, ...query }) => query),
  'tool export_csv': tool('export_csv', (query) => query),
  'tool export_xlsx': tool('export_xlsx', (query) => query),
  'tool describe_dashboard': tool('describe_dashboard', ({ dashboardId }) => ({ dashboardId })),
  'tool list_fields': tool('list_fields', ({ dashboardId }) => ({ dashboardId })),
  'tool list_filter_values': tool('list_filter_values', ({ dashboardId }) => ({ dashboardId, filter: 'State' })),
  'metric png': (asking) => drawn(asking, (on) => renderGuestMetricPng(on)(asking.guest, asking.query, stays)),
};
