/** Lists the ledger's tenants in pages for operators, with their state and a summary of their dashboards. */
import { type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import { containsWords } from '../../platform/files/contains-words.js';
import { type AdminCommand, adminCommand, declareCommand, moment, readBy, readers } from '../common/admin-command.js';
import type { Ledger } from '../ledger/ledger.js';
import { tenantStates } from '../ledger/tables.js';
import { templateName } from '../policy/schema.js';
import { askLedger, type DashboardRow, dashboardColumns } from './ledger.js';

/** Pattern of clientIds and tenant references. */
const cursorPart = z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u);

/**
 * Position of a page's last tenant in the order. The next page begins after it, even if that tenant was erased
 * meanwhile.
 */
const cursor = z
  .string()
  .max(2000)
  .transform((text, context) => {
    try {
      return z.tuple([cursorPart, cursorPart]).parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    } catch {
      context.addIssue({ code: 'custom', message: 'must be the `next` of an earlier page' });
      return z.NEVER;
    }
  });

const outcomes = ['complete', 'failed', 'unfinished', 'none'] as const;
export type TenantOutcome = (typeof outcomes)[number];

/** Tenants of one page, and tenants that may be named. */
export const mostTenants = 500;

export const tenantPage = { after: cursor.optional(), limit: z.number().int().min(1).max(mostTenants).default(100) };

const tenantsListInput = z.strictObject({
  ...tenantPage,
  clientId: z.string().min(1).max(255).optional(),
  clientIds: z.array(z.string().min(1).max(255)).max(mostTenants).optional().describe('Only these tenants.'),
  contains: z
    .array(
      z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^\p{Cc}\p{Cs}]*$/u),
    )
    .max(8)
    .optional()
    .describe('Only tenants whose clientId contains each of these, in upper or lower case.'),
  state: z.enum(tenantStates).optional(),
  outcome: z.enum(outcomes).optional(),
  usage: z
    .boolean()
    .optional()
    .describe('Whether to count the tokens that were minted for each tenant, from the audit.'),
  template: templateName.optional().describe('Only tenants with a dashboard of this template.'),
  version: z
    .string()
    .max(64)
    .optional()
    .describe('Only tenants whose dashboard was created from this template version; its first characters are enough.'),
});
export type TenantsListInput = z.output<typeof tenantsListInput>;

const tenantsList = z.object({
  tenants: z.array(
    z.object({
      /** Null: the tenant is erased. */
      clientId: z.string().nullable(),
      tenantRef: z.string(),
      state: z.enum(tenantStates),
      occurredAt: moment.nullable(),
      createdAt: moment,
      outcome: z.enum(outcomes),
      dashboards: z.array(
        z.object({
          template: z.string(),
          dashboardId: z.string(),
          templateVersion: z.string().nullable(),
          step: z.enum(['ready', 'failed', 'unfinished']),
          createdAt: moment.nullable(),
          verifiedAt: moment.nullable(),
          failure: z
            .object({ at: moment, step: z.string().nullable(), reason: z.string().nullable(), failures: z.number() })
            .nullable(),
        }),
      ),
      /** The tokens that were minted for its users, if they are asked for. */
      usage: z.object({ mints: z.number(), lastMintAt: moment.nullable() }).optional(),
    }),
  ),
  next: z.string().nullable(),
});

const isReady = ({ verifiedAt, doubtedAt }: DashboardRow): boolean => verifiedAt !== null && doubtedAt === null;

const stepOf = (row: DashboardRow): 'ready' | 'failed' | 'unfinished' => {
  if (row.failedAt !== null) return 'failed';
  return isReady(row) ? 'ready' : 'unfinished';
};

const outcomeOf = (rows: readonly DashboardRow[]): TenantOutcome => {
  const steps = rows.map(stepOf);
  if (steps.length === 0) return 'none';
  if (steps.includes('failed')) return 'failed';
  return steps.includes('unfinished') ? 'unfinished' : 'complete';
};

const encodeDashboard = (row: DashboardRow) => ({
  template: row.template,
  dashboardId: row.dashboardId,
  templateVersion: row.templateVersion,
  step: stepOf(row),
  createdAt: row.createdAt,
  verifiedAt: row.verifiedAt,
  failure:
    row.failedAt === null
      ? null
      : { at: row.failedAt, step: row.failedStep, reason: row.failure, failures: row.failures },
});

const failedRow = sql<SqlBool>`d.failed_at is not null`;
const unfinishedRow = sql<SqlBool>`d.failed_at is null and (d.verified_at is null or d.doubted_at is not null)`;

