/** The composition root: every object is built here once, straight down. What it returns is the whole product. */
import { createSecretKey, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Router } from 'express';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createOpenApi } from './contract/openapi.js';
import { bound, type Handlers } from './contract/operations.js';
import { readDemoBundle } from './demo/bundle.js';
import { ensureFlightsData } from './demo/flights-data.js';
import { createDemoHost, demoIssuer, demoKey } from './demo/host.js';
import { seedDemo } from './demo/seed.js';
import type { Clock, Engine, Ids, Store, Tokens } from './domain/ports.js';
import { createEngine } from './engine/engine.js';
import { createHttpTransport } from './gateway/http-transport.js';
import { loadPolicyFile } from './gateway/policy-file.js';
import { createGateway, type Gateway, type GatewayOptions } from './gateway/router.js';
import { createApp } from './http/app.js';
import { type AssetFile, loadAssets } from './http/assets.js';
import { createDispatch, type Dispatch } from './http/bind.js';
import { inProcessTransport } from './http/in-process.js';
import type { Cache } from './platform/cache.js';
import { createMemoryCache } from './platform/cache-memory.js';
import type { Config } from './platform/config.js';
import { type Credentials, loadCredentials } from './platform/credentials.js';
import { openDatabase } from './platform/database.js';
import { createToken, hashToken } from './platform/keys.js';
import { createMetrics } from './platform/metrics.js';
import { migrate } from './store/migrations.js';
import { createStore } from './store/store.js';
import type { Tables } from './store/tables.js';
import { createAuthenticate } from './usecases/authenticate.js';
import { createDashboardEmbed } from './usecases/dashboard-embeds.js';
import { createDataApp } from './usecases/data-apps.js';
import { createEmbed, listEmbedMetrics, listEmbeds } from './usecases/embeds.js';
import {
  downloadGuestCsv,
  getGuestDashboard,
  getGuestMetric,
  listGuestFilterOptions,
  listGuestUnderlying,
  queryGuestMetric,
} from './usecases/guest-reads.js';
import { createGuestToken } from './usecases/guest-tokens.js';
import { queryMetric } from './usecases/metrics.js';
import { listDashboards, listMetrics } from './usecases/workspaces.js';

/** Which halves this process runs. */
export type Halves = { readonly gateway: boolean; readonly service: boolean };
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;
export type Product = { readonly handle: Handle; readonly close: () => Promise<void> };
/** Where this process is reached, what it is, and its log. */
export type Place = { readonly url: string; readonly version: string; readonly log: Logger };

const clock: Clock = { now: () => new Date() };
const ids: Ids = { uuid: randomUUID };
const tokens: Tokens = { create: createToken, hash: hashToken };

type Service = {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly ready: () => Promise<boolean>;
  readonly close: () => Promise<void>;
};

const handlersOf = (store: Store, engine: Engine): Handlers => {
  const deps = { store, engine, clock, ids, tokens };
  return {
    createGuestToken: createGuestToken(deps),
    createEmbed: createEmbed(deps),
    createDashboardEmbed: createDashboardEmbed(deps),
    listEmbeds: listEmbeds(deps),
    listEmbedMetrics: listEmbedMetrics(deps),
    createDataApp: createDataApp(deps),
    listDashboards: listDashboards(deps),
    listMetrics: listMetrics(deps),
    queryMetric: queryMetric(deps),
    getGuestDashboard: getGuestDashboard(deps),
    getGuestMetric: getGuestMetric(deps),
    queryGuestMetric: queryGuestMetric(deps),
    listGuestUnderlying: listGuestUnderlying(deps),
    downloadGuestCsv: downloadGuestCsv(deps),
    listGuestFilterOptions: listGuestFilterOptions(deps),
  };
};

/** The service token that this installation starts with. */
const seedServiceToken = async (store: Store, serviceToken: string): Promise<void> => {
  const hash = tokens.hash(serviceToken);
  if ((await store.serviceTokens.findByHash(hash)) !== undefined) return;
  const id = ids.uuid();
  await store.serviceTokens.insert({
    id,
    name: `first ${id.slice(0, 8)}`,
    hash,
    createdAt: clock.now(),
    expiresAt: null,
  });
};

const composeService = async (config: Config, credentials: Credentials, log: Logger): Promise<Service> => {
  const { dataDir, databaseUrl } = config.settings;
  const database = await openDatabase({ databaseUrl, folder: join(dataDir, 'metadata'), log });
  const db = database.connect<Tables>();
  await migrate(db);
  const store = createStore(db);
  await seedServiceToken(store, credentials.serviceToken);
  const engine = createEngine({ log });
  const authenticate = createAuthenticate({ store, clock, tokens });
  return {
    store,
    dispatch: createDispatch({ operations: bound, handlers: handlersOf(store, engine), authenticate, log }),
    ready: async () => {
      await sql`select 1`.execute(db);
      return true;
    },
    close: async () => {
      await engine.close();
      await database.close();
    },
  };
};

