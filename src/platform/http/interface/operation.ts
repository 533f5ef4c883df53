/**
 * Declares an operation as one value. Routing, validation, the OpenAPI document, the typed client and the conformance
 * checks are derived from it. This file must not import Express, SQL or use cases.
 */
import { z } from 'zod';
import type { ApiKeyCaller, GuestCaller, ServiceCaller } from '../../../model/guest/caller.js';
import type { Code } from '../../../model/refusal.js';
import type { Slices } from '../../../model/slices.js';
import { type Callable, type Encoded, needsData, type Reads, type ToolWords } from './callable.js';

type CallerByCredential = { apiKey: ApiKeyCaller; serviceToken: ServiceCaller; guestToken: GuestCaller };
export type Credential = keyof CallerByCredential;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503;

/** The subject of an operation. Each is a chapter of the reference. */
export type Resource =
  | 'Guest tokens'
  | 'Embeds'
  | 'Data apps'
  | 'Keys'
  | 'Datasources'
  | 'Datamarts'
  | 'Rollups'
  | 'Running work'
  | 'Semantic layer'
  | 'Workspaces'
  | 'Metric queries'
  | 'Dashboards'
  | 'Guest reads'
  | 'Guest writes'
  | 'Guest reports'
  | 'Tenant reports';

/** The parts of a request that decide between bindings of the same method and path. */
export type RequestParts = { readonly query: Readonly<Record<string, unknown>>; readonly body: unknown };

/**
 * A form that is accepted beside JSON. These fields are sent as JSON strings, and the file's content becomes the value
 * of `file.field`.
 */
export type Multipart = {
  readonly jsonFields: readonly string[];
  /**
   * The file: the name of its part, its media type, the object that its JSON must contain, the field that it replaces,
   * and the error code if the object is missing.
   */
  readonly file: {
    readonly part: string;
    readonly contentType: 'application/json';
    readonly member: string;
    readonly field: string;
    readonly code: Code;
  };
};

/**
 * One way to reach an operation. Fields named in `path` (`{dashboardId}`) are taken from there, all others from the
 * query or the body.
 */
export type Binding<Input, Result> = {
  readonly method: Method;
  readonly path: string;
  /** Where the fields that are not in the path are. A GET has no body. */
  readonly from: 'body' | 'query' | 'path';
  /** If true, answers have a `Deprecation` header. */
  readonly isLegacy?: boolean;
  /** The binding's own form of the input, such as booleans in a query string. It decodes to the operation's input. */
  readonly input?: z.ZodType<Input>;
  /** The binding's own form of the answer; `output` describes it. */
  readonly encode?: (result: Result) => unknown;
  readonly output?: z.ZodType;
  /**
   * Condition of the binding. Among bindings of the same method and path, those with a condition are tried first, and
   * the first that is true is used.
   */
  readonly when?: (request: RequestParts) => boolean;
  /** The same input as a form. */
  readonly multipart?: Multipart;
};

export type ContentType =
  | 'application/json'
  | 'text/csv'
  | 'application/x-ndjson'
  | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  | 'application/pdf'
  | 'image/png';

/** An answer whose lists may be in slices: long ones are then read while they are sent. */
export type InSlices<T> =
  | T
  | { readonly [Name in keyof T]: T[Name] | (T[Name] extends readonly (infer Item)[] ? Slices<Item> : never) };

/** Encodes an error as the error of an answer, and logs it like one. */
export type WriteFailure = (error: unknown) => z.output<typeof errorBody>['error'];

export type Operation<
  Name extends string = string,
  Credentials extends readonly Credential[] = readonly Credential[],
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  // biome-ignore lint/suspicious/noExplicitAny: the default stands for the result of any use case
  Result = any,
  Read extends Reads = Reads,
