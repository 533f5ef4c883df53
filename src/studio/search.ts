/**
 * Search over what people operate. Each kind of thing is asked from its own store or command, in pages, and only for the
 * roles that may read it elsewhere in Studio. There is no index.
 */
import type { Request, Response } from 'express';
import { z } from 'zod';
import { listDatamarts } from '../contract/datamarts.js';
import { listDatasources } from '../contract/datasources.js';
import { listGuestTokens } from '../contract/guest-token-admin.js';
import { listTemplateSchedules } from '../contract/template-schedules.js';
import { listDashboards, listMetrics } from '../contract/workspace-dashboards.js';
import { Refusal } from '../domain/refusal.js';
import type { FoundPage, SearchStore, Wanted } from '../domain/store/search.js';
import { hasRole, type Person, type StudioRole } from '../domain/studio/person.js';
import { needsData, type Reads } from '../domain/studio/reads.js';
import { searchAudit } from '../gateway/audit/commands.js';
import type { Origins } from '../gateway/authenticate/credential.js';
import type { CommandDeclaration } from '../gateway/common/admin-command.js';
import { readPolicy } from '../gateway/policy/policies.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import { listRollouts } from '../gateway/rollout/commands.js';
import { assertReads, assertRole } from './access.js';
import { loggedInOf, requestIdOf, sendData } from './requests.js';
import { listSchedules } from './schedules.js';
import type { StudioSessions } from './sessions.js';
import type { Work } from './work.js';

/** Something that was found. What `id` and `within` name depends on the kind. */
export type Hit = {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** The tenant of a token or of a user's schedule, the dashboard of a metric. */
  readonly within?: string;
  readonly workspace?: string;
};

type Asking = { readonly person: Person; readonly requestId: string; readonly wanted: Wanted };
type Kind = {
  readonly roles: readonly StudioRole[];
  /** What hits tell. Left out: definitions. */
  readonly reads?: Reads;
  readonly find: (asking: Asking) => Promise<FoundPage<Hit>>;
};

/** The kinds by name, in the order in which they are shown. */
export type Search = Readonly<Record<string, Kind>>;

export type SearchDeps = {
  readonly store: SearchStore;
  readonly work: Pick<Work, 'runCommand'>;
  readonly dataAppId: () => Promise<string>;
  readonly now: () => Date;
};

const ruleOf = ({ studio }: CommandDeclaration): Pick<Kind, 'roles' | 'reads'> => ({
  roles: studio?.roles ?? [],
  reads: studio?.reads ?? 'rows',
});

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

/** What the organization built. */
const builtKinds = (store: SearchStore): Search => ({
  dashboard: {
    roles: listDashboards.roles ?? [],
    find: async ({ wanted }) =>
      mapped(await store.dashboards(wanted), ({ dashboardId: id, name, workspaceName: workspace }) => ({
        ...{ id, name, workspace, detail: id },
      })),
  },
  metric: {
    roles: listMetrics.roles ?? [],
    find: async ({ wanted }) =>
      mapped(await store.metrics(wanted), ({ metricId: id, metricName, dashboardId, name, workspaceName }) => ({
        ...{ id, name: metricName, within: dashboardId, workspace: workspaceName, detail: `on ${name}` },
      })),
  },
  source: {
    roles: listDatasources.roles ?? [],
    find: async ({ wanted }) => mapped(await store.datasources(wanted), ({ name }) => ({ id: name, name, detail: '' })),
  },
  model: {
    roles: listDatamarts.roles ?? [],
    find: async ({ wanted }) =>
      mapped(await store.datamarts(wanted), ({ name, datasourceName }) => ({
        ...{ id: name, name, detail: `of ${datasourceName}` },
      })),
  },
});

type Tenants = {
  readonly tenants: readonly { clientId: string | null; state: string }[];
  readonly next: string | null;
};
type Rollouts = { readonly rollouts: readonly { id: string; template: string; state: string; startedAt: string }[] };
type Entries = {
  readonly entries: readonly { seq: number; at: string; kind: string; code: string; tenant?: string; user?: string }[];
  readonly next: string | null;
};

