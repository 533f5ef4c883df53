/**
 * Studio over HTTP, under `/studio`: sessions, the operations of the service and the commands of the gateway that a
 * person's roles allow, and reading as a tenant's user. It decides who may call what; what is called decides the rest.
 */
import express, { type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import type { Audit } from '../gateway/audit/audit.js';
import { bearerOf, type Origins } from '../gateway/authenticate/credential.js';
import { explain } from '../gateway/http/answer.js';
import type { Caller } from '../model/guest/caller.js';
import type { Log } from '../model/log-events.js';
import { type IssuerToken, nameInRecords, type Person } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import type { Operation } from '../platform/http/interface/operation.js';
import type { AddressOf } from '../platform/http/wire/address.js';
import { type Authenticate, senderOf } from '../platform/http/wire/admission.js';
import type { Dispatch } from '../platform/http/wire/bind.js';
import { bodyOf } from '../platform/http/wire/body-reader.js';
import { sendAnswer } from '../platform/http/wire/operations.js';
import { cookieOf } from '../platform/http/wire/request.js';
import { createRoutes } from '../platform/http/wire/routes.js';
import { goneSignal, json, redirect, send, sendData } from '../platform/http/wire/sending.js';
import type { CredentialGuard } from '../platform/limits/credential-guard.js';
import { inSpan, type OpenSpan, remoteTraceOf, type SpanStart } from '../platform/traces/trace.js';
import { assertReads, assertRole } from './access.js';
import { answerOf, refuse } from './answer.js';
import { type LoginLinks, linkedPerson } from './login-links.js';
import { loginMs, type OpenId, openIdCookie, openIdPath } from './openid.js';
import { assertOwnOrigin, type LoggedIn, loggedInOf, readInput, requestIdOf } from './requests.js';
import { changeTokenOf, type StudioSessions, studioCookie } from './sessions.js';
import { createUploadPaths, type Uploads } from './uploads.js';
import type { Views } from './views.js';
import type { Work } from './work.js';

export type StudioOptions = {
  readonly sessions: StudioSessions;
  readonly links: LoginLinks;
  readonly views: Views;
  /** Null: nobody logs in by OpenID Connect. */
  readonly openId: OpenId | null;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly dispatch: Dispatch;
  readonly authenticate: Authenticate;
  readonly work: Work;
  /** Answers assistants of operators. Null: they may not call. */
  readonly assistants: ((request: Request, response: Response) => Promise<void>) | null;
  readonly audit: Audit;
  readonly addressOf: AddressOf;
  readonly guard: CredentialGuard;
  readonly origins: Origins;
  /** Whether browsers reach Studio by HTTPS alone, so that its cookie is never sent without. */
  readonly isSecure: boolean;
  readonly log: Log;
  readonly uploads: Uploads;
  /** Serves the page of the app, which reads its own address. */
  readonly page: RequestHandler;
};

/** What the page may know of its session. */
const shown = ({ session, cookie }: LoggedIn) => ({
  person: session.person,
  changeToken: changeTokenOf(cookie),
  expiresAt: session.expiresAt.toISOString(),
});

const codeInput = z.strictObject({ code: z.string().min(1).max(200) });

/** Creates the router of `/studio`, without the pages themselves. */
export const createStudioRouter = (options: StudioOptions): express.Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const answered = answering(options);
  const sessionPaths = createSessionPaths(options);
  const workPaths = createWorkPaths(options);
  const uploadPaths = createUploadPaths(options);
  router.get('/studio/logins', answered(sessionPaths.kinds));
  router.get('/studio/login', answered(sessionPaths.begin));
  router.get(openIdPath, answered(sessionPaths.finish));
  router.get('/studio/session', answered(sessionPaths.read));
  router.post('/studio/session', answered(sessionPaths.logIn));
  router.delete('/studio/session', answered(sessionPaths.logOut));
  router.delete('/studio/sessions', answered(sessionPaths.logOutEverywhere));
  router.post('/studio/uploads', answered(uploadPaths.create));
  router.put('/studio/uploads', answered(uploadPaths.replace));
  if (options.assistants !== null) router.post('/studio/mcp', answered(options.assistants));
  router.post('/studio/commands/:command', answered(workPaths.command));
  router.all('/studio/as/api/v2/guest/{*path}', answered(createViewPath(options)));
  router.all('/studio/api/v2/{*path}', answered(workPaths.operation));
  router.get(['/studio', '/studio/{*page}'], options.page);
  return router;
};