const selectTenants = ({ db }: Ledger, input: TenantsListInput & { readonly tenantRef?: string | undefined }) => {
  const has = (condition: ReturnType<typeof sql<SqlBool>>) =>
    sql<SqlBool>`exists (select from ${sql.table('guestlist_gateway.dashboards')} as d where d.tenant_ref = t.tenant_ref and ${condition})`;
  const any = sql<SqlBool>`true`;
  const conditions = {
    failed: has(failedRow),
    unfinished: sql<SqlBool>`not ${has(failedRow)} and ${has(unfinishedRow)}`,
    complete: sql<SqlBool>`${has(any)} and not ${has(failedRow)} and not ${has(unfinishedRow)}`,
    none: sql<SqlBool>`not ${has(any)}`,
  };
  const name = sql<string>`coalesce(t.client_id, '')`;
  return db
    .selectFrom('tenants as t')
    .select(['t.tenant_ref', 't.client_id', 't.state', 't.occurred_at', 't.created_at'])
    .$if(input.after !== undefined, (query) =>
      query.where(sql<SqlBool>`(${name}, t.tenant_ref) > (${input.after?.[0] ?? ''}, ${input.after?.[1] ?? ''})`),
    )
    .$if(input.clientIds !== undefined, (query) =>
      // No id, no tenant: an empty list is not a list without a filter.
      input.clientIds?.length === 0
        ? query.where(sql<SqlBool>`false`)
        : query.where('t.client_id', 'in', [...(input.clientIds ?? [])]),
    )
    .$if(input.tenantRef !== undefined, (query) => query.where('t.tenant_ref', '=', input.tenantRef ?? ''))
    .$if(input.contains !== undefined, (query) =>
      query.where(containsWords(sql.ref('t.client_id'), input.contains ?? [])),
    )
    .$if(input.state !== undefined, (query) => query.where('t.state', '=', input.state ?? 'active'))
    .$if(input.outcome !== undefined, (query) => query.where(conditions[input.outcome ?? 'none']))
    .$if(input.template !== undefined, (query) => query.where(has(sql`d.template = ${input.template}`)))
    .$if(input.version !== undefined, (query) =>
      query.where(has(sql`starts_with(d.template_version, ${input.version})`)),
    )
    .orderBy(name)
    .orderBy('t.tenant_ref')
    .limit(input.limit + 1);
};

type Page<T> = { readonly tenants: readonly T[]; readonly next: string | null };

const readPage = async (ledger: Ledger, input: TenantsListInput) => {
  const tenantRef = input.clientId === undefined ? undefined : ledger.refOf(input.clientId);
  const rows = await askLedger(selectTenants(ledger, { ...input, tenantRef }).execute());
  const tenants = rows.slice(0, input.limit);
  const last = tenants.at(-1);
  const isMore = rows.length > input.limit && last !== undefined;
  const next = isMore
    ? Buffer.from(JSON.stringify([last.client_id ?? '', last.tenant_ref])).toString('base64url')
    : null;
  return { tenants, next };
};

const dashboardsOf = async ({ db }: Ledger, refs: readonly string[]) => {
  const found = new Map<string, DashboardRow[]>(refs.map((ref) => [ref, []]));
  if (refs.length === 0) return found;
  const rows = await askLedger(
    db
      .selectFrom('dashboards as d')
      .select(['d.tenant_ref', ...dashboardColumns])
      .where('d.tenant_ref', 'in', refs)
      .orderBy('d.template')
      .execute(),
  );
  for (const { tenant_ref, ...row } of rows) found.get(tenant_ref)?.push(row);
  return found;
};

type Usage = { readonly mints: number; readonly lastMintAt: Date | null };

const noUsage: Usage = { mints: 0, lastMintAt: null };

/** What the audit has of these tenants. The key of an erased tenant is destroyed, so nothing is found for it. */
const usageOf = async ({ db }: Ledger, refs: readonly string[]): Promise<ReadonlyMap<string, Usage>> => {
  if (refs.length === 0) return new Map();
  const rows = await askLedger(
    db
      .selectFrom('tenant_keys as k')
      .innerJoin('audit_events as e', 'e.tenant', 'k.pseudonym')
      .select(({ fn }) => ['k.tenant_ref', fn.countAll().as('mints'), fn.max('e.at').as('last')])
      .where('k.tenant_ref', 'in', refs)
      .where('e.kind', '=', 'mint')
      .groupBy('k.tenant_ref')
      .execute(),
  );
  return new Map(rows.map(({ tenant_ref, mints, last }) => [tenant_ref, { mints: Number(mints), lastMintAt: last }]));
};

/** Returns the clientIds of one page of active tenants, in the listing's order. */
export const listActiveClients = async (
  ledger: Ledger,
  page: Pick<TenantsListInput, 'after' | 'limit'>,
): Promise<Page<string>> => {
  const { tenants, next } = await readPage(ledger, { ...page, state: 'active' });
  return { tenants: tenants.flatMap(({ client_id }) => (client_id === null ? [] : [client_id])), next };
};

/** The command `tenants-list`. A deleted tenant has no clientId any more, so the list has its reference. */
const listTenants = async (ledger: Ledger, input: TenantsListInput) => {
  const { tenants, next } = await readPage(ledger, input);
  const refs = tenants.map(({ tenant_ref }) => tenant_ref);
  const [found, usage] = await Promise.all([
    dashboardsOf(ledger, refs),
    input.usage === true ? usageOf(ledger, refs) : null,
  ]);
  return {
    tenants: tenants.map(({ tenant_ref, client_id, state, occurred_at, created_at }) => {
      const rows = found.get(tenant_ref) ?? [];
      return {
        clientId: client_id,
        tenantRef: tenant_ref,
        state,
        occurredAt: occurred_at,
        createdAt: created_at,
        outcome: outcomeOf(rows),
        dashboards: rows.map(encodeDashboard),
        ...(usage === null ? {} : { usage: usage.get(tenant_ref) ?? noUsage }),
      };
    }),
    next,
  };
};

export const listTenantsCommand = declareCommand('tenants-list', tenantsListInput, tenantsList, readBy(...readers), {
  title: 'List tenants',
  description: 'Lists tenants with their state and their dashboards.',
});

export const tenantsListCommand = (ledger: Ledger): AdminCommand =>
  adminCommand(listTenantsCommand, (input) => listTenants(ledger, input));