/** What the gateway knows, by the commands of Studio's pages, which check the person's roles once more. */
const gatewayKinds = ({ work }: Pick<SearchDeps, 'work'>): Search => {
  const run = async <T>({ person, requestId }: Asking, { name }: CommandDeclaration, input: object): Promise<T> =>
    (await work.runCommand(person, { name, readInput: async () => input, requestId })) as T;
  return {
    tenant: {
      ...ruleOf(listTenantsCommand),
      find: async (asking) => {
        const { words, after, limit } = asking.wanted;
        const input = { contains: words, limit, ...(after === null ? {} : { after }) };
        const { tenants, next } = await run<Tenants>(asking, listTenantsCommand, input);
        const found = tenants.flatMap(({ clientId: id, state }) =>
          id === null ? [] : [{ id, name: id, detail: state }],
        );
        return { found, next };
      },
    },
    template: {
      ...ruleOf(readPolicy),
      find: async (asking) => {
        type Read = { readonly templates: readonly { template: string; name: string }[] };
        const { templates } = await run<Read>(asking, readPolicy, {});
        return pageOf(
          templates.map(({ template: id, name }) => ({ id, name, detail: id })),
          asking.wanted,
        );
      },
    },
    rollout: {
      ...ruleOf(listRollouts),
      find: async (asking) => {
        const { rollouts } = await run<Rollouts>(asking, listRollouts, {});
        const hits = rollouts.map(({ id, template, state, startedAt }) => ({
          ...{ id, name: template, detail: `${state}, ${startedAt.slice(0, 10)}` },
        }));
        return pageOf(hits, asking.wanted);
      },
    },
    audit: {
      ...ruleOf(searchAudit),
      find: async (asking) => {
        const { words, after, limit } = asking.wanted;
        const input = { words, limit, ...(after === null ? {} : { after }) };
        const { entries, next } = await run<Entries>(asking, searchAudit, input);
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
const userKinds = ({ store, dataAppId, now }: SearchDeps): Search => ({
  token: {
    roles: listGuestTokens.roles ?? [],
    find: async ({ person: { seesData: byUser }, wanted }) =>
      mapped(
        await store.guestTokens({ dataAppId: await dataAppId(), now: now(), byUser }, wanted),
        ({ id, clientId, userIdentifier, createdAt }) => ({
          ...{ id, within: clientId, name: userIdentifier ?? clientId },
          detail: `${clientId}, since ${createdAt.toISOString().slice(0, 16).replace('T', ' ')}`,
        }),
      ),
  },
  schedule: {
    ...ruleOf(listSchedules),
    find: async ({ person: { seesData: byUser }, wanted }) =>
      mapped(
        await store.schedules({ dataAppId: await dataAppId(), byUser }, wanted),
        ({ id, name, format, clientId, userIdentifier }) => ({
          ...{ id, name, within: clientId },
          detail: userIdentifier === null ? `${format}, ${clientId}` : `${format} of ${userIdentifier}, ${clientId}`,
        }),
      ),
  },
  'tenant-report': {
    roles: listTemplateSchedules.roles ?? [],
    find: async ({ wanted }) =>
      mapped(await store.hostSchedules(await dataAppId(), wanted), ({ id, name, format, template }) => ({
        ...{ id, name, detail: `${format} of ${template}` },
      })),
  },
});

export const createSearch = (deps: SearchDeps): Search => {
  const { tenant, ...gateway } = gatewayKinds(deps);
  return { ...(tenant === undefined ? {} : { tenant }), ...builtKinds(deps.store), ...userKinds(deps), ...gateway };
};

const query = z.strictObject({
  q: z
    .string()
    .max(200)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u)
    .refine((text) => text.trim() !== ''),
  kind: z.string().max(20).optional(),
  after: z.string().min(1).max(2000).optional(),
});

const mostWords = 8;
/** Hits of each kind at first, and on a page of one kind. */
const firstHits = 5;
const pageHits = 20;

const queryOf = (request: Request) => {
  const { data } = query.safeParse(request.query);
  if (data !== undefined) return data;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    'Send the query parameter q: words of at most 200 characters together. kind and after, of an earlier answer, are for the next page of one kind.',
  );
};

type Options = { readonly sessions: StudioSessions; readonly origins: Origins; readonly search: Search };

/**
 * `GET /studio/search`: what the person may read and contains all words; of one kind, a longer page. A kind without hits
 * whose `next` is not null was not searched to its end.
 */
export const createSearchPath = (options: Options) => {
  const loggedIn = loggedInOf(options);
  const { search } = options;
  return async (request: Request, response: Response): Promise<void> => {
    const { person } = (await loggedIn(request)).session;
    const { q, kind, after = null } = queryOf(request);
    const words = q.split(/\s+/).filter(Boolean).slice(0, mostWords);
    const requestId = requestIdOf(response);
    const find = async (name: string, { find: ask }: Kind, limit: number) => {
      try {
        const { found, next } = await ask({ person, requestId, wanted: { words, after, limit } });
        return { kind: name, hits: found, next, isAway: false };
      } catch (error) {
        // What cannot be asked now must not hide what was found elsewhere.
        if (!(error instanceof Refusal) || error.code !== 'UPSTREAM_UNAVAILABLE') throw error;
        return { kind: name, hits: [], next: null, isAway: true };
      }
    };
    if (kind === undefined) {
      const mine = Object.entries(search).filter(
        ([, { roles, reads = 'definitions' }]) => hasRole(person, roles) && (person.seesData || !needsData(reads)),
      );
      const groups = await Promise.all(mine.map(([name, one]) => find(name, one, firstHits)));
      return sendData(response, {
        groups: groups.filter(({ hits, next, isAway }) => hits.length > 0 || next !== null || isAway),
      });
    }
    const wanted = Object.hasOwn(search, kind) ? search[kind] : undefined;
    assertRole(person, `searching for ${kind}`, wanted?.roles);
    assertReads(person, wanted?.reads ?? 'definitions');
    return sendData(response, { groups: wanted === undefined ? [] : [await find(kind, wanted, pageHits)] });
  };
};
