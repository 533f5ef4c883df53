/**
 * Opening a view as a tenant's user, and metrics that an author writes, as the user of a view would read them. They may be
 * in SQL, so they are no part of the guests' interface: only a session's own page asks, by a view of that session.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Audit, AuditEvent } from '../gateway/audit/audit.js';
import {
  type AdminCommand,
  adminCommand,
  askedIn,
  declareCommand,
  type RunBy,
  readBy,
} from '../gateway/common/admin-command.js';
import { provisionTenantsCommand } from '../gateway/provision/commands.js';
import { type ViewAs, viewAsInput, viewed } from '../gateway/view-as.js';
import { canonicalJson } from '../model/canonical-json.js';
import { definitionSqlParts } from '../model/dashboard/content-sql.js';
import type { MetricDefinition, SqlDefinition } from '../model/dashboard/metric.js';
import type { AuthorCaller } from '../model/guest/caller.js';
import type { GuestQuery, MetricReply } from '../model/guest/view.js';
import { nameInRecords } from '../model/person.js';
import type { ProposedOutput } from '../model/query/sql-outputs.js';
import { Refusal } from '../model/refusal.js';
import type { Authenticate } from '../platform/http/wire/admission.js';
import { authoredMetric } from '../service/dashboards/contract/author-previews.js';
import { sqlDefinition } from '../service/dashboards/contract/export.js';
import { encodeReply, queryMetric } from '../service/metrics/contract.js';
import { mayCall } from './access.js';
import type { Views } from './views.js';

export const openView = declareCommand(
  'view-open',
  viewAsInput,
  viewed,
  readBy('author', 'publisher', 'policyAdmin', 'support', 'auditor'),
);

export const previewMetric = declareCommand('metric-preview', authoredMetric, queryMetric.output, {
  ...readBy('author'),
  reads: 'rows',
});

const proposedColumns = z
  .array(
    z.object({
      name: z.string(),
      dataType: z.enum(['date', 'number', 'string', 'boolean']),
      use: z.enum(['dimension', 'measure']),
    }),
  )
  .describe('Of a metric in SQL: its columns, and what each is proposed as.');

/** Reads no row, so it needs no access to data. */
export const describeMetric = declareCommand(
  'metric-statement',
  authoredMetric,
  z.object({ sql: z.string(), columns: proposedColumns }),
  readBy('author'),
);

/** Reads no row, and answers nothing of the viewed user: the text is the same whoever is viewed. */
export const turnMetricIntoSql = declareCommand(
  'metric-to-sql',
  authoredMetric,
  z.object({ definition: sqlDefinition, columns: proposedColumns }),
  readBy('author'),
);

type AuthoredMetric = Omit<GuestQuery, 'metricId' | 'dashboardId'> & {
  readonly dashboardId: string;
  readonly definition: MetricDefinition;
};
type Described = { readonly sql: string; readonly columns: readonly ProposedOutput[] };
type Turned = { readonly definition: SqlDefinition; readonly columns: readonly ProposedOutput[] };
type Authored<R> = (caller: AuthorCaller, metric: AuthoredMetric, signal: AbortSignal) => Promise<R>;

export type ViewParts = {
  readonly views: Views;
  readonly viewAs: ViewAs;
  readonly authenticate: Authenticate;
  readonly authoring: {
    readonly preview: Authored<MetricReply>;
    readonly describe: Authored<Described>;
    readonly turnIntoSql: Authored<Turned>;
  };
  readonly audit: Audit;
};

const ended = (cause?: unknown): Refusal =>
  new Refusal('TOKEN_EXPIRED', 'This view has ended. Open it again.', { reason: 'studio-view-unknown', cause });

/** The user of a view that this session opened. Throws TOKEN_EXPIRED for a view that ended, or that is of another session. */
const authorOf = async ({ views, authenticate }: ViewParts, view: string, by: RunBy): Promise<AuthorCaller> => {
  const { session } = askedIn(by);
  try {
    const { token, sessionId } = views.open(view);
    if (sessionId !== session.id) throw ended();
    const caller = await authenticate(['guestToken'], token);
    if (caller.kind === 'guest') return { ...caller, author: session.person };
  } catch (error) {
    throw error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR' ? ended(error) : error;
  }
  throw ended();
};

/** The entry of a preview in SQL: who looked at whose rows, and a digest of the definition. */
const previewed = (
  { grant: { clientId, userIdentifier }, author }: AuthorCaller,
  { definition, dashboardId }: z.output<typeof authoredMetric>,
  requestId: string,
): AuditEvent => ({
  ...{ kind: 'admin', code: 'OK', requestId, clientId },
  ...(userIdentifier === null ? {} : { user: userIdentifier }),
  requestDigest: createHash('sha256').update(canonicalJson(definition)).digest('hex'),
  detail: { command: 'metric-preview', operator: nameInRecords(author), dashboard: dashboardId },
});

export const viewCommands = (parts: ViewParts): readonly AdminCommand[] => {
  const { views, viewAs, authoring, audit } = parts;
  return [
    /** Answers like `POST /embed-token`, with a sealed view instead of the token. */
    adminCommand(openView, async (input, by) => {
      const { session, requestId } = askedIn(by);
      const mayProvision = mayCall(by, provisionTenantsCommand);
      const viewing = { by: nameInRecords(session.person), requestId, mayProvision };
      const { token, serviceUrl: _, ...viewed } = await viewAs(input, viewing);
      return { ...viewed, token: views.seal(token, session), serviceUrl: '/studio/as' };
    }),
    adminCommand(previewMetric, async ({ view, ...metric }, by, signal) => {
      const caller = await authorOf(parts, view, by);
      // Before the query: SQL whose author cannot be recorded must not run.
      if (definitionSqlParts(metric.definition).length > 0)
        await audit.record(previewed(caller, { view, ...metric }, askedIn(by).requestId));
      return encodeReply(await authoring.preview(caller, metric, signal));
    }),
    adminCommand(describeMetric, async ({ view, ...metric }, by, signal) => {
      const { sql, columns } = await authoring.describe(await authorOf(parts, view, by), metric, signal);
      return { sql, columns: [...columns] };
    }),
    adminCommand(turnMetricIntoSql, async ({ view, ...metric }, by, signal) => {
      const { definition, columns } = await authoring.turnIntoSql(await authorOf(parts, view, by), metric, signal);
      return { definition: sqlDefinition.parse(definition), columns: [...columns] };
    }),
  ];
};
