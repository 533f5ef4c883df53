/** A typed client of the interface, made from the operations: the gateway calls its upstream with it. */
import type { z } from 'zod';
import { errorBody, type Method, type Operation } from './operation.js';

export type WireRequest = {
  readonly method: Method;
  /** With its parameters filled in and percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly bearer: string;
};
export type WireResponse = {
  readonly status: number;
  /** Parsed; undefined where the answer was not JSON. */
  readonly body: unknown;
  /** How long the service asked to be left alone (`Retry-After`), where it said so. */
  readonly retryAfterMs?: number | undefined;
};

/** Carries one request: over HTTP, or in-process through the same binding. Rejects when no answer came. */
export type Transport = (request: WireRequest, signal?: AbortSignal) => Promise<WireResponse>;

/** The upstream answered with an error of the interface, or with something that is not the interface. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';
  readonly #answer: Partial<WireResponse>;
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    answer: Partial<WireResponse> = {},
  ) {
    super(message);
    this.#answer = answer;
  }

  /** The whole answer, of whatever shape. It may repeat what was sent, so that no log that prints errors may print it. */
  get answer(): Partial<WireResponse> {
    return this.#answer;
  }
}

/** An operation as its caller writes it; the answer is the operation's output. */
export type Call = <O extends Operation>(
  operation: O,
  input: z.input<O['input']>,
  signal?: AbortSignal,
) => Promise<z.output<O['output']>>;

const fill = (path: string, fields: Map<string, unknown>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(fields.get(name) ?? '');
    fields.delete(name);
    // Addresses swallow empty and dotted segments: the request would reach another path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} cannot be sent in a path: ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  });

/** Calls operations by their first binding. Throws UpstreamRefusal for every answer but a good one. */
export const createClient =
  (transport: Transport, bearer: string): Call =>
  async (operation, input, signal) => {
    const [binding] = operation.bindings;
    if (binding === undefined) throw new Error('the operation has no binding');
    const fields = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined));
    const path = fill(binding.path, fields);
    const rest = Object.fromEntries(fields);
    const request: WireRequest = {
      method: binding.method,
      path,
      query:
        binding.from === 'query' ? Object.fromEntries([...fields].map(([key, value]) => [key, String(value)])) : {},
      body: binding.from === 'body' ? rest : undefined,
      bearer,
    };
    const answered = await transport(request, signal);
    const { status, body } = answered;
    if (status !== 200) {
      const failure = errorBody.safeParse(body);
      const { code, message } = failure.success
        ? failure.data.error
        : { code: 'UNKNOWN', message: 'no error envelope' };
      throw new UpstreamRefusal(status, code, message, answered);
    }
    const output = operation.output.safeParse(body);
    if (!output.success) throw new UpstreamRefusal(status, 'UNKNOWN', 'the answer is not of the interface', answered);
    return output.data as z.output<(typeof operation)['output']>;
  };