const composeDemo = async (
  config: Config,
  credentials: Credentials,
  service: Promise<Service | null>,
): Promise<Router> => {
  const bundle = await readDemoBundle(join(config.folder, 'demo'));
  const dataDir = resolve(config.settings.dataDir);
  const data = ensureFlightsData(join(dataDir, bundle.organization.datasource.path));
  const seed = service.then(async (opened) => {
    if (opened === null) return;
    await seedDemo({ store: opened.store, clock, ids, tokens }, bundle, { dataDir, apiKey: credentials.demoApiKey });
  });
  await Promise.all([data, seed]);
  const secret = demoKey(credentials.demoJwtSecret);
  return createDemoHost({ users: bundle.users, secret, cookieName: config.settings.gateway.session.cookie, clock });
};

const issuersOf = ({ settings, secrets, isDemo }: Config, credentials: Credentials): GatewayOptions['issuers'] => {
  const { issuer, audience, clockToleranceSeconds } = settings.gateway.session;
  const host = secrets.hostJwtSecret;
  return [
    ...(isDemo ? [{ issuer: demoIssuer, secret: demoKey(credentials.demoJwtSecret), clockToleranceSeconds }] : []),
    ...(host === null
      ? []
      : [
          {
            issuer,
            audience: audience ?? undefined,
            clockToleranceSeconds,
            secret: createSecretKey(Buffer.from(host, 'utf8')),
          },
        ]),
  ];
};

type GatewayParts = {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly dispatch: Dispatch | null;
  readonly cache: Cache;
  readonly place: Place;
};

const upstreamOf = ({ config, credentials, dispatch, place }: GatewayParts): GatewayOptions['upstream'] => {
  const { serviceUrl, timeoutMs } = config.settings.gateway.upstream;
  const apiKey = config.secrets.apiKey ?? credentials.demoApiKey;
  if (serviceUrl !== null)
    return { baseUrl: serviceUrl, apiKey, transport: createHttpTransport({ baseUrl: serviceUrl, timeoutMs }) };
  if (dispatch === null) throw new Error('a gateway alone needs gateway.upstream.serviceUrl');
  return { baseUrl: place.url, apiKey, transport: inProcessTransport(dispatch) };
};

const composeGateway = (parts: GatewayParts): Gateway => {
  const { config, credentials, cache, place } = parts;
  const { session, allowedOrigins, policies, publicServiceUrl, upstream } = config.settings.gateway;
  return createGateway({
    issuers: issuersOf(config, credentials),
    cookieName: session.cookie,
    allowedOrigins,
    policy: loadPolicyFile(resolve(config.folder, policies)),
    upstream: upstreamOf(parts),
    serviceUrl: publicServiceUrl ?? upstream.serviceUrl ?? place.url,
    cache,
    clock,
    log: place.log,
  });
};

const openCache = async ({ settings }: Config, log: Logger): Promise<Cache> => {
  if (settings.redisUrl === null) return createMemoryCache({ clock });
  // Loaded where it is used: its client's import would slow every start.
  const { createRedisCache } = await import('./platform/cache-redis.js');
  return createRedisCache({ url: settings.redisUrl, log });
};

const web = (file: string): string => fileURLToPath(new URL(`web/${file}`, import.meta.url));

const script = 'text/javascript; charset=utf-8';

/** The host page runs its own scripts, and talks to its own origin. */
const demoPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; img-src 'self' data:";

const assetFiles = (isDemo: boolean): Readonly<Record<string, AssetFile>> => ({
  '/elements.js': { file: web('elements.js'), contentType: script, isPublic: true },
  ...(isDemo
    ? {
        '/demo': { file: web('demo.html'), contentType: 'text/html; charset=utf-8', contentSecurityPolicy: demoPolicy },
        '/demo.js': { file: web('demo.js'), contentType: script },
        '/demo.css': { file: web('demo.css'), contentType: 'text/css; charset=utf-8' },
      }
    : {}),
});

/** What this installation signs and calls with; a gateway alone makes nothing of its own. */
const credentialsOf = ({ settings, secrets }: Config): Promise<Credentials> =>
  loadCredentials(settings.dataDir, secrets);

export const compose = async (config: Config, halves: Halves, place: Place): Promise<Product> => {
  const { log } = place;
  const credentials = await credentialsOf(config);
  const service = halves.service ? composeService(config, credentials, log) : Promise.resolve(null);
  const demo = config.isDemo ? composeDemo(config, credentials, service) : Promise.resolve(null);
  const cache = halves.gateway ? await openCache(config, log) : null;
  const [served, demoHost, assets] = await Promise.all([service, demo, loadAssets(assetFiles(config.isDemo))]);
  const gateway =
    cache === null ? null : composeGateway({ config, credentials, dispatch: served?.dispatch ?? null, cache, place });
  const app = createApp({
    service: served === null ? null : { dispatch: served.dispatch, document: () => createOpenApi(bound, place) },
    log,
    metrics: createMetrics(),
    ready: () => served?.ready() ?? true,
    assets,
    routers: demoHost === null ? [] : [demoHost],
  });
  return {
    // The token's path comes before Express's app, whose own cost is most of a request.
    handle: (request, response) =>
      gateway === null ? app(request, response) : gateway(request, response, () => app(request, response)),
    close: async () => {
      await served?.close();
      await cache?.close();
    },
  };
};
