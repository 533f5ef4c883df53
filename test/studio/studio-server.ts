/** Studio's router over recorded parts, and logins of people with any roles. */

import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { z } from 'zod';
import { type Answer, type CommandName, gatewayCommands } from '../../src/compose/commands.js';
import type { AuditEvent } from '../../src/gateway/audit/audit.js';
import { identifierOf } from '../../src/gateway/authenticate/signed-session.js';
import { adminCommand } from '../../src/gateway/common/admin-command.js';
import type { Viewing } from '../../src/gateway/view-as.js';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { AuthorCaller, Caller } from '../../src/model/guest/caller.js';
import type { IssuerToken, Person, StudioSession } from '../../src/model/person.js';
import type { Clock } from '../../src/model/ports.js';
import type { AnswerHistory, QueryNote } from '../../src/model/query/watch.js';
import { Refusal } from '../../src/model/refusal.js';
import type { WatchedSchedule } from '../../src/model/schedule/schedule.js';
import type { Callable } from '../../src/platform/http/interface/callable.js';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import type { Dispatch, DispatchRequest } from '../../src/platform/http/wire/bind.js';
import { beginning } from '../../src/platform/http/wire/request.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { createSealer } from '../../src/platform/keys/sealing.js';
import { noGuard } from '../../src/platform/limits/credential-guard.js';
import { operations } from '../../src/service/operations.js';
import type { FoundPage, SearchStore, Wanted } from '../../src/service/store/search.js';
import type { StudioSessionStore } from '../../src/service/store/studio-sessions.js';
import { createAssistantPath } from '../../src/studio/assistants.js';
import { keyCommands } from '../../src/studio/keys.js';
import { createLoginLinks } from '../../src/studio/login-links.js';
import type { OpenId } from '../../src/studio/openid.js';
import { peopleCommands } from '../../src/studio/people.js';
import { type ProcessParts, processCommands } from '../../src/studio/process-commands.js';
import { createRecheck, withRecheck } from '../../src/studio/recheck.js';
import { reportPreviewCommand } from '../../src/studio/report-preview.js';
import { createStudioRouter } from '../../src/studio/router.js';
import { scheduleCommands } from '../../src/studio/schedules.js';
import { createSearch, createSearchCommand } from '../../src/studio/search.js';
import { createStudioSessions, studioCookie } from '../../src/studio/sessions.js';
import { listUploadsCommand, removingFiles, type Uploads } from '../../src/studio/uploads.js';
import { type ViewParts, viewCommands } from '../../src/studio/view-commands.js';
import { createViews } from '../../src/studio/views.js';
import { createWork } from '../../src/studio/work.js';

/** Sessions in memory, as the store keeps them. */
const memorySessions = (): StudioSessionStore => {
  const kept = new Map<string, StudioSession>();
  const issuerTokens = new Map<string, IssuerToken>();
  const all = (): readonly StudioSession[] => [...kept.values()];
  return {
    insert: async (session, issuerToken) => {
      kept.set(session.id, session);
      if (issuerToken !== null) issuerTokens.set(session.id, issuerToken);
    },
    listLive: async (moment) => all().filter(({ expiresAt }) => expiresAt > moment),
    findIssuerToken: async (id) => (kept.has(id) ? issuerTokens.get(id) : undefined),
    beginRecheck: async (id, before, now) => {
      const session = kept.get(id);
      if (session === undefined || session.askedAt?.getTime() !== before?.getTime()) return false;
      kept.set(id, { ...session, askedAt: now });
      return true;
    },
    noteRecheck: async (id, issuerToken, vouched) => {
      const session = kept.get(id);
      if (session === undefined) return false;
      issuerTokens.set(id, issuerToken);
      if (vouched !== null) kept.set(id, { ...session, person: vouched.person, vouchedAt: vouched.at });
      return true;
    },
    findByHash: async (hash) => all().find((session) => session.hash === hash),
    findById: async (id) => kept.get(id),
    listOf: async (issuer) => all().filter(({ person }) => person.issuer === issuer),
    noteUse: async (id, now) => {
      const session = kept.get(id);
      if (session !== undefined) kept.set(id, { ...session, usedAt: now });
    },
    end: async (id) => void kept.delete(id),
    endAllOf: async ({ issuer, subject }) => {
      const own = all().filter(({ person }) => person.issuer === issuer && person.subject === subject);
      for (const { id } of own) kept.delete(id);
      return own.length;
    },
    removeExpired: async (moment) => {
      for (const { id, expiresAt } of all()) if (expiresAt < moment) kept.delete(id);
    },
  };
};

