/** Gateway, service and Studio in this process, over HTTP, on the rows of the isolation suite. The policy is replaced at will. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import jwt from 'jsonwebtoken';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { assistantOpener } from '../../src/compose/assistant.js';
import { openGateway } from '../../src/compose/open-gateway.js';
import { createOwnService, loadDataAppCaller } from '../../src/compose/own-service.js';
import { createReports } from '../../src/compose/reports.js';
import { openService, type Service } from '../../src/compose/service.js';
import { openShared } from '../../src/compose/shared.js';
import { openStudio } from '../../src/compose/studio.js';
import type { Dashboard, DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import { hostMade, type MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { RenderRequest } from '../../src/model/guest/render.js';
import type { Datasource } from '../../src/model/organization.js';
import type { Person } from '../../src/model/person.js';
import type { Engine } from '../../src/model/query/engine.js';
import { loadConfig } from '../../src/platform/config/config.js';
import type { Credentials } from '../../src/platform/config/credentials.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { serveOperations } from '../../src/platform/http/wire/operations.js';
import { beginning } from '../../src/platform/http/wire/request.js';
import { fixedKeys, secretKey } from '../../src/platform/keys/jwt-keys.js';
import { createToken, hashToken, isSameHash } from '../../src/platform/keys/keys.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { createEmbed } from '../../src/service/embeds/contract/embeds.js';
import { createLoginLinks } from '../../src/studio/login-links.js';
import { createStudioSessions, studioCookie } from '../../src/studio/sessions.js';
import { stays } from '../engine/world.js';
import { openTestDatabase } from '../suites/metadata.js';

const issuer = 'host';
const secret = 'a secret of a host that only this test knows';
const now = new Date(Date.UTC(2026, 0, 1));
const clock = { now: () => now };
const names = { dataApp: 'shop', workspace: 'space', datamart: 'sales' } as const;

export type Board = {
  readonly id: string;
  readonly filters: readonly DashboardFilter[];
  readonly metrics: readonly { readonly name: string; readonly definition: MetricDefinition }[];
};
export type Answered = { readonly status: number; readonly text: string };
export type Ask = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Answered>;
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The parts of a policy that a case draws. */
export type PolicyParts = Readonly<Record<'templates' | 'rules' | 'restrictions', unknown>>;

const policyText = (parts: PolicyParts): string =>
  JSON.stringify({
    ...{ version: 1, ...names },
    session: {
      claims: { org: 'string', roles: 'list<string>', label: 'string', codes: 'list<string>' },
      tenant: 'claims.org',
      roles: 'claims.roles',
    },
    ...parts,
  });

const noPolicy: PolicyParts = { templates: {}, rules: [], restrictions: [] };

const configOf = (folder: string) => {
  const limits = { guestTokenPerMinute: null, guestAddressPerMinute: null };
  const path = join(folder, 'guestlist.yaml');
  const env = { GUESTLIST_CONFIG: path, GUESTLIST_HOST_JWT_SECRET: secret };
  return writeFile(path, JSON.stringify({ dataDir: folder, limits })).then(() =>
    loadConfig(env, path, { runsGateway: true, runsService: true }),
  );
};

const seed = async (store: Service['store'], { datasource, mart, boards }: Seeded): Promise<void> => {
  await store.dataApps.insert({ id: 'app', name: names.dataApp, createdAt: now, updatedAt: now });
  await store.datasources.insert(datasource);
  await store.datamarts.insert({ ...mart, name: names.datamart, datasourceId: datasource.id });
  await store.workspaces.insert({
    ...{ id: 'w', name: names.workspace, connectionType: 'MULTI_DATAMART' },
    ...{ datasourceId: null, datamartId: null },
  });
  for (const { id, filters, metrics } of boards) {
    const placed = metrics.map((metric, at) => ({ ...metric, metricId: `${id}-${at}` }));
    const dashboard: Dashboard = {
      ...{ id: `board-${id}`, externalDashboardId: id, workspaceId: 'w', name: id, owner: null, templateId: null },
      layout: placed.map(({ metricId }, at) => ({ metricId, x: 0, y: at * 4, w: 12, h: 4 })),
      ...{ gridMargin: [], filters, metadata: null, isAllowPrivateMetricsByDefault: false },
    };
    await store.dashboards.insert(dashboard);
    for (const metric of placed)
      await store.metrics.insert({ ...metric, workspaceId: 'w', lineage: [], owner: null, ...hostMade });
    const cards = placed.map(({ metricId }) => ({ metricId, placement: 'METRIC' as const }));
    await store.dashboards.placeMetrics(dashboard.id, cards, now);
  }
};

