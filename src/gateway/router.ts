/**
 * The gateway as a step of the front: called before an Express app, or mounted inside a host's app. Decodes, answers, logs and counts.
 * Uses only Node's request and response. Must not decide what a session may see: embed-token.ts does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import type { FindReportRight, IsTenantActive, ListTenantUsers } from '../model/schedule/open-report.js';
import type { Handle, Step } from '../platform/http/wire/in-turn.js';
import { pathOf, requestIdOf } from '../platform/http/wire/request.js';
import { json, send as sendNow } from '../platform/http/wire/sending.js';
import type { Log } from '../platform/logs/log.js';
import type { Check } from '../platform/logs/readiness.js';
import { inSpan, type OpenSpan, remoteTraceOf } from '../platform/traces/trace.js';
import type { Audit } from './audit/audit.js';
import { createRequestAudit, type DecisionContext, type RequestAudit } from './audit/request-audit.js';
import type { Origins } from './authenticate/credential.js';
import type { NodeRequest } from './authenticate/host-session.js';
import type { Limits } from './authenticate/limits.js';
import type { AdminCommand } from './common/admin-command.js';
import { type GatewayMeters, noGatewayMeters } from './common/meters.js';
import { type EmbedTokenAnswer, readBody } from './common/wire.js';
import {
  createEmbedTokenPipeline,
  type EmbedTokenPipeline,
  type EmbedTokenRequest,
  type EmbedTokenSteps,
} from './embed-token.js';
import { type AnswerHook, hookPaths } from './hooks/hooks.js';
import type { AnswerProvider } from './hooks/providers/handle.js';
import { createReceiver } from './hooks/receive.js';
import { type Admin, createAdmin } from './http/admin.js';
import { allow, answerBrowser, explain, type TextAnswer, wrongMethod } from './http/answer.js';
import { createCors, createRefusedOrigins, preflightHeaders, securityHeaders } from './http/headers.js';
import type { TenantAccess } from './lifecycle/access.js';
import type { Recipients } from './recipients.js';
import { createFindReportRight } from './report-right.js';
import { createIsTenantActive, createListTenantUsers } from './tenant-users.js';
import type { CountLogin } from './upstream/logins.js';
import { createViewAs, type ViewAs } from './view-as.js';

/** What the router serves: the steps of `/embed-token`, the hooks, the operators' commands, and the gateway's own lifetime. */
export type GatewayHandlers = Pick<MountedGateway, 'assertReady' | 'checks' | 'close'> & {
  readonly steps: EmbedTokenSteps;
  /** Null: no session is kept, so nothing can be decided for users who are away. */
  readonly recipients: Recipients | null;
  readonly access: Pick<TenantAccess, 'assertTenant'>;
  readonly answerHook: AnswerHook;
  /** The hooks of providers, by their path. */
  readonly providerHooks: ReadonlyMap<string, AnswerProvider>;
  readonly commands: readonly AdminCommand[];
  readonly countLogin: CountLogin;
  /** Name of the data app of the policy in force. */
  readonly dataApp: () => string;
  readonly guards: Limits['guards'];
};

/** A response of Node, or of a framework on it. */
type NodeResponse = { statusCode: number; readonly setHeader: unknown; readonly end: unknown };

/**
 * A step of Express 4 or 5, of a framework like it, or of `node:http`. Its parameters are those of a method, so that a
 * function of Node's own types fits.
 */
type Mount = {
  step(request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void): void;
}['step'];

/** What a host mounts with `app.use`, or calls with Node's own request and response. */
export type MountedGateway = Mount & {
  /** Resolves once the ledger has answered; rejects with UPSTREAM_UNAVAILABLE if it does not. */
  readonly assertReady: () => Promise<void>;
  /** The checks of `/readyz`; each rejects if its dependency cannot serve. */
  readonly checks: readonly Check[];
  /** Ends the background work. */
  readonly close: () => Promise<void>;
  /** Serves only `/gateway/admin`, for a separate port. */
  readonly admin: Mount;
};

/**
 * Returns the guest token of a host session, for a door of this process that takes guest tokens, or the refusal as
 * `POST /embed-token` would answer it. By its steps, limits, audit and log, without choices of the caller.
 */
type Exchange = (
  request: IncomingMessage,
  requestId: string,
) => Promise<{ readonly token: string } | { readonly refused: TextAnswer }>;

