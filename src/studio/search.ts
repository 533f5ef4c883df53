/**
 * Search over what people operate. Each kind of thing is asked from its own store or command, in pages, and only for the
 * roles that may read it elsewhere in Studio. There is no index.
 */
import { z } from 'zod';
import { searchAudit } from '../gateway/audit/commands.js';
import {
  type AdminCommand,
  adminCommand,
  declareCommand,
  type RunBy,
  readBy,
} from '../gateway/common/admin-command.js';
import { readPolicy } from '../gateway/policy/policies.js';
import { listTenantsCommand, mostTenants } from '../gateway/provision/tenants-list.js';
import { listRollouts } from '../gateway/rollout/commands.js';
import { tenantNamesCommand } from '../gateway/tenant/names.js';
import { studioRoles } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import type { AnswerOf, Callable, InputOf, Rule, Unchanging } from '../platform/http/interface/callable.js';
import { listDashboards, listMetrics } from '../service/dashboards/contract/workspace-dashboards.js';
import { listDatamarts } from '../service/datamarts/contract/datamarts.js';
import { listDatasources } from '../service/datasources/contract/datasources.js';
import { listGuestTokens } from '../service/guest-tokens/contract/admin.js';
import { listTemplateSchedules } from '../service/schedules/contract/template-schedules.js';
import type { FoundPage, SearchStore, Wanted } from '../service/store/search.js';
import { assertMay, mayCall, notOffered } from './access.js';
import { listSchedules } from './schedules.js';

/** Something that was found. What `id` and `within` name depends on the kind. */
const hit = z.object({
  id: z.string(),
  name: z.string(),
  detail: z.string(),
  /** The tenant of a token or of a user's schedule, the dashboard of a metric. */
  within: z.string().optional(),
  workspace: z.string().optional(),
});
type Hit = Unchanging<z.output<typeof hit>>;

type Asking = { readonly by: RunBy; readonly wanted: Wanted };
type Kind = {
  /** What a person may call who may search it, and so what its hits tell. */
  readonly rule: Rule;
  readonly find: (asking: Asking) => Promise<FoundPage<Hit>>;
};

/** The kinds by name, in the order in which they are shown. */
export type Search = Readonly<Record<string, Kind>>;

export type SearchDeps = {
  readonly store: SearchStore;
  /** Those of the gateway. */
  readonly commands: readonly AdminCommand[];
  /** Undefined: it is not there yet, and so nothing that belongs to it. */
  readonly dataAppId: () => Promise<string | undefined>;
  readonly now: () => Date;
};

