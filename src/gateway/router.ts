/**
 * The gateway as an Express Router: called before an Express app, or mounted inside a host's app. Decodes, answers, logs and counts.
 * Uses only Node's request and response. Must not decide what a session may see: embed-token.ts does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { requestIdOf } from '../http/request.js';
import { json, send as sendNow } from '../http/sending.js';
import type { Log } from '../platform/log.js';
import type { Check } from '../platform/readiness.js';
import type { Audit } from './audit/audit.js';
import { createRequestAudit, type DecisionContext, type RequestAudit } from './audit/request-audit.js';
import type { Origins } from './authenticate/credential.js';
import type { Limits } from './authenticate/limits.js';
import type { AdminCommand } from './common/admin-command.js';
import { type GatewayMetrics, noGatewayMetrics } from './common/metrics.js';
import { createEmbedTokenPipeline, type EmbedTokenSteps } from './embed-token.js';
import { createExchange, type Exchange } from './exchange.js';
import { type AnswerHook, hookPaths } from './hooks/hooks.js';
import { createReceiver } from './hooks/receive.js';
import { type Admin, createAdmin } from './http/admin.js';
import { allow, answerBrowser, developerText, explain, type TextAnswer, wrongMethod } from './http/answer.js';
import { readBody } from './http/body.js';
import { createCors, preflightHeaders, securityHeaders } from './http/headers.js';
import { createRefusedOrigins } from './http/refused-origins.js';
import type { TenantAccess } from './lifecycle/access.js';
import type { Recipients } from './recipients.js';
import { createFindReportRight, type FindReportRight } from './report-right.js';
import {
  createIsTenantActive,
  createListTenantUsers,
  type IsTenantActive,
  type ListTenantUsers,
} from './tenant-users.js';
import { createViewAs, type ViewAs } from './view-as.js';

/** What the router serves: the steps of `/embed-token`, the hooks, the operators' commands, and the gateway's own lifetime. */
export type GatewayHandlers = {
  readonly steps: EmbedTokenSteps;
  /** Null: no session is kept, so nothing can be decided for users who are away. */
  readonly recipients: Recipients | null;
  readonly access: Pick<TenantAccess, 'assertTenant'>;
  readonly answerHook: AnswerHook;
  readonly commands: readonly AdminCommand[];
  /** Name of the data app of the policy in force. */
  readonly dataApp: () => string;
  readonly guards: Limits['guards'];
  /** Rejects with UPSTREAM_UNAVAILABLE if the ledger does not answer. */
  readonly assertReady: () => Promise<void>;
  /** The checks of `/readyz`; each rejects if its dependency cannot serve. */
  readonly checks: readonly Check[];
  /** Ends the background work. */
  readonly close: () => Promise<void>;
};

/** What a host mounts: a Router that also takes Node's own request and response. */
export type MountedGateway = express.Router &
  ((request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void) & {
    /** Resolves once the ledger has answered; rejects with UPSTREAM_UNAVAILABLE if it does not. */
    readonly assertReady: () => Promise<void>;
    /** The checks of `/readyz`. */
    readonly checks: readonly Check[];
    /** Ends the background work. */
    readonly close: () => Promise<void>;
    /** Serves only `/gateway/admin`, for a separate port. */
    readonly admin: express.Router;
  };

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

type Handle<Result> = (request: IncomingMessage, response: ServerResponse) => Result;

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
  const preflight: Handle<void> = (request, response) => {
    const { origin } = request.headers;
    const isAllowed = cors.isAllowed(origin);
    if (!isAllowed) noteRefused(origin);
    const extra = isAllowed ? preflightHeaders : [];
    sendNow(response, { status: 204, headers: [...security, ...allow, ...cors.headers(origin), ...extra] });
  };
  return { send, preflight };
};

const exactly = { caseSensitive: true, strict: true };

