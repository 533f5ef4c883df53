/** Sends requests and records the last exchange. Written from the specification; shares no code with the server. */
export type Json = Readonly<Record<string, unknown>>;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type Request = {
  readonly method: Method;
  /** Begins with `/api/v2`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Null: no Authorization header. */
  readonly bearer: string | null;
  readonly body?: unknown;
  readonly form?: FormData;
};

export type Answer = { readonly status: number; readonly body: unknown; readonly text: string };
export type Exchange = { readonly request: Request; readonly answer: Answer | null };

/** Sends requests and keeps the last exchange for the report. */
export type Wire = {
  readonly send: (request: Request) => Promise<Answer>;
  readonly last: () => Exchange | null;
  readonly forget: () => void;
  /** Replaces every credential that was sent or received by `****`. */
  readonly mask: (text: string) => string;
};

const timeoutInMs = 60_000;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const addressOf = (baseUrl: string, { path, query }: Request): string => {
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  return `${baseUrl.replace(/\/+$/, '')}${path}${search}`;
};

const initOf = ({ method, bearer, body, form }: Request, signal: AbortSignal): RequestInit => ({
  method,
  headers: {
    ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  },
  ...(form === undefined ? {} : { body: form }),
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  signal,
  redirect: 'manual',
});

/** Credentials in an answer: the interface has the fields `token` and `key` for them. */
const secretsIn = (body: unknown): readonly string[] =>
  isJson(body) ? [body.token, body.key].filter((value): value is string => typeof value === 'string') : [];

/** Opens a wire to `baseUrl`. `signal` is read before each request and aborts it. */
export const openWire = (
  baseUrl: string,
  known: readonly string[],
  signal: () => AbortSignal,
  ask: typeof fetch,
): Wire => {
  const secrets = new Set(known);
  let last: Exchange | null = null;
  // Node holds the parts of a combined signal weakly: a timeout that nothing else holds may never come.
  const timeouts = new Set<AbortSignal>();
  const read = async (request: Request): Promise<{ readonly status: number; readonly text: string }> => {
    const timeout = AbortSignal.timeout(timeoutInMs);
    timeouts.add(timeout);
    try {
      const init = initOf(request, AbortSignal.any([signal(), timeout]));
      const response = await ask(addressOf(baseUrl, request), init);
      return { status: response.status, text: await response.text() };
    } finally {
      timeouts.delete(timeout);
    }
  };
  return {
    send: async (request) => {
      if (request.bearer !== null) secrets.add(request.bearer);
      last = { request, answer: null };
      const { status, text } = await read(request);
      const answer = { status, text, body: parse(text) };
      for (const secret of secretsIn(answer.body)) secrets.add(secret);
      last = { request, answer };
      return answer;
    },
    last: () => last,
    forget: () => {
      last = null;
    },
    mask: (text) => [...secrets].filter(Boolean).reduce((masked, secret) => masked.replaceAll(secret, '****'), text),
  };
};

const maxShown = 2000;

const shorten = (text: string): string =>
  text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;

const writeForm = (form: FormData): string =>
  `form: ${[...form].map(([name, value]) => `${name}=${typeof value === 'string' ? value : `file ${value.name}`}`).join(' ')}`;

/** Request and answer as text, without credentials. */
export const writeExchange = ({ request, answer }: Exchange, mask: Wire['mask']) => {
  const { method, path, query, bearer, body, form } = request;
  const lines = [
    `${method} ${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`,
    bearer === null ? '(no Authorization header)' : `Authorization: Bearer ${bearer}`,
    ...(body === undefined ? [] : [JSON.stringify(body)]),
    ...(form === undefined ? [] : [writeForm(form)]),
  ];
  return {
    request: shorten(mask(lines.join('\n'))),
    answer: answer === null ? 'none' : shorten(mask(`${answer.status} ${answer.text}`)),
  };
};
