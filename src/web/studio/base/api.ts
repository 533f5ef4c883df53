/** Calls the server of Studio: operations of the service, commands of the gateway, and views as a tenant's user. */

export type Role = 'owner' | 'author' | 'publisher' | 'policyAdmin' | 'support' | 'auditor';

export type Session = {
  readonly person: {
    readonly name: string;
    readonly issuer: string;
    readonly roles: readonly Role[];
    readonly seesData: boolean;
  };
  readonly changeToken: string;
  readonly expiresAt: string;
};

/** A refusal or failure. The message is for the person at the screen. */
export class StudioError extends Error {
  override readonly name = 'StudioError';
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Asked = {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type Api = {
  readonly session: Session;
  /** Calls an operation of the service by its path below `/api/v2`, and returns the whole answer. */
  readonly call: <T = unknown>(method: Method, path: string, asked?: Asked) => Promise<T>;
  /** Runs a command of the gateway. */
  readonly command: <T = unknown>(name: string, input?: object, signal?: AbortSignal) => Promise<T>;
  /** Opens a view as a tenant's user. */
  readonly view: (input: ViewInput, signal?: AbortSignal) => Promise<View>;
  /** Answers a metric that an author writes, as the user of a view reads it. The answer is that of a query. */
  readonly previewMetric: (body: AuthoredBody, signal?: AbortSignal) => Promise<unknown>;
  /** The statement that would answer it, without its values. Throws what is wrong with the metric. */
  readonly describeMetric: (body: AuthoredBody, signal?: AbortSignal) => Promise<string>;
  /** The state of the process. */
  readonly system: <T>(signal?: AbortSignal) => Promise<T>;
  /** What contains the words, of everything that this person may read. */
  readonly search: <T>(query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<T>;
  /** What queries took. */
  readonly queries: <T>(signal?: AbortSignal) => Promise<T>;
  /** The database's plan of one of them. */
  readonly queryPlan: (id: string) => Promise<{ readonly plan: string }>;
  /** The reports and alerts of all users, or of those of one tenant. */
  readonly schedules: <T>(tenant: string | null, signal?: AbortSignal) => Promise<T>;
  readonly pauseSchedule: (id: string, isPaused: boolean) => Promise<void>;
  /** Makes a key. Only this answer has it. `dataApp` null: a service token. */
  readonly createKey: (input: { dataApp: string | null; name: string }) => Promise<string>;
  /** Replaces a key by a new one of the same name. The old one works for `graceSeconds` more. */
  readonly rotateKey: (input: { dataApp: string | null; name: string; graceSeconds: number }) => Promise<string>;
  /** The keys that sign and check, without their material. */
  readonly signingKeys: <T>(signal?: AbortSignal) => Promise<T>;
  /** The sessions of people who are logged in. */
  readonly sessions: <T>(signal?: AbortSignal) => Promise<T>;
  /** Ends every session of a person. Returns how many there were. */
  readonly endSessions: (person: { readonly issuer: string; readonly subject: string }) => Promise<number>;
  /** Whether files may be uploaded, and which sources were. */
  readonly uploads: <T>(signal?: AbortSignal) => Promise<T>;
  readonly logOut: (everywhere?: boolean) => Promise<void>;
};

/** `view`: the token of the view. */
export type AuthoredBody = {
  readonly view: string;
  readonly dashboardId: string;
  readonly definition: unknown;
  readonly sort?: unknown;
  readonly limit?: number;
  readonly offset?: number;
};

export type ViewInput = {
  readonly clientId: string;
  readonly claims: Readonly<Record<string, unknown>> & { readonly sub: string };
  readonly at?: string;
  readonly embeds?: readonly string[];
};
export type View = {
  readonly token: string;
  readonly serviceUrl: string;
  readonly expiresAt: string;
  readonly clientId: string;
  readonly embeds: readonly { readonly id: string; readonly name: string; readonly type: 'dashboard' | 'metric' }[];
  readonly because: readonly { readonly kind: 'rule' | 'restriction'; readonly name: string; readonly at: string }[];
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const failureOf = (body: unknown, status: number): StudioError => {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const code = typeof error.code === 'string' ? error.code : 'UNREADABLE_ANSWER';
  const message = typeof error.message === 'string' ? error.message : `The server answered ${status}.`;
  return new StudioError(code, message, status);
};

const send = async (url: string, init: RequestInit): Promise<unknown> => {
  const own = { ...init, credentials: 'same-origin', cache: 'no-store' } as const;
  const response = await fetch(url, own).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new StudioError('NETWORK_ERROR', 'The server of Studio can’t be reached. Try again.', 0);
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw failureOf(body, response.status);
  return body;
};

const dataOf = (body: unknown): unknown => (isRecord(body) && 'data' in body ? body.data : body);

const json = (body: unknown): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** The session of this browser. Null: nobody is logged in. */
export const readSession = async (): Promise<Session | null> => {
  try {
    return dataOf(await send('/studio/session', {})) as Session;
  } catch (error) {
    if (error instanceof StudioError && error.status === 401) return null;
    throw error;
  }
};

/** Logs in with the code of a login link. */
export const redeemCode = async (code: string): Promise<Session> =>
  dataOf(await send('/studio/session', { method: 'POST', ...json({ code }) })) as Session;

type Post = (url: string, body: unknown) => Promise<unknown>;

const ownersApi = (
  post: Post,
  command: Api['command'],
): Pick<Api, 'createKey' | 'rotateKey' | 'signingKeys' | 'sessions' | 'endSessions'> => ({
  createKey: async (input) => ((await post('/studio/keys', input)) as { readonly key: string }).key,
  rotateKey: async (input) => ((await post('/studio/keys/rotate', input)) as { readonly key: string }).key,
  signingKeys: (signal) => command('signing-keys', {}, signal),
  sessions: (signal) => command('studio-sessions-list', {}, signal),
  endSessions: async ({ issuer, subject }) =>
    (await command<{ ended: number }>('studio-sessions-end', { issuer, subject })).ended,
});

/** `onEnded` is called when the server says that the session has ended. */
export const createApi = (session: Session, onEnded: () => void): Api => {
  const ask = async (url: string, init: RequestInit): Promise<unknown> => {
    const headers = new Headers(init.headers);
    headers.set('x-guestlist-change', session.changeToken);
    try {
      return await send(url, { ...init, headers });
    } catch (error) {
      if (error instanceof StudioError && error.status === 401) onEnded();
      throw error;
    }
  };
  const post = async (url: string, body: unknown, signal?: AbortSignal): Promise<unknown> =>
    dataOf(await ask(url, { method: 'POST', ...json(body), ...(signal ? { signal } : {}) }));
  const command = async <T>(name: string, input: object = {}, signal?: AbortSignal) =>
    (await post(`/studio/commands/${name}`, input, signal)) as T;
  return {
    session,
    call: async <T>(method: Method, path: string, { body, query, signal }: Asked = {}) => {
      const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
      const sent = body === undefined ? {} : json(body);
      return (await ask(`/studio/api/v2/${path}${search}`, { method, ...sent, ...(signal ? { signal } : {}) })) as T;
    },
    command,
    view: (input, signal) => command('view-open', input, signal),
    previewMetric: (body, signal) => command('metric-preview', body, signal),
    describeMetric: async (body, signal) => (await command<{ sql: string }>('metric-statement', body, signal)).sql,
    system: (signal) => command('read-system', {}, signal),
    search: (query, signal) => command('search', query, signal),
    queries: (signal) => command('list-slow-queries', {}, signal),
    queryPlan: (id) => command('read-plan', { id }),
    schedules: (tenant, signal) => command('schedules-list', tenant === null ? {} : { tenant }, signal),
    pauseSchedule: async (id, isPaused) => {
      await command(isPaused ? 'schedule-pause' : 'schedule-resume', { id });
    },
    ...ownersApi(post, command),
    uploads: (signal) => command('uploads-list', {}, signal),
    logOut: async (everywhere = false) => {
      await ask(everywhere ? '/studio/sessions' : '/studio/session', { method: 'DELETE' });
    },
  };
};

/** Whether the session has one of the roles. An owner has every role. */
export const hasRole = ({ person }: Session, ...roles: readonly Role[]): boolean =>
  person.roles.includes('owner') || roles.some((role) => person.roles.includes(role));

/** Whether people log in by OpenID Connect. */
export const offersOpenId = async (): Promise<boolean> =>
  (dataOf(await send('/studio/logins', {})) as { readonly openId: boolean }).openId;
