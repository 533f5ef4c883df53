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
export type WireResponse = { readonly status: number; readonly body: unknown };

/** Carries one request: over HTTP, or in-process through the same binding. Rejects when no answer came. */
export type Transport = (request: WireRequest, signal?: AbortSignal) => Promise<WireResponse>;

/** The upstream answered with an error of the interface, or with something that is not the interface. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** An operation as its caller writes it; the answer is the operation's output. */
export type Call = <O extends Operation>(operation: O, input: z.input<O['input']>) => Promise<z.output<O['output']>>;

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
  async (operation, input) => {
    const [binding] = operation.bindings;
    if (binding === undefined) throw new Error('the operation has no binding');
    const fields = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined));
    const path = fill(binding.path, fields);
    const rest = Object.fromEntries(fields);
    const { status, body } = await transport({
      method: binding.method,
      path,
      query:
        binding.from === 'query' ? Object.fromEntries([...fields].map(([key, value]) => [key, String(value)])) : {},
      body: binding.from === 'body' ? rest : undefined,
      bearer,
    });
    if (status !== 200) {
      const failure = errorBody.safeParse(body);
      const { code, message } = failure.success
        ? failure.data.error
        : { code: 'UNKNOWN', message: 'no error envelope' };
      throw new UpstreamRefusal(status, code, message);
    }
    const answer = operation.output.safeParse(body);
    if (!answer.success) throw new UpstreamRefusal(status, 'UNKNOWN', 'the answer is not of the interface');
    return answer.data as z.output<(typeof operation)['output']>;
  };