/** Embeds the first metric of each dashboard alone, for all clients. */
const embedMetrics = (service: Service, boards: readonly Board[]): Promise<readonly string[]> => {
  const call = inProcessTransport(service.dispatch, () => loadDataAppCaller(service, names.dataApp));
  const [{ method, path } = { method: 'POST' as const, path: '' }] = createEmbed.bindings;
  return Promise.all(
    boards.map(async ({ id }) => {
      const body = { embedType: 'metric', dashboardId: id, metricId: `${id}-0`, workspaceName: names.workspace };
      const answer = await call({ method: method as 'POST', path, query: {}, body, bearer: '' }, stays);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return (answer.body as { id: string }).id;
    }),
  );
};

type Seeded = { readonly datasource: Datasource; readonly mart: Datamart; readonly boards: readonly Board[] };

const keys: Pick<Credentials, 'keyRing' | 'keySource'> = { keyRing: [Buffer.alloc(32, 7)], keySource: 'the test' };
const credentials = {
  ...{ serviceToken: createToken(), demoApiKey: createToken(), demoJwtSecret: createToken() },
  ...{ gatewayToken: createToken(), ...keys },
};

/** The text of what would be drawn, and with which rights: a drawing is made of the answers to these. */
const drawing = async ({ caller: { grant, author }, target, format, language }: RenderRequest): Promise<Uint8Array> => {
  const { id: _, createdAt: __, expiresAt: ___, epoch: ____, revision: _____, ...right } = grant;
  return Buffer.from(JSON.stringify({ right, author, target, format, language }));
};

