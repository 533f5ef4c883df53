/** What every path of Studio does with its request: whose it is, whether a page of Studio sent it, and the answer. */
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { isTrustedOrigin, type Origins } from '../gateway/authenticate/credential.js';
import type { StudioSession } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { bodyOf } from '../platform/http/wire/body-reader.js';
import { decodeBody } from '../platform/http/wire/faults.js';
import { cookieOf, noteOf, readsOnly } from '../platform/http/wire/request.js';
import { assertOwnPage } from './access.js';
import { type StudioSessions, studioCookie } from './sessions.js';

/** The session of a request and the cookie that proved it. */
export type LoggedIn = { readonly session: StudioSession; readonly cookie: string };

/** Only pages of Studio's own origin: those of the hosts, which may call the gateway, are strangers here. */
export const assertOwnOrigin = ({ headers }: Request, { publicOrigin }: Origins): void => {
  if (headers.origin === undefined || isTrustedOrigin(headers, { allowedOrigins: [], publicOrigin })) return;
  throw new Refusal('UNAUTHORIZED', 'Studio answers only its own pages.', { reason: 'studio-other-origin' });
};

/** The live session of a request. A request that may change something must come from a page of Studio. */
export const loggedInOf =
  ({ sessions, origins }: { readonly sessions: StudioSessions; readonly origins: Origins }) =>
  async (request: Request): Promise<LoggedIn> => {
    const cookie = cookieOf(request.headers, studioCookie);
    const session = await sessions.of(cookie);
    if (!readsOnly(request)) {
      assertOwnPage(request, cookie ?? '');
      assertOwnOrigin(request, origins);
    }
    return { session, cookie: cookie ?? '' };
  };

export const requestIdOf = (response: Response): string => noteOf(response).requestId;

const maxBodyBytes = 1024 * 1024;
/** The body of a request. Throws INVALID_REQUEST_BODY with the place of each fault. */
export const readInput = async <T extends z.ZodType>(request: Request, schema: T): Promise<z.output<T>> =>
  decodeBody(schema, (await bodyOf(request)({ maxBytes: maxBodyBytes })) ?? {});
