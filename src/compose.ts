/** The composition root: every object is built here once, straight down. What it returns is the whole product. */
import { createSecretKey, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { createDocument } from './contract/openapi.js';
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
import { createDispatch, type Dispatch } from './http/bind.js';
import { inProcessTransport } from './http/in-process.js';
import type { Cache } from './platform/cache.js';
import { createMemoryCache } from './platform/cache-memory.js';
import { createRedisCache } from './platform/cache-redis.js';
import type { Config } from './platform/config.js';
import { type Credentials, loadCredentials } from './platform/credentials.js';
import { openDatabase } from './platform/database.js';
import { createToken, hashToken } from './platform/keys.js';
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
/** Where this process is reached, and its log. */
export type Place = { readonly url: string; readonly log: Logger };

const clock: Clock = { now: () => new Date() };
const ids: Ids = { uuid: randomUUID };
const tokens: Tokens = { create: createToken, hash: hashToken };

type Service = { readonly dispatch: Dispatch; readonly store: Store; readonly close: () => Promise<void> };

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
    close: async () => {
      await engine.close();
      await database.close();
    },
  };
};

const composeDemo = async (config: Config, credentials: Credentials, store: Promise<Store>): Promise<Router> => {
  const bundle = await readDemoBundle(join(config.folder, 'demo'));
  const dataDir = resolve(config.settings.dataDir);
  const data = ensureFlightsData(join(dataDir, bundle.organization.datasource.path));
  await Promise.all([
    data,
    store.then((opened) =>
      seedDemo({ store: opened, clock, ids, tokens }, bundle, { dataDir, apiKey: credentials.demoApiKey }),
    ),
  ]);
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

const openCache = ({ settings }: Config, log: Logger): Promise<Cache> =>
  settings.redisUrl === null
    ? Promise.resolve(createMemoryCache({ clock }))
    : createRedisCache({ url: settings.redisUrl, log });

const web = (file: string): string => fileURLToPath(new URL(`web/${file}`, import.meta.url));