const createAdminRouter = (admin: Admin): express.Router => {
  const router = express.Router(exactly);
  router.all('/gateway/admin/:command', (request, response) => admin(request, response, request.params.command));
  return router;
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
  readonly metrics?: GatewayMetrics | undefined;
};

type Handled = { readonly context: DecisionContext; readonly ms: number };

/** Logs and counts answered requests of `/embed-token`. */
const createReport = (options: RouterOptions, audit: Pick<RequestAudit, 'failed'>) => {
  const { log, metrics = noGatewayMetrics } = options;
  // The fields of these lines hold no secret, and redaction costs more than the rest of a line.
  const plain = log.child({}, { redact: [] });
  return {
    granted: ({ context, ms }: Handled, isMinted: boolean, mintedBy: string): void => {
      metrics.answered(isMinted ? 'minted' : 'cached');
      const { requestId, session, clientId: tenant } = context;
      const user = session?.subject;
      // Each field is written out: an object made by spreading doubles the cost of the line.
      const event = isMinted ? 'token.minted' : 'token.served';
      const earlier = mintedBy === requestId ? undefined : mintedBy;
      plain.info({ event, requestId, user, tenant, mintedBy: earlier, ms, code: 'OK' }, 'embed token');
    },
    failed: ({ context, ms }: Handled, error: unknown, { code, status }: ReturnType<typeof answerBrowser>): void => {
      const { requestId, session, clientId: tenant } = context;
      const fields = { requestId, user: session?.subject, tenant, ms, code, ...explain(error) };
      if (status >= 500) log.error({ event: 'token.failed', ...fields }, 'embed token');
      else log.info({ event: 'token.denied', ...fields, ...developerText(error, status) }, 'embed token');
      metrics.answered(code);
      if (error instanceof Refusal && code === 'RATE_LIMITED') metrics.limited(error.reason);
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

/** Serves one gateway over HTTP. */
export const createRouter = (parts: GatewayHandlers, options: RouterOptions): Gateway => {
  const { steps, answerHook, guards, assertReady, checks, close } = parts;
  const audit = createRequestAudit(options);
  const answer = createEmbedTokenPipeline(steps, audit);
  const report = createReport(options, audit);
  const admin = createAdmin({ ...options, commands: parts.commands, guard: guards.gatewayToken });
  const { send, preflight } = createWriters(options);
  const receiveHook = createReceiver(send, options.log);
  const post: Handle<Promise<void>> = async (request, response) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const outcome = await answer({ from: request, body: () => readBody(request) }, { requestId });
    const { context } = outcome;
    if ('error' in outcome) {
      const refused = answerBrowser(outcome.error, requestId);
      send(request, response, refused, requestId);
      report.failed({ context, ms: msSince(startedAt) }, outcome.error, refused);
    } else {
      send(request, response, { status: 200, body: outcome.body, headers: [] }, requestId);
      report.granted({ context, ms: msSince(startedAt) }, outcome.isMinted, outcome.mintedBy);
    }
  };
  const router = express.Router(exactly);
  router.all('/embed-token', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'POST') return post(request, response);
    if (request.method === 'OPTIONS') return preflight(request, response);
    return send(request, response, wrongMethod(request.method), requestIdOf(request));
  });
  for (const [path, kind] of Object.entries(hookPaths)) {
    router.all(`/hooks/${path}`, (request, response) =>
      receiveHook(path, (...asked) => answerHook(kind, ...asked), request, response),
    );
  }
  const adminRouter = createAdminRouter(admin);
  if (options.isAdminApart !== true) router.use(adminRouter);
  // The types want Express's request and response; the handlers above read none of what Express adds.
  const viewAs = createViewAs({ ...options, steps, requestAudit: audit });
  return Object.assign(router, {
    assertReady,
    checks,
    close,
    ...ownProcess(parts, audit),
    viewAs,
    exchange: createExchange({ answer, report, msSince }),
    admin: adminRouter,
  }) as Gateway;
};