export const personWith = (roles: Person['roles'], seesData = true, subject = roles.join('-')): Person => ({
  issuer: 'https://people.example.com',
  subject,
  name: subject,
  roles,
  seesData,
});

type Authored = { readonly caller: AuthorCaller; readonly definition: MetricDefinition };

export type StudioServer = {
  readonly url: string;
  /** What reached the service, and as whom. */
  readonly dispatched: DispatchRequest[];
  readonly commands: string[];
  readonly audited: AuditEvent[];
  /** Schedules that were paused or resumed. */
  readonly paused: [id: string, isPaused: boolean][];
  /** What the stores were searched for. */
  readonly searched: Wanted[];
  /** Metrics of authors that reached the service, and as whom. */
  readonly authored: Authored[];
  /** Whose mail was read, as `tenant user`. */
  readonly mailsRead: string[];
  /** How views were opened. */
  readonly looked: Viewing[];
  /** By whom and of what keys were made. */
  readonly made: (readonly [caller: Caller, input: object])[];
  readonly links: ReturnType<typeof createLoginLinks>;
  readonly sessions: ReturnType<typeof createStudioSessions>;
  /** Headers of a person who is logged in. */
  readonly as: (person: Person) => Promise<Readonly<Record<string, string>>>;
  readonly close: () => void;
};

const someQuery: QueryNote = {
  ...{ id: '1', at: new Date(0), dataAppId: 'app', clientId: 'acme', datasource: 'main', requestId: 'r' },
  ...{ ms: 5, rows: 1, failure: null, sql: 'SELECT 1' },
};

const someTime = { dataAppId: 'app', clientId: 'acme', ms: 15 };

const someFigures = { answers: 4, kept: 3, failed: 1, p50: 5, p95: 9 };

const someHistory: AnswerHistory = {
  ...{ since: new Date(0), stepMinutes: 10, others: 0, dashboards: [] },
  steps: [{ at: new Date(0), ...someFigures }],
  tenants: [{ dataAppId: 'app', clientId: 'acme', freshAt: null, ...someFigures }],
};

/** Its user is named by an address. */
export const someSchedule: WatchedSchedule = {
  ...{ id: '7b1f4a34-6d0c-4a39-9a55-0f5e0b1f4c11', dashboardId: 'stored', openedId: 'delays--acme' },
  ...{ name: 'Each morning', format: 'alert', catchUp: 'once', isPaused: false, mutedUntil: null, channel: null },
  recipients: null,
  recurrence: { every: 'day', at: '08:00', timezone: 'UTC' },
  owner: {
    dataAppId: 'app',
    clientId: 'acme',
    userIdentifier: identifierOf('https://login.example', 'ann@customer.example'),
  },
  ...{ nextAt: new Date(0), createdAt: new Date(0) },
  last: { moment: new Date(0), state: 'failed', reason: 'mail-refused', finishedAt: new Date(4000) },
};

/** One thing of each kind, each named acme. Users of tokens are found by name only if they were asked for. */
const someFinds = (askedFor: Wanted[]): SearchStore => {
  const one =
    <T>(found: T) =>
    async (wanted: Wanted): Promise<FoundPage<T>> => {
      askedFor.push(wanted);
      return { found: [found], next: '5' };
    };
  const dashboard = { dashboardId: 'acme-board', name: 'Acme', workspaceName: 'w' };
  const token = { id: 't', clientId: 'acme', createdAt: new Date(0) };
  const schedule = { id: someSchedule.id, name: 'Each morning', format: 'alert', clientId: 'acme' };
  return {
    dashboards: one(dashboard),
    metrics: one({ ...dashboard, metricId: 'm', metricName: 'Acme sales' }),
    datasources: one({ name: 'acme-db' }),
    datamarts: one({ name: 'acme-model', datasourceName: 'acme-db' }),
    guestTokens: ({ dataAppId, byUser }, wanted) => {
      const userIdentifier = byUser ? 'ann@customer.example' : null;
      return dataAppId === 'app' ? one({ ...token, userIdentifier })(wanted) : never();
    },
    schedules: ({ dataAppId, byUser }, wanted) => {
      const userIdentifier = byUser ? 'ann@customer.example' : null;
      return dataAppId === 'app' ? one({ ...schedule, userIdentifier })(wanted) : never();
    },
    hostSchedules: (dataAppId, wanted) =>
      dataAppId === 'app'
        ? one({ id: 'h', name: 'Acme week', format: 'pdf' as const, template: 'delays' })(wanted)
        : never(),
  };
};

