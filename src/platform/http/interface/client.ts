/** A typed client of the interface, generated from the declared operations. The gateway calls the service with it. */
import type { z } from 'zod';
import { errorBody, type Method, type Operation } from './operation.js';

export type WireRequest = {
  readonly method: Method;
  /** The path with its parameters filled in and percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly bearer: string;
  /** The reader's language. Only the transport of this process sends it. */
  readonly language?: string | undefined;
  /** The deployment of the gateway that calls: the header `Guestlist-Gateway`. */
  readonly gateway?: string | undefined;
};
export type WireResponse = {
  readonly status: number;
  /** The parsed JSON; undefined if the answer was not JSON. */
  readonly body: unknown;
  /** The wait that the service asked for (`Retry-After`), in milliseconds; undefined if it asked for none. */
  readonly retryAfterMs?: number | undefined;
};

/** Sends one request, over HTTP or in the same process through the same binding. Rejects if no answer arrives. */
export type Transport = (request: WireRequest, signal?: AbortSignal) => Promise<WireResponse>;

/** The service answered with an error of the interface, or with something that is not valid in the interface. */
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

  /** The complete answer, possibly in an unknown shape. It may contain parts of the request, so never log it. */
  get answer(): Partial<WireResponse> {
    return this.#answer;
  }
}

/** Calls an operation with its input; returns its output. */
export type Call = <O extends Operation>(
  operation: O,
  input: z.input<O['input']>,
  signal?: AbortSignal,
) => Promise<z.output<O['output']>>;

const fill = (path: string, fields: Map<string, unknown>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(fields.get(name) ?? '');
    fields.delete(name);
    // URL parsers drop empty and dot segments, so the request would reach another path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} cannot be sent in a path: ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  });

/**
 * Creates a client that calls each operation by its first binding. A call throws UpstreamRefusal for every answer
 * except success.
 */
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
        : { code: 'UNKNOWN', message: 'the answer has no error envelope' };
      throw new UpstreamRefusal(status, code, message, answered);
    }
    const output = operation.output.safeParse(body);
    if (!output.success)
      throw new UpstreamRefusal(status, 'UNKNOWN', 'the answer does not fit the interface', answered);
    return output.data as z.output<(typeof operation)['output']>;
  };