/** With what the other halves of the product's own process call. */
export type Gateway = MountedGateway & {
  readonly commands: readonly AdminCommand[];
  readonly dataApp: () => string;
  /** Mints the token of another user. For callers that the host's operator trusts. */
  readonly viewAs: ViewAs;
  /** Decides for users who are away. Null: no session is kept. */
  readonly findReportRight: FindReportRight | null;
  /** Null: no session is kept. */
  readonly listTenantUsers: ListTenantUsers | null;
  readonly isTenantActive: IsTenantActive;
  readonly exchange: Exchange;
};

const msSince = (startedAt: number): number => Math.round((performance.now() - startedAt) * 100) / 100;

const createWriters = (options: RouterOptions) => {
  const cors = createCors(options);
  const noteRefused = createRefusedOrigins(options);
  const security = securityHeaders();
  const constant = [...security, ...json];
  const send = (
    request: IncomingMessage,
    response: ServerResponse,
    { status, body, headers }: TextAnswer,
    requestId: string,
  ): void => {
    const own = ['X-Request-Id', requestId, ...cors.headers(request.headers.origin), ...headers];
    sendNow(response, { status, headers: [...constant, ...own], body });
  };
  const preflight: Handle = (request, response) => {
    const { origin } = request.headers;
    const isAllowed = cors.isAllowed(origin);
    if (!isAllowed) noteRefused(origin);
    const extra = isAllowed ? preflightHeaders : [];
    sendNow(response, { status: 204, headers: [...security, ...allow, ...cors.headers(origin), ...extra] });
  };
  return { send, preflight };
};

/** Serves `/gateway/admin/<command>`. A name that is no percent-encoded text is an error, as in Express. */
const serveAdmin =
  (admin: Admin): Step =>
  (request, response, next) => {
    const [, encoded] = /^\/gateway\/admin\/([^/]+)$/.exec(pathOf(request)) ?? [];
    if (encoded === undefined) return next();
    let command: string;
    try {
      command = decodeURIComponent(encoded);
    } catch (error) {
      return next(Object.assign(error as URIError, { status: 400 }));
    }
    return admin(request, response, command);
  };

export type RouterOptions = Origins & {
  readonly audit: Audit;
  /** The operators' token for `/gateway/admin`; null: every call is refused. */
  readonly gatewayToken: string | null;
  /** Whether only the router `admin` serves `/gateway/admin`; false if left out. */
  readonly isAdminApart?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Left out: nothing is counted. */
  readonly meters?: GatewayMeters | undefined;
};

type Handled = { readonly context: DecisionContext; readonly ms: number; readonly traceId: string | undefined };

/** Logs and counts answered requests of `/embed-token`. */
const createReport = (options: RouterOptions, audit: Pick<RequestAudit, 'failed'>, countLogin: CountLogin) => {
  const { log, meters = noGatewayMeters } = options;
  // The fields of these lines hold no secret, and redaction costs more than the rest of a line.
  const plain = log.child({}, { redact: [] });
  return {
    granted: ({ context, ms, traceId }: Handled, isMinted: boolean, mintedBy: string): void => {
      meters.answered(isMinted ? 'minted' : 'cached');
      const { requestId, session, clientId: tenant } = context;
      if (tenant !== undefined) countLogin({ clientId: tenant, userIdentifier: session?.userIdentifier ?? null });
      const user = session?.subject;
      // Each field is written out: an object made by spreading doubles the cost of the line.
      const event = isMinted ? 'token.minted' : 'token.served';
      const earlier = mintedBy === requestId ? undefined : mintedBy;
      plain.info({ event, requestId, traceId, user, tenant, mintedBy: earlier, ms, code: 'OK' }, 'embed token');
    },
    failed: ({ context, ms, traceId }: Handled, error: unknown, refused: ReturnType<typeof answerBrowser>): void => {
      const { code, status, withheld: detail } = refused;
      const { requestId, session, clientId: tenant } = context;
      const fields = { requestId, traceId, user: session?.subject, tenant, ms, code, ...explain(error) };
      if (status >= 500) log.error({ event: 'token.failed', ...fields }, 'embed token');
      else log.info({ event: 'token.denied', ...fields, ...(detail === undefined ? {} : { detail }) }, 'embed token');
      meters.answered(code);
      if (error instanceof Refusal && code === 'RATE_LIMITED') meters.limited(error.reason);
      audit.failed(context, error, ms);
    },
  };
};

/** With what the other halves of the product's own process call. */
const ownProcess = (
  { steps, recipients, access, commands, dataApp }: GatewayHandlers,
  requestAudit: Pick<RequestAudit, 'minted'>,
) => ({
  commands,
  dataApp,
  findReportRight: recipients && createFindReportRight({ steps, recipients, requestAudit }),
  listTenantUsers: recipients && createListTenantUsers({ steps, recipients }),
  isTenantActive: createIsTenantActive(access),
});

