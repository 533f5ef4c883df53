/**
 * Answers a guest's question in words. A language model only chooses among tools; a metric runs by the operation that
 * the guest itself would call, with the guest's own grant. Stores nothing.
 */
import type { Assistant } from '../../model/chat/assistant.js';
import { type Catalogue, catalogueText } from '../../model/chat/catalogue.js';
import { type ChatAnswer, type ChatMetric, type ChatQuestion, type ChatTurn, labelsOf } from '../../model/chat/chat.js';
import type { Model, ModelMessage, ToolCall } from '../../model/chat/model.js';
import { hasOnlyKnownNumbers } from '../../model/chat/numbers.js';
import { chatTools, firstMessages } from '../../model/chat/prompt.js';
import {
  knownNumbers,
  ranResult,
  readArguments,
  readName,
  readText,
  refusedResult,
} from '../../model/chat/tool-results.js';
import { assertChats } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import { withColumnFormats, withoutColumnFormats } from '../../model/guest/column-formats.js';
import { withCurrencyGroups } from '../../model/guest/currency-groups.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { isRecord } from '../../model/is-record.js';
import type { Clock } from '../../model/ports.js';
import type { Engine, RequestSignal } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import type { Opened } from '../embeds/lookup.js';
import { readNewDefinition } from '../guest/definition.js';
import { readCatalogue } from '../guest/fields.js';
import { chooseModel } from '../guest/may-chat.js';
import { assertStillGood, openDashboard } from '../guest/scope.js';
import type { Store } from '../store/store.js';

type Deps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'introspect' | 'listClientDatabases'>;
  readonly clock: Clock;
  readonly assistant: Assistant;
  readonly sqlRewriter: SqlRewriter;
};

/** Earlier definitions go to the model, so they must fit what the guest may use now. */
const assertTurns = async (deps: Deps, grant: GuestGrant, opened: Opened, { turns = [] }: ChatQuestion) => {
  for (const [at, { metric }] of turns.entries()) {
    if (metric === null) continue;
    try {
      await readNewDefinition(deps, grant, opened, metric.definition);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'INVALID_REQUEST_BODY') throw error;
      throw new Refusal(error.code, `turns[${at}].metric.${error.message}`, { reason: error.reason, cause: error });
    }
  }
};

/** The state of one question. */
type Talk = {
  readonly deps: Deps;
  readonly caller: GuestCaller;
  readonly asked: ChatQuestion;
  readonly model: Model;
  readonly catalogue: Catalogue;
  readonly messages: ModelMessage[];
  /** What the model read that may hold numbers. */
  readonly read: unknown[];
  readonly signal: AbortSignal;
  metric: ChatMetric | null;
  rounds: number;
  tokens: number;
  tried: number;
};

/** What a model wrote, with the groups that keep currencies apart. What is no definition stays as it is: it is refused. */
const withCurrencies = ({ deps: { assistant }, catalogue }: Talk, written: unknown): unknown => {
  const definition = assistant.readDefinition(written);
  return definition === undefined ? written : withCurrencyGroups(catalogue.fields, definition);
};

/** Runs what a model wrote as the guest, and returns what the model reads of it. */
const runMetric = async (talk: Talk, name: string, written: unknown): Promise<string> => {
  const { deps, caller, asked, model, signal } = talk;
  talk.tried += 1;
  const definition = withCurrencies(talk, written);
  const request = { dashboardId: asked.dashboardId, dashboardFilter: asked.dashboardFilter, definition };
  const previewed = await deps.assistant.preview(caller, request, signal);
  if ('refused' in previewed) return refusedResult(previewed.refused);
  talk.metric = { name, definition: previewed.definition };
  const shown = withColumnFormats(previewed.definition, talk.catalogue.fields);
  const { text, read } = ranResult(previewed, shown, { allowsRows: model.allowsRows, language: asked.language });
  talk.read.push(previewed.definition, ...read);
  return text;
};

const useTool = async (talk: Talk, { name, arguments: text }: ToolCall): Promise<string> => {
  const given = readArguments(text);
  if (given === undefined) return refusedResult('The arguments must be one JSON object.');
  const { tables, definition, changes } = given;
  if (name === 'list_fields') {
    const wanted = Array.isArray(tables) ? tables.filter((table) => typeof table === 'string') : [];
    return catalogueText(talk.catalogue, wanted);
  }
  if (name === 'make_metric') return runMetric(talk, readName(given.name, talk.asked.question), definition);
  if (name !== 'refine_metric') return refusedResult('There is no such tool.');
  if (talk.metric === null) return refusedResult('There is no metric yet: make one.');
  if (!isRecord(changes)) return refusedResult('changes must be an object.');
  return runMetric(talk, readName(given.name, talk.metric.name), { ...talk.metric.definition, ...changes });
};

/** What is about to be sent, in tokens: a token has about four characters. */
const estimateOf = (messages: readonly ModelMessage[]): number => Math.ceil(JSON.stringify(messages).length / 4);

