/** A server that speaks the protocol of OpenAI, and answers what a test scripts. It keeps what it was sent. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SentMessage = {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
};
export type SentBody = {
  readonly model: string;
  readonly messages: readonly SentMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly max_tokens: number;
  readonly stream: boolean;
};

type Call = { readonly name: string; readonly arguments: unknown };
/** What the model does next: says something, uses tools, or breaks the protocol. */
export type Step =
  | { readonly say: string | null }
  | { readonly use: readonly Call[] }
  | { readonly raw: string; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly hang: true };

export type Script = (body: SentBody) => Step;

const messageOf = (step: Extract<Step, { say: unknown } | { use: unknown }>, count: number): object => {
  if ('say' in step) return { role: 'assistant', content: step.say };
  const tool_calls = step.use.map((call, at) => ({
    id: `call-${count}-${at}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  return { role: 'assistant', content: null, tool_calls };
};

/** `tokens` is what each answer says that it used; null: it says nothing. */
export const openModelServer = async (tokens: number | null = 100) => {
  const sent: { readonly body: SentBody; readonly text: string; readonly headers: IncomingHttpHeaders }[] = [];
  const state: { script: Script } = { script: () => ({ say: 'Hello.' }) };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('utf8');
    const body: SentBody = JSON.parse(text);
    sent.push({ body, text, headers: request.headers });
    const step = state.script(body);
    if ('hang' in step) return;
    if ('raw' in step) {
      response.writeHead(step.status ?? 200, { 'content-type': 'application/json', ...step.headers }).end(step.raw);
      return;
    }
    const usage = tokens === null ? {} : { usage: { total_tokens: tokens } };
    const choices = [{ index: 0, message: messageOf(step, sent.length), finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices, ...usage }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    sent,
    /** Sets what the model does, and forgets what it was sent. */
    play: (script: Script): void => {
      state.script = script;
      sent.length = 0;
    },
    /** Everything that the model was sent, as text. */
    allSent: (): string => sent.map(({ text }) => text).join('\n'),
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
export type ModelServer = Awaited<ReturnType<typeof openModelServer>>;

/** The steps one after the other, by how many answers the question has had. */
export const inOrder =
  (...steps: readonly Step[]): Script =>
  ({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const answers = messages.slice(last).filter(({ role }) => role === 'assistant').length;
    return steps[answers] ?? { say: 'Done.' };
  };

/** The result of the latest use of a tool. */
export const lastResult = ({ messages }: SentBody): string =>
  messages.findLast(({ role }) => role === 'tool')?.content ?? '';