type Writers = ReturnType<typeof createWriters>;

const embedTokenAttributes = { 'http.request.method': 'POST', 'http.route': '/embed-token' };

const noteAnswer = (span: OpenSpan, { status, code }: { readonly status: number; readonly code: string }): void => {
  span.note(() => ({ 'http.response.status_code': status, 'guestlist.code': code }));
  if (status >= 500) span.failed(code);
};

/**
 * Returns a function that serves one request for a token: answers, logs and counts. `response` null: the caller hands the
 * answer on.
 */
const createServe = (answer: EmbedTokenPipeline, report: ReturnType<typeof createReport>, send: Writers['send']) => {
  const serve = async (
    { from: request, body }: EmbedTokenRequest,
    response: ServerResponse | null,
    requestId: string,
    span: OpenSpan,
  ): Promise<TextAnswer> => {
    const startedAt = performance.now();
    const { traceId } = span;
    const outcome = await answer({ from: request, body }, { requestId });
    const { context } = outcome;
    if ('error' in outcome) {
      const refused = answerBrowser(outcome.error, requestId, outcome.tenants);
      if (response !== null) send(request, response, refused, requestId);
      noteAnswer(span, refused);
      report.failed({ context, ms: msSince(startedAt), traceId }, outcome.error, refused);
      return refused;
    }
    const granted: TextAnswer = { status: 200, body: outcome.body, headers: [] };
    if (response !== null) send(request, response, granted, requestId);
    noteAnswer(span, { status: 200, code: 'OK' });
    span.note(() => ({ 'guestlist.minted': outcome.isMinted }));
    report.granted({ context, ms: msSince(startedAt), traceId }, outcome.isMinted, outcome.mintedBy);
    return granted;
  };
  return (
    request: IncomingMessage,
    response: ServerResponse | null,
    body: EmbedTokenRequest['body'],
    requestId: string,
  ): Promise<TextAnswer> => {
    const attributes = () => ({ ...embedTokenAttributes, 'guestlist.request_id': requestId });
    const start = {
      name: 'POST /embed-token',
      kind: 'server',
      attributes,
      from: remoteTraceOf(request.headers),
    } as const;
    return inSpan(start, (span) => serve({ from: request, body }, response, requestId, span));
  };
};

type Serve = ReturnType<typeof createServe>;

const createExchange =
  (serve: Serve): Exchange =>
  async (request, requestId) => {
    const answered = await serve(request, null, () => ({}), requestId);
    if (answered.status !== 200) return { refused: answered };
    const { token }: Pick<EmbedTokenAnswer, 'token'> = JSON.parse(answered.body);
    return { token };
  };

/** Serves one gateway over HTTP. */
export const createRouter = (parts: GatewayHandlers, options: RouterOptions): Gateway => {
  const { steps, answerHook, providerHooks, guards, assertReady, checks, close } = parts;
  const audit = createRequestAudit(options);
  const { send, preflight } = createWriters(options);
  const serve = createServe(
    createEmbedTokenPipeline(steps, audit),
    createReport(options, audit, parts.countLogin),
    send,
  );
  const receiveHook = createReceiver(send, options.log);
  const admin = serveAdmin(createAdmin({ ...options, commands: parts.commands, guard: guards.gatewayToken }));
  const embedToken: Handle = (request, response) => {
    if (request.method === 'POST') return serve(request, response, () => readBody(request), requestIdOf(request));
    if (request.method === 'OPTIONS') return preflight(request, response);
    return send(request, response, wrongMethod(request.method), requestIdOf(request));
  };
  const hooks = Object.entries(hookPaths).map(([path, kind]): readonly [string, Handle] => [
    `/hooks/${path}`,
    (request, response) => receiveHook(path, (...asked) => answerHook(kind, ...asked), request, response),
  ]);
  const ofProviders = [...providerHooks].map(([path, answer]): readonly [string, Handle] => [
    `/hooks/${path}`,
    (request, response) => receiveHook(path, answer, request, response),
  ]);
  const handles = new Map([['/embed-token', embedToken], ...hooks, ...ofProviders]);
  const route: Step = (request, response, next) => {
    const handle = handles.get(pathOf(request));
    if (handle !== undefined) return handle(request, response);
    return options.isAdminApart === true ? next() : admin(request, response, next);
  };
  return Object.assign(route, {
    assertReady,
    checks,
    close,
    ...ownProcess(parts, audit),
    viewAs: createViewAs({ ...options, steps, requestAudit: audit }),
    exchange: createExchange(serve),
    admin,
  });
};
