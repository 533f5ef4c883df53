/**
 * Asks language models by the protocol of OpenAI (`/chat/completions`), without streaming. Sends to the configured
 * address alone: connects only to addresses that were checked, and follows no redirect. An answer is data of a stranger:
 * its size and its shape are checked, and none of it gets into a message or a log.
 */
import type { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import type { Model, ModelMessage, ModelReply, ModelTool, ToolCall } from '../../model/chat/model.js';
import { isRecord } from '../../model/is-record.js';
import { Refusal } from '../../model/refusal.js';
import { anyOf } from '../../model/signals.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { Barred, postTo } from '../../platform/calls/outgoing.js';
import type { ConfiguredModel } from '../../platform/config/models.js';

export type ModelOptions = {
  /** Resolves names. Left out: the system does. */
  readonly lookup?: typeof systemLookup;
  /** Certificates to trust, for tests. Left out: those of the system. */
  readonly ca?: string;
};

/** The most bytes of an answer. */
const mostBytes = 1_000_000;
/** The most uses of tools in one answer. */
const mostCalls = 8;

const away = (detail: string): Refusal =>
  new Refusal('MODEL_UNAVAILABLE', 'The assistant cannot be reached now. Try again later.', {
    reason: 'model-away',
    cause: new DependencyUnavailable('model-away', detail),
  });

const invalid = (detail: string): Refusal =>
  new Refusal('MODEL_ANSWER_INVALID', 'The assistant gave an answer that cannot be used. Ask again in other words.', {
    reason: 'model-answer',
    cause: new DependencyUnavailable('model-answer', detail),
  });

const encodeMessage = (message: ModelMessage): object => {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const { content, toolCalls = [] } = message;
  if (toolCalls.length === 0) return { role: 'assistant', content: content ?? '' };
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: given },
  }));
  return { role: 'assistant', content, tool_calls: calls };
};

const bodyOf = (
  { model, answerTokens }: ConfiguredModel,
  messages: readonly ModelMessage[],
  tools: readonly ModelTool[],
): string =>
  JSON.stringify({
    model,
    messages: messages.map(encodeMessage),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    max_tokens: answerTokens,
    stream: false,
  });

/** Returns undefined if the answer is larger than the limit. */
const readText = async (response: IncomingMessage): Promise<string | undefined> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.byteLength;
    if (size > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
};

const send = (
  { lookup, ca }: ModelOptions,
  to: ConfiguredModel,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(to.key === null ? {} : { authorization: `Bearer ${to.key}` }),
    };
    postTo(to, { headers, signal, lookup, ca }).on('response', resolve).on('error', reject).end(body);
  });

const ask = async (options: ModelOptions, to: ConfiguredModel, body: string, signal: AbortSignal): Promise<string> => {
  const limited = anyOf(signal, AbortSignal.timeout(to.timeoutMs));
  try {
    const response = await send(options, to, body, limited);
    if (response.statusCode !== 200) {
      response.destroy();
      throw away(`the model answered with status ${response.statusCode}`);
    }
    const text = await readText(response);
    if (text === undefined) throw invalid(`the answer has more than ${mostBytes} bytes`);
    return text;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
    if (error instanceof Barred) throw away('the address may not be reached (allowPrivateAddresses)');
    throw away(limited.aborted ? 'the model did not answer in time' : 'the connection failed');
  }
};

const readCall = (given: unknown): ToolCall => {
  const called = isRecord(given) ? given.function : undefined;
  if (!isRecord(given) || typeof given.id !== 'string' || !isRecord(called)) throw invalid('a use of a tool has no id');
  const { name, arguments: values } = called;
  if (typeof name !== 'string' || typeof values !== 'string') throw invalid('a use of a tool has no name');
  return { id: given.id, name, arguments: values };
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('the answer is no JSON');
  }
};

/** A server that counts no tokens is counted by characters: a token has about four. */
const tokensOf = (body: Readonly<Record<string, unknown>>, sent: string, text: string): number => {
  const usage = isRecord(body.usage) ? body.usage.total_tokens : undefined;
  const isCount = typeof usage === 'number' && Number.isFinite(usage) && usage >= 0;
  return isCount ? usage : Math.ceil((sent.length + text.length) / 4);
};

const readReply = (sent: string, text: string): ModelReply => {
  const body = readJson(text);
  const choice = isRecord(body) && Array.isArray(body.choices) ? body.choices[0] : undefined;
  const message = isRecord(choice) ? choice.message : undefined;
  if (!isRecord(body) || !isRecord(message)) throw invalid('the answer has no message');
  const { content = null, tool_calls: calls } = message;
  if (content !== null && typeof content !== 'string') throw invalid('the content is no text');
  const toolCalls = Array.isArray(calls) ? calls : [];
  if (toolCalls.length > mostCalls) throw invalid(`the answer uses more than ${mostCalls} tools`);
  return { text: content, toolCalls: toolCalls.map(readCall), tokens: tokensOf(body, sent, text) };
};

/** Returns the model as use cases ask it. */
export const createModel = (configured: ConfiguredModel, options: ModelOptions = {}): Model => ({
  name: configured.name,
  allowsRows: configured.allowsRows,
  complete: async (messages, tools, signal) => {
    const sent = bodyOf(configured, messages, tools);
    return readReply(sent, await ask(options, configured, sent, signal));
  },
});