> = Callable<Name, Input, Output> & {
  /** Where the operation is specified: a number in the interface specification, `facts`, or `guest`. */
  readonly section: string;
  readonly resource: Resource;
  readonly summary: string;
  /** One or two sentences for the reference, if the summary is not enough. */
  readonly description?: string;
  readonly credentials: Credentials;
  readonly reads: Read;
  /**
   * How a view of Studio may ask it: as the user, or as an author who builds on the user's fields, whether or not the user
   * may build. Left out: a view may not.
   */
  readonly viewedAs?: 'user' | 'author';
  /** What a call that succeeds is counted as. It is stored before the answer. */
  readonly counts?: 'mints' | 'exports';
  /** True: the field `language` of the input is the first language of `Accept-Language`. */
  readonly takesLanguage?: boolean;
  /** The code for a missing or wrong credential. Default: AUTHENTICATION_ERROR. */
  readonly authenticationCode?: Code;
  /** In `output`, a file is a string; of newline-delimited JSON, it is one line. */
  readonly contentType: ContentType;
  /**
   * Encodes the result of the use case, so that domain types never appear on the wire. Files are written in pieces,
   * newline-delimited JSON as its lines, and a field that is a list may be given in slices. `writeFailure` encodes the
   * failure of one line.
   */
  readonly encode: (
    result: Result,
    writeFailure: WriteFailure,
  ) => InSlices<Encoded<Output>> | AsyncIterable<string | Uint8Array> | AsyncIterable<Encoded<Output>>;
  /**
   * The result's tag, for the header `ETag`. A request whose `If-None-Match` names it gets 304 without a body, after
   * the result was made with all rights of the caller.
   */
  tagOf?(result: Result): string | undefined;
  /** Maximum bytes of a body. Default: `limits.usualBodyBytes`. */
  readonly bodyBytes?: number;
  /** How many requests a call counts as, for the rate limits of guests. Default: 1. */
  requestsOf?(input: z.output<Input>): number;
  /** Every code that this operation may answer, with its HTTP status. */
  readonly errors: Readonly<Partial<Record<Code, Status>>>;
  readonly bindings: readonly Binding<z.output<Input>, Result>[];
  /** A valid request with its valid answer, for the reference. */
  readonly example?: { readonly input: z.input<Input>; readonly output: z.input<Output> };
};

/** The kinds of caller that can reach the use case, by the credentials that the operation accepts. */
export type CallerOf<Credentials extends readonly Credential[]> = CallerByCredential[Credentials[number]];

/** The type of a use case that serves the operation. `signal` aborts when the client disconnects. */
export type Handler<O> =
  O extends Operation<string, infer Credentials, infer Input, z.ZodType, infer Result>
    ? (caller: CallerOf<Credentials>, input: z.output<Input>, signal: AbortSignal) => Promise<Result>
    : never;

/** One use case for each operation of a set. */
export type HandlersOf<Operations> = { readonly [Name in keyof Operations]: Handler<Operations[Name]> };

/** Codes that every operation may answer. */
const commonErrors = { INVALID_REQUEST_BODY: 400, RATE_LIMITED: 429, INTERNAL_SERVER_ERROR: 500 } as const;

/** Of what a guest's token limits. */
const quotaErrors = { QUOTA_REACHED: 403 } as const;

/** What a declaration leaves out is derived from the rest. */
type Defined<O> = Omit<O, 'contentType' | 'isChange' | 'tool'> & {
  readonly contentType?: ContentType;
  /** True: it changes nothing, though it is sent as a POST. A GET never changes anything. */
  readonly readsOnly?: boolean;
  /** For the assistants of guests. Those of operators get every operation with roles that reads, and answers no rows. */
  readonly tool?: Omit<ToolWords, 'title' | 'isDestructive'>;
};

/** Declares an operation. */
export const operation = <
  const Name extends string,
  const Credentials extends readonly Credential[],
  Input extends z.ZodType,
  Output extends z.ZodType,
  Result,
  const Read extends Reads,
>({
  readsOnly = false,
  contentType = 'application/json',
  tool,
  ...definition
}: Defined<Operation<Name, Credentials, Input, Output, Result, Read>>) => {
  const { roles, reads, bindings, summary, description = summary } = definition;
  const isChange = !readsOnly && bindings.some(({ method }) => method !== 'GET');
  const isForOperators = roles !== undefined && !isChange && reads !== 'rows' && contentType === 'application/json';
  const mayReachQuota = needsData(reads) && definition.credentials.includes('guestToken');
  const isDestructive = bindings.some(({ method }) => method === 'DELETE');
  const words = { title: summary, description, isDestructive, ...tool };
  return {
    ...definition,
    ...{ contentType, isChange },
    ...(tool !== undefined || isForOperators ? { tool: words } : {}),
    errors: { ...commonErrors, ...(mayReachQuota ? quotaErrors : {}), ...definition.errors },
  } as Operation<Name, Credentials, Input, Output, Result, Read>;
};

/** The envelope of every error. */
export const errorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), status: z.number().optional() }),
});

/** The field `error` of a successful answer: null. */
export const noError = z.null().meta({ description: 'Null: the call succeeded.' });

/** For operations whose use case already returns the form of the wire. */
export const asIs = <Result>(result: Result): Result => result;