/** Asks the model until it uses no tool. Returns its text, or undefined where a limit ended the talk. */
const converse = async (talk: Talk): Promise<string | null | undefined> => {
  const { deps, caller, model, messages, signal } = talk;
  const { limits, schemas } = deps.assistant;
  const tools = chatTools(schemas());
  while (talk.rounds < limits.rounds && talk.tokens + estimateOf(messages) <= limits.tokens) {
    // A token may end while a model thinks. What it opened is then neither read nor sent.
    await assertStillGood(deps, caller);
    talk.rounds += 1;
    const { text, toolCalls, tokens } = await model.complete(messages, tools, signal);
    talk.tokens += tokens;
    if (toolCalls.length === 0) return readText(text);
    messages.push({ role: 'assistant', content: text, toolCalls });
    for (const call of toolCalls) {
      await assertStillGood(deps, caller);
      messages.push({ role: 'tool', callId: call.id, content: await useTool(talk, call) });
    }
  }
  return undefined;
};

const answerOf = (talk: Talk, text: string | null | undefined): ChatAnswer => {
  const { metric, model, asked, read, catalogue } = talk;
  if (text === undefined && metric === null) {
    throw new Refusal(
      'CHAT_LIMIT_REACHED',
      'The assistant found no answer within its limits. Ask a simpler question, or several ones.',
    );
  }
  const said = text ?? null;
  const isKnown = said !== null && hasOnlyKnownNumbers(said, knownNumbers([...read, asked.question]));
  const labels = labelsOf(metric?.definition, catalogue.fields);
  const shown = metric && { ...metric, definition: withColumnFormats(metric.definition, catalogue.fields) };
  return { text: isKnown ? said : null, metric: shown, labels, llmName: model.name };
};

const dateOf = (now: Date, timezone: string | null): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone ?? 'UTC' }).format(now);

/** The earlier questions without the formats of columns, which the model could leave behind when it changes a metric. */
const plainTurns = ({ turns = [] }: ChatQuestion, { fields }: Catalogue): readonly ChatTurn[] =>
  turns.map(({ metric, ...turn }) => ({
    ...turn,
    metric: metric && { ...metric, definition: withoutColumnFormats(metric.definition, fields) },
  }));

const begin = async (deps: Deps, caller: GuestCaller, asked: ChatQuestion, signal: AbortSignal): Promise<Talk> => {
  const { grant } = caller;
  const opened = await openDashboard(deps.store, grant, asked.dashboardId);
  assertChats(grant, opened.embed);
  const model = await chooseModel(deps, deps.store, opened, asked.llmName);
  await assertTurns(deps, grant, opened, asked);
  await deps.assistant.assertFew(grant);
  const catalogue = await readCatalogue(deps, grant, opened, signal);
  const { question, language } = asked;
  const turns = plainTurns(asked, catalogue);
  const today = dateOf(deps.clock.now(), grant.timezone);
  const facts = { allowsRows: model.allowsRows, today, language };
  const metric = turns.findLast((turn) => turn.metric !== null)?.metric ?? null;
  const messages = [...firstMessages(facts, turns, question)];
  const read = [today, ...turns.map((turn) => turn.metric?.definition)];
  const started = { metric, rounds: 0, tokens: 0, tried: 0 };
  return { deps, caller, asked, model, catalogue, messages, read, signal, ...started };
};

/** Runs the talk, and notes how it ended. The note holds no text. */
const noted = async (talk: Talk, before: ChatMetric | null): Promise<ChatAnswer> => {
  const { deps, caller, model } = talk;
  const started = deps.clock.now().getTime();
  const note = (outcome: Parameters<Assistant['note']>[0]['outcome']): void => {
    const { clientId: tenant, userIdentifier: user } = caller.grant;
    const { rounds, tokens, tried } = talk;
    const durationInMs = deps.clock.now().getTime() - started;
    deps.assistant.note({ tenant, user, llmName: model.name, rounds, tokens, tried, outcome, durationInMs });
  };
  try {
    const text = await converse(talk);
    if (talk.metric === before) talk.metric = null;
    const answer = answerOf(talk, text);
    note(text === undefined ? 'limit' : answer.metric === null ? 'text' : 'metric');
    return answer;
  } catch (error) {
    note(error instanceof Refusal && error.code === 'CHAT_LIMIT_REACHED' ? 'limit' : 'failed');
    throw error;
  }
};

/**
 * Returns the text and the metric that a model made for the question. Throws UNAUTHORIZED unless the token and the embed
 * let the guest ask, MODEL_NOT_CONFIGURED, RATE_LIMITED, CHAT_LIMIT_REACHED, and what the model throws.
 */
export const chatOnGuestDashboard =
  (deps: Deps) =>
  async (caller: GuestCaller, asked: ChatQuestion, signal: RequestSignal): Promise<ChatAnswer> => {
    const total = AbortSignal.timeout(deps.assistant.limits.timeoutMs);
    const limited = anyOf(signal, total);
    const talk = await begin(deps, caller, asked, limited);
    try {
      return await noted(talk, talk.metric);
    } catch (error) {
      if (!total.aborted || signal.aborted) throw error;
      throw new Refusal('CHAT_LIMIT_REACHED', 'The assistant took too long. Ask a simpler question.', {
        cause: error,
      });
    } finally {
      signal.use?.add({ dashboardId: asked.dashboardId, metricId: null }, { modelTokens: talk.tokens });
    }
  };
