/** Asking a model over a real connection: what is sent, where it may go, and what an answer may be. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createModel, type ModelOptions } from '../../src/assistants/models/chat-completions.js';
import { findUnavailable } from '../../src/model/unavailable.js';
import { loadModels, modelsSetting } from '../../src/platform/config/models.js';
import { type ModelServer, openModelServer } from '../suites/model-server.js';

let server: ModelServer;
beforeAll(async () => {
  server = await openModelServer();
});
beforeEach(() => server.play(() => ({ say: 'Hello.' })));
afterAll(() => server.close());

const env = { MODEL_KEY: 'key-of-the-operator' };
const load = (setting: object, isProduction = false) =>
  loadModels(modelsSetting.parse({ small: { model: 'm', ...setting } }), { env, isProduction });
const modelAt = (url: string, more: object = {}, options: ModelOptions = {}) => {
  const { models, faults } = load({ url, ...more });
  const [configured] = models;
  if (configured === undefined) throw new Error(JSON.stringify(faults));
  return createModel(configured, options);
};
const signal = new AbortController().signal;
const question = [{ role: 'user', content: 'How many?' }] as const;
const tools = [{ name: 'list_fields', description: 'Lists.', parameters: { type: 'object' } }];
const ask = (url: string, more: object = {}, options: ModelOptions = {}) =>
  modelAt(url, more, options).complete(question, tools, signal);

const refusalOf = async (asking: Promise<unknown>): Promise<readonly [string, string | undefined]> => {
  const error = await asking.then(
    () => new Error('answered'),
    (thrown: Error & { code?: string }) => thrown,
  );
  return ['code' in error ? String(error.code) : error.message, findUnavailable(error)?.message];
};

test('sends the messages and the tools with the key, and reads the answer with its tokens', async () => {
  server.play(() => ({ use: [{ name: 'list_fields', arguments: {} }] }));
  const reply = await ask(`${server.url}/`, { keyVariable: 'MODEL_KEY', answerTokens: 77 });
  expect(reply).toEqual({
    text: null,
    toolCalls: [{ id: 'call-1-0', name: 'list_fields', arguments: '{}' }],
    tokens: 100,
  });
  const [{ body, headers } = { body: null, headers: {} }] = server.sent;
  expect(body).toEqual({
    model: 'm',
    messages: question,
    tools: [{ type: 'function', function: tools[0] }],
    max_tokens: 77,
    stream: false,
  });
  expect(headers.authorization).toBe('Bearer key-of-the-operator');
});

test('sends uses of tools and their results in the form of the protocol', async () => {
  const call = { id: 'c', name: 'list_fields', arguments: '{}' };
  await modelAt(server.url).complete(
    [
      ...question,
      { role: 'assistant', content: null, toolCalls: [call] },
      { role: 'tool', callId: 'c', content: 'fields' },
    ],
    tools,
    signal,
  );
  expect(server.sent[0]?.body.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'list_fields', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'fields' },
  ]);
});

test('a server that counts no tokens is counted by what was sent and what came back', async () => {
  const silent = await openModelServer(null);
  const { tokens } = await ask(silent.url);
  expect(tokens).toBeGreaterThan(50);
  await silent.close();
});

describe('an answer outside the protocol', () => {
  const message = (content: unknown, calls: unknown = undefined): string =>
    JSON.stringify({ choices: [{ message: { role: 'assistant', content, tool_calls: calls } }] });
  const call = { id: 'c', function: { name: 'list_fields', arguments: '{}' } };
  test.each([
    ['no JSON', 'secret words', 'the answer is no JSON'],
    ['no object', '[]', 'the answer has no message'],
    ['no choice', '{"choices":[]}', 'the answer has no message'],
    ['a content that is no text', message([{ type: 'text', text: 'secret words' }]), 'the content is no text'],
    ['a tool without a name', message(null, [{ id: 'c', function: {} }]), 'a use of a tool has no name'],
    ['a tool without an id', message(null, [{ function: call.function }]), 'a use of a tool has no id'],
    [
      'arguments that are no text',
      message(null, [{ id: 'c', function: { name: 'a', arguments: {} } }]),
      'a use of a tool has no name',
    ],
    [
      'many tools',
      message(
        null,
        Array.from({ length: 9 }, () => call),
      ),
      'the answer uses more than 8 tools',
    ],
    ['too many bytes', message('x'.repeat(1_000_001)), 'the answer has more than 1000000 bytes'],
  ])('an answer of a model outside the protocol is refused: %s', async (_, raw, detail) => {
    server.play(() => ({ raw }));
    expect(await refusalOf(ask(server.url))).toEqual(['MODEL_ANSWER_INVALID', detail]);
  });
});

describe('a model that is away', () => {
  test.each([[401], [404], [429], [500]])('status %i: its text is not read', async (status) => {
    server.play(() => ({ raw: '{"error":{"message":"secret words"}}', status }));
    expect(await refusalOf(ask(server.url))).toEqual(['MODEL_UNAVAILABLE', `the model answered with status ${status}`]);
  });

  test('a redirect is not followed', async () => {
    const other = await openModelServer();
    server.play(() => ({ raw: '', status: 307, headers: { location: `${other.url}/chat/completions` } }));
    expect(await refusalOf(ask(server.url))).toEqual(['MODEL_UNAVAILABLE', 'the model answered with status 307']);
    expect(other.sent).toEqual([]);
    await other.close();
  });

  test('nobody listens, or nobody answers in time', async () => {
    const closed = await openModelServer();
    await closed.close();
    expect(await refusalOf(ask(closed.url))).toEqual(['MODEL_UNAVAILABLE', 'the connection failed']);
    server.play(() => ({ hang: true }));
    expect(await refusalOf(ask(server.url, { timeoutSeconds: 1 }))).toEqual([
      'MODEL_UNAVAILABLE',
      'the model did not answer in time',
    ]);
  });

  test('a caller who leaves ends the request', async () => {
    const leaving = new AbortController();
    server.play(() => {
      leaving.abort(new Error('left'));
      return { hang: true };
    });
    await expect(modelAt(server.url).complete(question, tools, leaving.signal)).rejects.toThrow('left');
  });
});

describe('the address of a model', () => {
  test.each([
    ['http://models.example/v1', 'must begin with https://; http:// is for this machine alone, and not in production'],
    ['ftp://models.example', 'must begin with https://; http:// is for this machine alone, and not in production'],
    ['models.example', 'is no URL: write https://...'],
    ['https://user:secret@models.example', 'has a user or password in it: leave both out'],
  ])('%s is a fault of the configuration', (url, mend) => {
    expect(load({ url }).faults).toEqual([{ path: 'models.small.url', mend }]);
  });

  test('http on this machine is for development; elsewhere the operator says so', () => {
    expect(load({ url: 'http://127.0.0.1:1/v1' }).faults).toEqual([]);
    expect(load({ url: 'http://127.0.0.1:1/v1' }, true).faults).toHaveLength(1);
    expect(load({ url: 'http://models.internal/v1', allowHttp: true }, true).faults).toEqual([]);
  });

  test('a variable without a value is a fault, which names no value', () => {
    expect(load({ url: 'https://models.example', keyVariable: 'OTHER' }).faults).toEqual([
      { path: 'models.small.keyVariable', mend: 'names the variable OTHER, which is not set' },
    ]);
  });

  test.each(['https://10.0.0.7/v1', 'https://169.254.169.254/v1', 'https://[::1]/v1', 'https://127.0.0.1/v1'])(
    '%s is of a private network: nothing is sent',
    async (url) => {
      expect(await refusalOf(ask(url))).toEqual([
        'MODEL_UNAVAILABLE',
        'the address may not be reached (allowPrivateAddresses)',
      ]);
    },
  );

  test('a name that leads into a private network is not reached, whichever of its addresses that is', async () => {
    let connections = 0;
    const inside = createServer(() => undefined).on('connection', () => {
      connections += 1;
    });
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const { port } = inside.address() as AddressInfo;
    const lookup = ((_: string, __: object, done: (error: null, found: object[]) => void) =>
      done(null, [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ])) as unknown as NonNullable<ModelOptions['lookup']>;
    expect(await refusalOf(ask(`https://models.example:${port}/v1`, {}, { lookup }))).toEqual([
      'MODEL_UNAVAILABLE',
      'the address may not be reached (allowPrivateAddresses)',
    ]);
    expect(connections).toBe(0);
    inside.close();
    await once(inside, 'close');
  });
});