/** A page of a list that its source answers whole. */
const pageOf = (all: readonly Hit[], { words, after, limit }: Wanted): FoundPage<Hit> => {
  const start = /^\d{1,9}$/.test(after ?? '') ? Number(after) : 0;
  const own = all.filter(({ id, name, detail }) => {
    const text = `${name} ${detail} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word.toLowerCase()));
  });
  const next = own.length > start + limit ? String(start + limit) : null;
  return { found: own.slice(start, start + limit), next };
};

const mapped = <T>({ found, next }: FoundPage<T>, hitOf: (one: T) => Hit): FoundPage<Hit> => ({
  found: found.map(hitOf),
  next,
});

/** Of the data app of the policy in force. */
const inDataApp = async <T>(
  { dataAppId }: SearchDeps,
  find: (dataAppId: string) => Promise<FoundPage<T>>,
): Promise<FoundPage<T>> => {
  const id = await dataAppId();
  return id === undefined ? { found: [], next: null } : find(id);
};

/** What the organization built. */
const builtKinds = (store: SearchStore): Search => ({
  dashboard: {
    rule: listDashboards,
    find: async ({ wanted }) =>
      mapped(await store.dashboards(wanted), ({ dashboardId: id, name, workspaceName: workspace }) => ({
        ...{ id, name, workspace, detail: id },
      })),
  },
  metric: {
    rule: listMetrics,
    find: async ({ wanted }) =>
      mapped(await store.metrics(wanted), ({ metricId: id, metricName, dashboardId, name, workspaceName }) => ({
        ...{ id, name: metricName, within: dashboardId, workspace: workspaceName, detail: `on ${name}` },
      })),
  },
  source: {
    rule: listDatasources,
    find: async ({ wanted }) => mapped(await store.datasources(wanted), ({ name }) => ({ id: name, name, detail: '' })),
  },
  model: {
    rule: listDatamarts,
    find: async ({ wanted }) =>
      mapped(await store.datamarts(wanted), ({ name, datasourceName }) => ({
        ...{ id: name, name, detail: `of ${datasourceName}` },
      })),
  },
});

const runnerOf =
  (commands: readonly AdminCommand[]) =>
  async <Command extends Callable>(
    { by }: Asking,
    { name, output }: Command,
    input: InputOf<Command>,
  ): Promise<AnswerOf<Command>> => {
    const command = commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`the gateway has no command ${name}`);
    return output.parse(await command.run(input, by)) as AnswerOf<Command>;
  };

type Run = ReturnType<typeof runnerOf>;

/** Tenants whose name contains the words, as many as a page has. The name is data of the tenants' table. */
const tenantsByName = async (run: Run, asking: Asking) => {
  const { words, limit } = asking.wanted;
  if (!mayCall(asking.by, tenantNamesCommand) || words.length === 0) return [];
  const { names } = await run(asking, tenantNamesCommand, { words });
  const clientIds = names.slice(0, mostTenants).map(({ clientId }) => clientId);
  return (await run(asking, listTenantsCommand, { clientIds, limit })).tenants;
};

const namesOf = async (run: Run, asking: Asking, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  if (!mayCall(asking.by, tenantNamesCommand) || ids.length === 0) return new Map();
  const { names } = await run(asking, tenantNamesCommand, { clientIds: ids });
  return new Map(names.map(({ clientId, name }) => [clientId, name]));
};

/** By id and by name. */
const tenantKind = (run: Run): Kind => ({
  rule: listTenantsCommand,
  find: async (asking) => {
    const { words, after, limit } = asking.wanted;
    const input = { contains: words, limit, ...(after === null ? {} : { after }) };
    const { tenants, next } = await run(asking, listTenantsCommand, input);
    const named = after === null ? await tenantsByName(run, asking) : [];
    const listed = new Map([...named, ...tenants].map((tenant) => [tenant.clientId, tenant] as const));
    const ids = [...listed.keys()].flatMap((id) => id ?? []);
    const names = await namesOf(run, asking, ids);
    const found = [...listed.values()].flatMap(({ clientId: id, state }) => {
      if (id === null) return [];
      const name = names.get(id);
      return [name === undefined ? { id, name: id, detail: state } : { id, name, detail: `${id}, ${state}` }];
    });
    return { found, next };
  },
});

/** What the gateway knows, by the commands of Studio's pages. */
const gatewayKinds = ({ commands }: Pick<SearchDeps, 'commands'>): Search => {
  const run = runnerOf(commands);
  return {
    tenant: tenantKind(run),
    template: {
      rule: readPolicy,
      find: async (asking) => {
        const { templates } = await run(asking, readPolicy, {});
        return pageOf(
          templates.map(({ template: id, name }) => ({ id, name, detail: id })),
          asking.wanted,
        );
      },
    },
    rollout: {
      rule: listRollouts,
      find: async (asking) => {
        const { rollouts } = await run(asking, listRollouts, {});
        const hits = rollouts.map(({ id, template, state, startedAt }) => ({
          ...{ id, name: template, detail: `${state}, ${startedAt.slice(0, 10)}` },
        }));
        return pageOf(hits, asking.wanted);
      },
    },
    audit: {
      rule: searchAudit,
      find: async (asking) => {
        const { words, after, limit } = asking.wanted;
        const input = { words, limit, ...(after === null ? {} : { after }) };
        const { entries, next } = await run(asking, searchAudit, input);
        const found = entries.map(({ seq, at, kind, code, tenant, user }) => ({
          id: String(seq),
          name: `${seq}: ${kind} ${code}`,
          detail: [tenant, user, at.slice(0, 16).replace('T', ' ')].filter((part) => part !== undefined).join(', '),
        }));
        return { found, next };
      },
    },
  };
};

/** Tokens of users, and schedules of users and of the host. Who may not see data neither sees nor can search for a user by the whole name. */
const userKinds = (deps: SearchDeps): Search => ({
  token: {
    rule: listGuestTokens,
    find: async ({ by: { seesData: byUser }, wanted }) =>
      mapped(
        await inDataApp(deps, (dataAppId) => deps.store.guestTokens({ dataAppId, now: deps.now(), byUser }, wanted)),
        ({ id, clientId, userIdentifier, createdAt }) => ({
          ...{ id, within: clientId, name: userIdentifier ?? clientId },
          detail: `${clientId}, since ${createdAt.toISOString().slice(0, 16).replace('T', ' ')}`,
        }),
      ),
  },
  schedule: {
    rule: listSchedules,
    find: async ({ by: { seesData: byUser }, wanted }) =>
      mapped(
        await inDataApp(deps, (dataAppId) => deps.store.schedules({ dataAppId, byUser }, wanted)),
        ({ id, name, format, clientId, userIdentifier }) => ({
          ...{ id, name, within: clientId },
          detail: userIdentifier === null ? `${format}, ${clientId}` : `${format} of ${userIdentifier}, ${clientId}`,
        }),
      ),
  },
  'tenant-report': {
    rule: listTemplateSchedules,
    find: async ({ wanted }) =>
      mapped(
        await inDataApp(deps, (dataAppId) => deps.store.hostSchedules(dataAppId, wanted)),
        ({ id, name, format, template }) => ({
          ...{ id, name, detail: `${format} of ${template}` },
        }),
      ),
  },
});

export const createSearch = (deps: SearchDeps): Search => {
  const { tenant, ...gateway } = gatewayKinds(deps);
  return { ...(tenant === undefined ? {} : { tenant }), ...builtKinds(deps.store), ...userKinds(deps), ...gateway };
};

const mostWords = 8;
/** Hits of each kind at first, and on a page of one kind. */
const firstHits = 5;
const pageHits = 20;

export const searchCommand = declareCommand(
  'search',
  z.strictObject({
    q: z
      .string()
      .max(200)
      .regex(/^[^\p{Cc}\p{Cs}]+$/u)
      .refine((text) => text.trim() !== '', { error: 'at least one word' })
      .describe('Words of at most 200 characters together.'),
    kind: z.string().max(20).optional().describe('Of an earlier answer: asks for a longer page of this kind.'),
    after: z.string().min(1).max(2000).optional().describe('The `next` of an earlier answer.'),
  }),
  z.object({
    groups: z.array(
      z.object({
        kind: z.string(),
        hits: z.array(hit),
        next: z.string().nullable(),
        /** The source of this kind cannot be asked now. */
        isAway: z.boolean(),
      }),
    ),
  }),
  // Each kind has roles of its own.
  readBy(...studioRoles),
);

/**
 * Finds what the person may read and contains all words; of one kind, a longer page. A kind without hits whose `next` is
 * not null was not searched to its end.
 */
export const createSearchCommand = (search: Search): AdminCommand =>
  adminCommand(searchCommand, async ({ q, kind, after = null }, by) => {
    const words = q.split(/\s+/).filter(Boolean).slice(0, mostWords);
    const find = async (name: string, { find: ask }: Kind, limit: number) => {
      try {
        const { found, next } = await ask({ by, wanted: { words, after, limit } });
        return { kind: name, hits: found, next, isAway: false };
      } catch (error) {
        // What cannot be asked now must not hide what was found elsewhere.
        if (!(error instanceof Refusal) || error.code !== 'UPSTREAM_UNAVAILABLE') throw error;
        return { kind: name, hits: [], next: null, isAway: true };
      }
    };
    if (kind === undefined) {
      const mine = Object.entries(search).filter(([, { rule }]) => mayCall(by, rule));
      const groups = await Promise.all(mine.map(([name, one]) => find(name, one, firstHits)));
      return { groups: groups.filter(({ hits, next, isAway }) => hits.length > 0 || next !== null || isAway) };
    }
    const wanted = Object.hasOwn(search, kind) ? search[kind] : undefined;
    if (wanted === undefined) throw notOffered(`searching for ${kind}`);
    assertMay(by, `searching for ${kind}`, wanted.rule);
    return { groups: [await find(kind, wanted, pageHits)] };
  });