/** Answers what a handler throws, and logs it. */
const answering =
  (options: Pick<StudioOptions, 'log'>) =>
  (handle: (request: Request, response: Response) => Promise<void>): RequestHandler =>
  (request, response) => {
    const answer = async (span: OpenSpan): Promise<void> => {
      try {
        await handle(request, response);
      } catch (error) {
        const { status, body, headers } = refuse(options, error, requestIdOf(response), request.path);
        if (status >= 500) span.failed(answerOf(error).code);
        if (response.headersSent) return void response.destroy();
        send(response, { status, headers: [...json, ...headers], body });
      }
      span.note(() => ({ 'http.response.status_code': response.statusCode }));
    };
    return inSpan(spanOf(request, response), answer);
  };

/** The path of the route names nothing that the caller chose. */
const spanOf = (request: Request, response: Response): SpanStart => {
  const route = `/studio${String(request.route?.path ?? '').replace(/^\/studio/, '')}`;
  return {
    ...{ name: `${request.method} ${route}`, kind: 'server', from: remoteTraceOf(request.headers) },
    attributes: () => ({ 'http.route': route, 'guestlist.request_id': requestIdOf(response) }),
  };
};

const attributesOf = ({ isSecure }: Pick<StudioOptions, 'isSecure'>) =>
  ({ httpOnly: true, sameSite: 'strict', secure: isSecure, path: '/studio' }) as const;

/** Records who logged in or out. */
const recorder =
  ({ audit }: Pick<StudioOptions, 'audit'>) =>
  (command: string, person: Person, requestId: string): Promise<void> =>
    audit.record({ kind: 'admin', code: 'OK', requestId, detail: { command, operator: nameInRecords(person) } });

/** Begins a session, and sets its cookie. */
const entering = (options: StudioOptions) => {
  const record = recorder(options);
  return async (person: Person, response: Response, issuerToken: IssuerToken | null = null): Promise<LoggedIn> => {
    const { cookie, session } = await options.sessions.logIn(person, issuerToken);
    await record('studio-login', person, requestIdOf(response));
    response.cookie(studioCookie, cookie, { ...attributesOf(options), expires: session.expiresAt });
    return { session, cookie };
  };
};