/** What the gateway's commands answer where somebody reads the answer. */
const at = '2026-01-01T00:00:00.000Z';
type CommandAnswers = { readonly [Name in CommandName]?: Answer<Name> };
const commandAnswers: CommandAnswers = {
  'tenants-list': {
    tenants: [
      {
        ...{ clientId: 'acme', tenantRef: 'ref', state: 'active', occurredAt: null, createdAt: at },
        ...{ outcome: 'none', dashboards: [] },
      },
    ],
    next: 'cursor',
  },
  'tenants-names': { names: [] },
  'viewers-list': { viewers: [] },
  'policy-read': {
    ...{ digest: 'd', dataApp: 'shop', workspace: 'shop', datamart: 'shop', claims: {}, files: [], tenantClaim: null },
    ...{ roles: '[]', templates: [{ template: 'acme', name: 'Acme' }], columnUses: [] },
  },
  'rollout-list': {
    rollouts: [{ id: 'r', template: 'acme', version: 'v', state: 'finished', startedBy: null, startedAt: at }],
  },
  'audit-search': { entries: [{ seq: 7, at, kind: 'mint', code: 'OK', tenant: 'acme' }], next: null },
};

const never = async (): Promise<never> => {
  throw new Error('this installation takes no files');
};
/** An installation whose operator turned uploads off. */
const noUploads: Uploads = {
  refusal: 'Uploads are turned off.',
  maxBytes: 0,
  folder: { create: never, kindOf: () => undefined, remove: never, removeUnfinished: never },
  readFileKind: never,
  makeDatabase: never,
  findSource: async () => undefined,
  listSources: async () => [],
};

const guestCaller = {
  kind: 'guest',
  grant: { id: 'of-the-user', clientId: 'LAX', userIdentifier: 'ann' },
} as const;

