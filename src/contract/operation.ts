/**
 * An operation of the wire as one value: routing, validation, the OpenAPI document, the typed client and the
 * conformance checks are all made from it. Nothing here knows Express, SQL or a use case.
 */
import { z } from 'zod';
import type { ApiKeyCaller, GuestCaller, ServiceCaller } from '../domain/guest/caller.js';
import type { Code } from '../domain/refusal.js';

type CallerByCredential = { apiKey: ApiKeyCaller; serviceToken: ServiceCaller; guestToken: GuestCaller };
export type Credential = keyof CallerByCredential;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503;

/** What an operation is about: the chapters of the reference. */
export type Resource =
  | 'Guest tokens'
  | 'Embeds'
  | 'Data apps'
  | 'Keys'
  | 'Datasources'
  | 'Datamarts'
  | 'Semantic layer'
  | 'Workspaces'
  | 'Metric queries'
  | 'Dashboards'
  | 'Guest reads'
  | 'Guest writes';

/** What a binding looks at when several share one method and path. */
export type RequestParts = { readonly query: Readonly<Record<string, unknown>>; readonly body: unknown };

/** A form beside JSON: these fields are sent as JSON strings, and the file's content is the value of `file.field`. */
export type Multipart = {
  readonly jsonFields: readonly string[];
  /** The file's part, its media type, the object that its JSON must hold, the field that it takes precedence over, and the code where the object is missing. */
  readonly file: {
    readonly part: string;
    readonly contentType: 'application/json';
    readonly member: string;
    readonly field: string;
    readonly code: Code;
  };
};

/** One way to reach an operation. Fields named in `path` (`{dashboardId}`) come from there, the others from query or body. */
export type Binding<Input, Result> = {
  readonly method: Method;
  readonly path: string;
  /** Where the fields outside the path are. A GET has no body. */
  readonly from: 'body' | 'query' | 'path';
  /** Answers with a `Deprecation` header. */
  readonly isLegacy?: boolean;
  /** The binding's own spelling of the input, such as booleans as query strings; it decodes to the operation's input. */
  readonly input?: z.ZodType<Input>;
  /** The binding's own shape of the answer, with `output` to describe it. */
  readonly encode?: (result: Result) => unknown;
  readonly output?: z.ZodType;
  /** Among bindings of one method and path, those with a condition come first; the first that holds is taken. */
  readonly when?: (request: RequestParts) => boolean;
  /** The same input as a form. */
  readonly multipart?: Multipart;
};

export type Operation<
  Name extends string = string,
  Credentials extends readonly Credential[] = readonly Credential[],
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  // biome-ignore lint/suspicious/noExplicitAny: the default stands for "whatever the use case answers"
  Result = any,
> = {
  readonly name: Name;
  /** Where it is specified: a number of the interface specification, `facts` or `guest`. */
  readonly section: string;
  readonly resource: Resource;
  readonly summary: string;
  /** A sentence or two for the reference, where the summary is not enough. */
  readonly description?: string;
  readonly credentials: Credentials;
  /** The code of a missing or wrong credential, where it is not AUTHENTICATION_ERROR. */
  readonly authenticationCode?: Code;
  readonly input: Input;
  /** The answer's JSON; `text/csv` answers are text. */
  readonly output: Output;
  readonly contentType: 'application/json' | 'text/csv';
  /** Writes the use case's result, so that wire and domain may differ. Text of any length is written piece by piece. */
  readonly encode: (result: Result) => z.input<Output> | AsyncIterable<string>;
  /** Bytes of the largest body, where it is not `limits.usualBodyBytes`. */
  readonly bodyBytes?: number;
  /** Every code this operation may answer, with its status here. */
  readonly errors: Readonly<Partial<Record<Code, Status>>>;
  readonly bindings: readonly Binding<z.output<Input>, Result>[];
  /** A request with its answer, for the reference; both are valid. */
  readonly example?: { readonly input: z.input<Input>; readonly output: z.input<Output> };
};

/** The kind of caller that reaches the use case, from the credentials that the operation takes. */
export type CallerOf<Credentials extends readonly Credential[]> = CallerByCredential[Credentials[number]];

/** What a use case must look like to serve the operation. `signal` aborts when the caller is gone: nobody waits for the answer any more. */
export type Handler<O> =
  O extends Operation<string, infer Credentials, infer Input, z.ZodType, infer Result>
    ? (caller: CallerOf<Credentials>, input: z.output<Input>, signal: AbortSignal) => Promise<Result>
    : never;

/** The use cases of a set of operations, one for each. */
export type HandlersOf<Operations> = { readonly [Name in keyof Operations]: Handler<Operations[Name]> };

/** Codes that every operation may answer. */
const commonErrors = { INVALID_REQUEST_BODY: 400, RATE_LIMITED: 429, INTERNAL_SERVER_ERROR: 500 } as const;

/** Declares an operation. */
export const operation = <
  const Name extends string,
  const Credentials extends readonly Credential[],
  Input extends z.ZodType,
  Output extends z.ZodType,
  Result,
>(
  definition: Omit<Operation<Name, Credentials, Input, Output, Result>, 'contentType'> & {
    readonly contentType?: 'application/json' | 'text/csv';
  },
): Operation<Name, Credentials, Input, Output, Result> => ({
  contentType: 'application/json',
  ...definition,
  errors: { ...commonErrors, ...definition.errors },
});

/** The envelope of every error. */
export const errorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), status: z.number().optional() }),
});

/** The success field `error`, which is null. */
export const noError = z.null().meta({ description: 'Null: the call succeeded.' });

/** For answers whose use case writes the wire's shape itself. */
export const asIs = <Result>(result: Result): Result => result;