/** Logging in by OpenID Connect. A browser follows these paths, so every end is a page. */
const createOpenIdPaths = (options: StudioOptions) => {
  const { openId, isSecure, log } = options;
  const enter = entering(options);
  // The issuer's page sends the browser back, so the cookie of the login must come with a link of another site.
  const attributes = { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/studio/login' } as const;
  const failed = (response: Response, error: unknown): string => {
    const { code } = answerOf(error);
    log.info(
      { event: 'studio.refused', requestId: requestIdOf(response), path: '/studio/login', code, ...explain(error) },
      'studio',
    );
    return `/studio#login=${code === 'UNAUTHORIZED' ? 'no-role' : code === 'UPSTREAM_UNAVAILABLE' ? 'away' : 'failed'}`;
  };
  /** Sends the browser to the page that `step` returns, or to the login, which says why it failed. */
  const leading =
    (step: (openId: OpenId, request: Request, response: Response) => Promise<string>) =>
    async (request: Request, response: Response): Promise<void> => {
      if (openId === null)
        throw new Refusal('NOT_FOUND', 'Logins by OpenID Connect are not configured: set studio.openId.');
      const page = await step(openId, request, response).catch((error: unknown) => failed(response, error));
      await redirect(response, page);
    };
  return {
    kinds: async (_: Request, response: Response): Promise<void> => sendData(response, { openId: openId !== null }),
    begin: leading(async ({ begin }, _, response) => {
      const { address, cookie } = await begin();
      response.cookie(openIdCookie, cookie, { ...attributes, maxAge: loginMs });
      return address;
    }),
    finish: leading(async ({ finish }, request, response) => {
      const at = request.url.indexOf('?');
      const query = at < 0 ? '' : request.url.slice(at);
      const { person, issuerToken } = await finish(query, cookieOf(request.headers, openIdCookie));
      response.clearCookie(openIdCookie, attributes);
      await enter(person, response, issuerToken);
      return '/studio';
    }),
  };
};

const createSessionPaths = (options: StudioOptions) => {
  const { sessions, links, addressOf, guard, origins } = options;
  const loggedIn = loggedInOf(options);
  const enter = entering(options);
  const record = recorder(options);
  const forget = (response: Response) => response.clearCookie(studioCookie, attributesOf(options));
  return {
    ...createOpenIdPaths(options),
    read: async (request: Request, response: Response): Promise<void> =>
      sendData(response, shown(await loggedIn(request))),
    logIn: async (request: Request, response: Response): Promise<void> => {
      assertOwnOrigin(request, origins);
      const { code } = await readInput(request, codeInput);
      const attempt = guard(addressOf(request), null);
      attempt.assertMayVerify();
      if (!links.redeem(code)) {
        await attempt.failed();
        throw new Refusal(
          'AUTHENTICATION_ERROR',
          'This link was used before, is too old, or is of another start. Get a new one with: guestlist studio-link',
          { reason: 'studio-code-unknown' },
        );
      }
      await sendData(response, shown(await enter(linkedPerson, response)));
    },
    logOut: async (request: Request, response: Response): Promise<void> => {
      const { session } = await loggedIn(request);
      await sessions.end(session);
      forget(response);
      await sendData(response, { ended: 1 });
    },
    logOutEverywhere: async (request: Request, response: Response): Promise<void> => {
      const { session } = await loggedIn(request);
      const ended = await sessions.endAllOf(session.person);
      await record('studio-logout-everywhere', session.person, requestIdOf(response));
      forget(response);
      await sendData(response, { ended });
    },
  };
};

/** What the dispatch reads of a request, besides its path. */
const askedBy = ({ addressOf }: Pick<StudioOptions, 'addressOf'>, request: Request, response: Response) => {
  const { method, query } = request;
  const requestId = requestIdOf(response);
  const sender = senderOf(addressOf, request);
  return { method, query, readBody: bodyOf(request), sender, requestId, signal: goneSignal(response, requestId) };
};

/** Answers operations of the service and commands of the gateway, as `work` allows them. */
const createWorkPaths = (options: StudioOptions) => {
  const { work } = options;
  const loggedIn = loggedInOf(options);
  return {
    operation: async (request: Request, response: Response): Promise<void> => {
      const { session } = await loggedIn(request);
      const path = request.path.slice('/studio'.length);
      await sendAnswer(
        response,
        await work.callOperation(session.person, { ...askedBy(options, request, response), path }),
      );
    },
    command: async (request: Request, response: Response): Promise<void> => {
      const { session } = await loggedIn(request);
      const name = String(request.params.command);
      const requestId = requestIdOf(response);
      const asked = { name, readInput: () => readInput(request, z.unknown()), requestId };
      const signal = goneSignal(response, requestId);
      await sendData(response, await work.runCommand(session, { ...asked, signal }));
    },
  };
};

/** Answers what the user of a view would be answered. */
const createViewPath = (options: StudioOptions) => {
  const { sessions, views, operations, dispatch, authenticate } = options;
  const find = createRoutes(Object.values(operations));
  return async (request: Request, response: Response): Promise<void> => {
    const { token, sessionId } = views.open(bearerOf(request.headers));
    const { person } = await sessions.withId(sessionId);
    const path = request.path.slice('/studio/as'.length);
    const found = find(request.method, path);
    const matches = found === undefined || 'allowed' in found ? [] : found.matches;
    // The body decides between operations of one path, so a view must be able to ask all of them.
    if (matches.length === 0 || matches.some(({ operation }) => operation.viewedAs === undefined)) {
      const message = 'A view only reads: nothing can be changed as another user.';
      throw new Refusal('UNAUTHORIZED', message, { reason: 'studio-view-reads' });
    }
    for (const { operation } of matches) assertReads(person, operation.reads);
    const caller = await authenticate(['guestToken'], token);
    const answer = await dispatch({
      ...askedBy(options, request, response),
      path,
      authorization: undefined,
      caller: matches[0]?.operation.viewedAs === 'author' ? asAuthor(caller, person) : asView(caller, person),
      showsCauses: true,
      acceptLanguage: request.headers['accept-language'],
    });
    if (answer === undefined) throw new Refusal('NOT_FOUND', 'There is no such path.');
    await sendAnswer(response, answer);
  };
};

/** The same user, who is offered nothing that a view may not do. */
const asView = (caller: Caller, { seesData }: Person): Caller =>
  caller.kind === 'guest' ? { ...caller, isView: true, ...(seesData ? {} : { isBlind: true }) } : caller;

/** The same user with all restrictions of the token, for an author who tries a metric that is not saved. */
const asAuthor = (caller: Caller, person: Person): Caller => {
  assertRole(person, 'building metrics', ['author']);
  return caller.kind === 'guest' ? { ...caller, author: person } : caller;
};