export const startStudioServer = async (
  clock: Clock,
  openId: OpenId | null = null,
  offered: Readonly<Record<string, Operation>> = operations,
  given: {
    readonly uploads?: Uploads;
    readonly dispatch?: Dispatch;
    readonly auditFails?: () => boolean;
    readonly isDataAppMissing?: boolean;
    /** What commands answer in place of the usual. */
    readonly commandAnswers?: CommandAnswers;
    /** Gets the signal of a preview, which ends only with it. */
    readonly answersNever?: (signal: AbortSignal) => void;
  } = {},
): Promise<StudioServer> => {
  const tokens = { create: createToken, hash: hashToken, isSame: isSameHash };
  const ids = { uuid: randomUUID };
  const times = { idleMinutes: 60, sessionHours: 12, recheckMinutes: 5, recheckGraceMinutes: 30 };
  const store = memorySessions();
  const links = createLoginLinks({ clock, tokens });
  const dispatched: DispatchRequest[] = [];
  const commands: string[] = [];
  const audited: AuditEvent[] = [];
  const paused: [string, boolean][] = [];
  const searched: Wanted[] = [];
  const audit = {
    record: async (event: AuditEvent) => {
      if (given.auditFails?.() === true) throw new Error('the audit is full');
      audited.push(event);
    },
  };
  const dispatch: Dispatch = async (request) => {
    dispatched.push(request);
    if (given.dispatch !== undefined) return given.dispatch(request);
    return {
      status: 200,
      headers: {},
      contentType: 'application/json',
      body: { data: 'answered' },
      operation: 'any',
    };
  };
  const { uploads = noUploads } = given;
  const log = pino({ level: 'silent' });
  const sessions = withRecheck(
    createStudioSessions({ store, clock, ids, tokens, times }),
    createRecheck({ store, openId, clock, times, audit, log }),
  );
  const authored: Authored[] = [];
  const mailsRead: string[] = [];
  const looked: Viewing[] = [];
  const made: (readonly [Caller, object])[] = [];
  const make = async (caller: Caller, input: object) => {
    made.push([caller, input]);
    return { key: 'the-new-key' };
  };
  const recorded = gatewayCommands.map((declaration: Callable) =>
    adminCommand({ ...declaration, input: z.looseObject({}) }, async () => {
      const name = declaration.name as CommandName;
      commands.push(name);
      return given.commandAnswers?.[name] ?? commandAnswers[name] ?? null;
    }),
  );
  const process: ProcessParts = {
    readSigningKeys: () => ({ keys: [], sets: [] }),
    readSystem: async () => ({
      version: '1.2.3',
      checks: [],
      settings: {},
      numbers: [],
      live: { sources: [], cache: null },
    }),
    queries: {
      read: () => ({
        since: new Date(0),
        slowest: [someQuery],
        finished: [someQuery],
        failed: [{ ...someQuery, id: '2' }],
      }),
      plan: async (id) => (id === '1' ? 'Seq Scan' : null),
      history: () => someHistory,
    },
    use: { times: async () => [someTime], dataApps: async () => new Map([['app', 'flights']]) },
  };
  const schedules = {
    list: async (clientId?: string) => ({
      schedules: clientId === undefined || clientId === 'acme' ? [someSchedule] : [],
      hasMore: false,
    }),
    setPaused: async (id: string, isPaused: boolean) => {
      paused.push([id, isPaused]);
      return id === someSchedule.id;
    },
  };
  const viewing: Pick<ViewParts, 'viewAs' | 'authoring'> = {
    viewAs: async ({ clientId }, viewing) => {
      looked.push(viewing);
      const times = { expiresAt: '', refreshAfter: '' };
      return { token: 'the-users-token', ...times, embeds: [], serviceUrl: '', clientId, because: [], missing: [] };
    },
    authoring: {
      preview: async (caller, { definition }, signal) => {
        authored.push({ caller, definition });
        if (given.answersNever !== undefined) {
          given.answersNever(signal);
          return new Promise((_, ended) => signal.addEventListener('abort', () => ended(signal.reason)));
        }
        const answer = { rows: [{ n: 1 }], columns: [], groupbyColumnList: [], totalRecords: 1 };
        return { metricId: 'preview', answer, timeTakenInMs: 0 };
      },
      describe: async (caller, { definition }) => {
        authored.push({ caller, definition });
        return { sql: 'SELECT $1', columns: [] };
      },
      turnIntoSql: async (caller, { definition }) => {
        authored.push({ caller, definition });
        const { chart, filters, rlsVariables, sort, limit } = definition;
        const texts = { sql: 'SELECT 1 AS n', dimensions: [], measures: [{ name: 'n' }] };
        return { definition: { kind: 'sql', chart, filters, rlsVariables, sort, limit, ...texts }, columns: [] };
      },
    },
  };
  const dataAppId = async () => {
    if (given.isDataAppMissing === true) throw new Refusal('UPSTREAM_UNAVAILABLE', 'There is no data app.');
    return 'app';
  };
  const views = createViews(createSealer(Buffer.alloc(32, 7)));
  const authenticate = async () => guestCaller as never;
  const all = [
    ...recorded,
    ...processCommands(process),
    ...scheduleCommands(schedules),
    ...peopleCommands(sessions),
    ...keyCommands({
      ...{ createApiKey: make, createServiceToken: make, rotateApiKey: make, rotateServiceToken: make },
      findKey: async ({ name }) => (name === 'known' ? { kind: 'serviceToken', tokenId: 'of-known' } : undefined),
    }),
    ...viewCommands({ views, authenticate, audit, ...viewing }),
    reportPreviewCommand({
      audit,
      dataApp: async () => ({ kind: 'apiKey', keyId: 'none', dataAppId: 'app', dataAppName: 'app' }),
      preview: async (_, { clientId, user }) => {
        mailsRead.push(`${clientId} ${user}`);
        return { subject: 'Daily', html: '', text: '', files: [{ name: 'a.csv', bytes: 1 }] };
      },
    }),
    createSearchCommand(createSearch({ store: someFinds(searched), commands: recorded, dataAppId, now: clock.now })),
    listUploadsCommand(uploads),
  ];
  const work = createWork({
    ...{ operations: offered, audit, commands: all },
    dispatch: removingFiles({ uploads, log }, dispatch),
    dataApp: async () => ({ kind: 'apiKey', keyId: 'none', dataAppId: 'app', dataAppName: 'app' }),
  });
  const router = createStudioRouter({
    ...{ sessions, links, operations: offered },
    openId,
    ...{ views, dispatch, authenticate },
    work,
    assistants: createAssistantPath({
      ...{ sessions, work, operations: offered, commands: all, guard: noGuard, version: '1.2.3' },
      addressOf: () => '127.0.0.1',
      origins: { allowedOrigins: [], publicOrigin: null },
      log,
    }),
    audit,
    addressOf: () => '127.0.0.1',
    guard: noGuard,
    origins: { allowedOrigins: [], publicOrigin: null },
    isSecure: false,
    log,
    uploads,
    page: (_, response) => void response.send('the page'),
  });
  const begin = beginning({ log });
  const server: Server = createServer(
    express()
      .use((request, response, next) => {
        begin(request, response);
        next();
      })
      .use(router),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    ...{ url, dispatched, commands, audited, paused, searched, authored, mailsRead, looked, made, links, sessions },
    as: async (person) => {
      const { cookie } = await sessions.logIn(person);
      const headers = { cookie: `${studioCookie}=${cookie}` };
      const answer = (await (await fetch(`${url}/studio/session`, { headers })).json()) as {
        data: { changeToken: string };
      };
      return { ...headers, 'x-guestlist-change': answer.data.changeToken, 'content-type': 'application/json' };
    },
    close: () => void server.close(),
  };
};
