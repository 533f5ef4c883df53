/** Calls the server of Studio: operations of the service, commands of the gateway, and views as a tenant's user. */
import type { Answer, CommandInput, CommandName } from '../../../compose/commands.js';
import type { StudioRole } from '../../../model/person.js';
import { type OperationAnswer, type OperationInput, requestOf } from '../../base/operations.js';
import { routes } from './operations.js';

export type { Answer, CommandInput, OperationAnswer, OperationInput };
export type Role = StudioRole;

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

export type Api = {
  readonly session: Session;
  /** Calls an operation of the service. */
  readonly call: <Name extends keyof typeof routes>(
    name: Name,
    input: OperationInput<Name>,
    signal?: AbortSignal,
  ) => Promise<OperationAnswer<Name>>;
  /** Runs a command. */
  readonly command: <Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    signal?: AbortSignal,
  ) => Promise<Answer<Name>>;
  readonly logOut: (everywhere?: boolean) => Promise<void>;
};

export type View = Answer<'view-open'>;

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
    dataOf(await ask(url, { method: 'POST', ...json(body), signal: signal ?? null }));
  return {
    session,
    call: async <Name extends keyof typeof routes>(name: Name, input: OperationInput<Name>, signal?: AbortSignal) => {
      const { path, init } = requestOf(routes[name], input);
      return (await ask(`/studio/api/v2/${path}`, { ...init, signal: signal ?? null })) as OperationAnswer<Name>;
    },
    command: async <Name extends CommandName>(name: Name, input: CommandInput<Name>, signal?: AbortSignal) =>
      (await post(`/studio/commands/${name}`, input, signal)) as Answer<Name>,
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