export const startStudioWorld = async (engine: Engine, seeded: Seeded) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-studio-world-'));
  const policyPath = join(folder, 'policy.yaml');
  await writeFile(policyPath, policyText(noPolicy));
  const config = await configOf(folder);
  const log = pino({ level: 'silent' });
  const database = await openTestDatabase();
  const shared = await openShared({ config, clock, log, registry: new Registry() }, true);
  if (shared.gateway === null) throw new Error('no gateway');
  const { admission } = shared;
  const tokens = { create: createToken, hash: hashToken, isSame: isSameHash };
  const ids = { uuid: randomUUID };
  const { reports } = createReports(null);
  const service = await openService({
    ...{ credentials, engine, database, limits: admission.limits, clock, ids, tokens, log, reports, dataDir: folder },
    openAssistant: assistantOpener({ ...config, limiters: shared.limiters, clock, log }),
    openRenderer: async () => ({ render: drawing, close: async () => {} }),
    findTheme: () => null,
    times: { hourDays: 35, usageDays: 1100, tokensDays: 7, deliveriesDays: 90 },
    warmUpTimes: { at: null, timezone: 'UTC', questions: 0, questionsPerTenant: 1 },
    operated: {
      ...{ running: createRunningWork(clock), live: () => ({ sources: [], cache: null }), commonClock: clock },
      self: { name: 'here', version: '1.2.3' },
    },
  });
  await seed(service.store, seeded);
  const embeds = await embedMetrics(service, seeded.boards);
  const gateway = await openGateway({
    issuers: [{ issuer, algorithms: ['HS256'], keys: fixedKeys([secretKey(secret)]), clockToleranceSeconds: 0 }],
    ...{ cookieName: null, allowedOrigins: [], publicOrigin: null, policyPath, database },
    times: { archive: null, explanationsDays: 1, deliveriesDays: 90, sessionsDays: 30 },
    ...{ gatewayToken: credentials.gatewayToken, cache: shared.gateway.cache, clock, log },
    upstream: createOwnService(service, { apiKey: null, keyRing: credentials.keyRing }),
    serviceUrl: 'http://service.test',
  });
  const sessions = createStudioSessions({
    ...{ store: service.store.studioSessions, clock, ids, tokens },
    times: config.settings.studio,
  });
  const studio = openStudio({
    ...{ config, credentials, service, gateway, admission, sessions, clock, log, reports },
    ...{ version: '1.2.3', origin: 'http://studio.test', page: (_, response) => void response.end() },
    links: createLoginLinks({ clock, tokens }),
    readSystem: async () => ({ version: '1.2.3', checks: [], settings: {}, numbers: [] }),
    readSigningKeys: () => ({ keys: [], sets: [] }),
    queries: {
      read: () => ({ since: now, clients: [], slowest: [], finished: [], failed: [] }),
      plan: async () => null,
      history: () => ({ since: now, stepMinutes: 10, steps: [], tenants: [], dashboards: [], others: 0 }),
    },
  });
  const begin = beginning({ log });
  const served = { dispatch: service.dispatch, addressOf: admission.addressOf, begin, log };
  const guests = serveOperations({ ...served, roots: ['/api/v2/guest'], headers: [] });
  const server = createServer(
    express()
      .use(guests)
      .use((request, response, next) => {
        begin(request, response);
        next();
      })
      .use(gateway.router)
      .use(studio.router),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const asking =
    (base: string, headers: Readonly<Record<string, string>>): Ask =>
    async (method, path, body) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}${base}${path}`, {
        ...{ method, headers: { ...headers, 'content-type': 'application/json' } },
        ...sent,
      });
      return { status: answer.status, text: Buffer.from(await answer.arrayBuffer()).toString('latin1') };
    };
  return {
    /** Puts a policy in force. Rejects if it has faults. */
    govern: async (parts: PolicyParts): Promise<void> => {
      await writeFile(policyPath, policyText(parts));
      const operator = asking('', { authorization: `Bearer ${credentials.gatewayToken}` });
      const { status, text } = await operator('POST', '/gateway/admin/policy-reload', {});
      if (status !== 200) throw new Error(text);
    },
    /** The embed token that the gateway mints for a session of this user. */
    logIn: (claims: Claims): Promise<Answered> => {
      const seconds = Math.floor(now.getTime() / 1000);
      const session = jwt.sign({ ...claims, iss: issuer, iat: seconds, exp: seconds + 3600 }, secret);
      return asking('', { authorization: `Bearer ${session}` })('POST', '/embed-token', {});
    },
    /** A person at Studio: opens views as users, and sends what only a page of Studio may. */
    enter: async (person: Person): Promise<Ask> => {
      const { cookie } = await sessions.logIn(person);
      const own = { cookie: `${studioCookie}=${cookie}` };
      const { text } = await asking('/studio', own)('GET', '/session');
      const { changeToken } = (JSON.parse(text) as { data: { changeToken: string } }).data;
      return asking('/studio', { ...own, 'x-guestlist-change': changeToken });
    },
    issuer,
    /** Embeds of the first metric of each board that no client owns. */
    embeds,
    asGuest: (token: string): Ask => asking('/api/v2/guest', { authorization: `Bearer ${token}` }),
    asView: (view: string): Ask => asking('/studio/as/api/v2/guest', { authorization: `Bearer ${view}` }),
    close: async (): Promise<void> => {
      await new Promise((resolve) => server.close(resolve));
      await studio.close();
      await gateway.close();
      await service.close();
      await shared.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
