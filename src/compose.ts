/** The composition root: every object is built here once, straight down. What it returns is the whole product. */
import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { startBackground } from './background.js';
import { openEngine } from './compose-engine.js';
import { createOpenApi } from './contract/openapi.js';
import { bound } from './contract/operations.js';
import { type DemoBundle, readDemoBundle } from './demo/bundle.js';
import { createDemoHost, demoKey } from './demo/host.js';
import { seedDemo } from './demo/seed.js';
import { capabilityNames } from './domain/capability.js';
import { keyHintOf } from './domain/organization.js';
import type { Clock, Digest, Engine, Ids, Store, Tokens } from './domain/ports.js';
import { createSqlRewriter } from './engine/sql-rewriter.js';
import type { GatewayOptions } from './gateway/router.js';
import { fixedCapabilities } from './gateway/upstream/capabilities.js';
import { createHttpUpstream } from './gateway/upstream/http-upstream.js';
import { createGatewayMetrics, type ProductMetrics } from './gateway-metrics.js';
import { createHandlers } from './handlers.js';
import { createApp } from './http/app.js';
import { loadAssets } from './http/assets.js';
import { createDispatch, type Dispatch } from './http/bind.js';
import { formsOf } from './http/forms.js';
import { createGuestFront } from './http/guest-front.js';
import { inProcessTransport } from './http/in-process.js';
import { type OpenedGateway, openGateway } from './open-gateway.js';
import { openShared } from './open-shared.js';
import type { Cache } from './platform/cache.js';
import { createOpened, type Opened } from './platform/closing.js';
import type { Config } from './platform/config.js';
import { type Credentials, loadCredentials } from './platform/credentials.js';
import { type Database, openDatabase } from './platform/database.js';
import { createToken, hashToken, isSameHash } from './platform/keys.js';
import type { Limiters } from './platform/limiter.js';
import { createMetrics } from './platform/metrics.js';
import { type Check, createReadiness } from './platform/readiness.js';
import { createSealer } from './platform/sealing.js';
import { readinessChecks } from './readiness-checks.js';
import { createIssuers } from './session-issuers.js';
import { assertMetadataWritable, migrate } from './store/migrations.js';
import { createStore } from './store/store.js';
import type { Tables } from './store/tables.js';
import { startUpkeep } from './upkeep.js';
import { createAuthenticate } from './usecases/authenticate.js';
import { createLastUses } from './usecases/last-use.js';
import { assetFiles } from './web-files.js';

/** Which halves this process runs. */
export type Halves = { readonly gateway: boolean; readonly service: boolean };
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;
export type Product = { readonly handle: Handle; readonly close: () => Promise<void> };
/** Where this process is reached, what it is, and its log. */
export type Place = { readonly url: string; readonly version: string; readonly log: Logger };

const clock: Clock = { now: () => new Date() };
const ids: Ids = { uuid: randomUUID };
const digest: Digest = (text) => hash('sha256', text, 'hex');
const tokens: Tokens = { create: createToken, hash: hashToken, isSame: isSameHash };

type Service = {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly checks: readonly Check[];
  readonly close: () => Promise<void>;
};

/** The service token that this installation starts with; one that was revoked or rotated stays so. */
const seedServiceToken = async (store: Store, serviceToken: string): Promise<void> => {
  const hash = tokens.hash(serviceToken);
  if (await store.serviceTokens.isKnown(hash)) return;
  const id = ids.uuid();
  await store.serviceTokens.insert({
    id,
    name: `first ${id.slice(0, 8)}`,
    hash,
    keyHint: keyHintOf(serviceToken),
    createdAt: clock.now(),
    expiresAt: null,
  });
};

const composeService = async (
  credentials: Credentials,
  engine: Engine,
  database: Database,
  log: Logger,
): Promise<Service> => {
  const sealer = createSealer(Buffer.from(credentials.encryptionKey, 'base64'));
  const db = database.connect<Tables>();
  await migrate(db);
  const store = createStore(db, sealer, database.writes);
  await seedServiceToken(store, credentials.serviceToken);
  const lastUses = createLastUses({ store, clock, log });
  const upkeep = startUpkeep({ store, clock, lastUses, log });
  const authenticate = createAuthenticate({ store, clock, tokens, lastUses });
  return {
    store,
    dispatch: createDispatch({
      operations: bound,
      handlers: createHandlers({ store, engine, clock, ids, tokens, sqlRewriter: createSqlRewriter(), digest }),
      authenticate,
      log,
    }),
    checks: [{ name: 'metadata', run: () => assertMetadataWritable(db) }],
    close: async () => {
      await engine.close();
      await upkeep.end();
    },
  };
};

const composeDemo = async (
  config: Config,
  credentials: Credentials,
  bundle: DemoBundle,
  service: Promise<Service> | null,
): Promise<Router> => {
  const dataDir = resolve(config.settings.dataDir);
  const opened = await service;
  if (opened !== null) {
    await seedDemo({ store: opened.store, clock, ids, tokens }, bundle, { dataDir, apiKey: credentials.demoApiKey });
  }
  const secret = demoKey(credentials.demoJwtSecret);
  return createDemoHost({ users: bundle.users, secret, cookieName: config.settings.gateway.session.cookie, clock });
};

type GatewayParts = {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly dispatch: Dispatch | null;
  readonly cache: Cache;
  readonly limiters: Limiters;
  readonly database: Database;
  readonly place: Place;
  readonly metrics: ProductMetrics;
};

const upstreamOf = ({ config, credentials, dispatch, place, metrics }: GatewayParts): GatewayOptions['upstream'] => {
  const { serviceUrl, ...settings } = config.settings.gateway.upstream;
  const apiKey = config.secrets.apiKey ?? credentials.demoApiKey;
  if (serviceUrl !== null)
    return createHttpUpstream({ baseUrl: serviceUrl, apiKey, settings, clock, log: place.log, metrics });
  if (dispatch === null) throw new Error('a gateway alone needs gateway.upstream.serviceUrl');
  const capabilities = fixedCapabilities(capabilityNames);
  // By no address: replicas of both halves share one database, and what one of them verified there holds for all.
  return { baseUrl: 'in-process', apiKey, transport: inProcessTransport(dispatch), capabilities };
};

const composeGateway = (parts: GatewayParts): Promise<OpenedGateway> => {
  const { config, credentials, cache, limiters, database, place, metrics } = parts;
  const { session, allowedOrigins, publicOrigin, policies, publicServiceUrl, upstream, hooks, limits } =
    config.settings.gateway;
  return openGateway({
    issuers: createIssuers(config, credentials, { clock, log: place.log }),
    cookieName: session.cookie,
    allowedOrigins,
    publicOrigin,
    policyPath: resolve(config.folder, policies),
    database,
    explanationDays: config.settings.gateway.audit.explanationDays,
    gatewayToken: credentials.gatewayToken,
    upstream: upstreamOf(parts),
    serviceUrl: publicServiceUrl ?? upstream.serviceUrl ?? place.url,
    hooks: { secrets: config.secrets.hookSecrets, ...hooks },
    cache,
    limits: { settings: limits, limiters },
    readVariable: config.readVariable,
    metrics,
    clock,
    log: place.log,
  });
};

/** One for both halves: the embedded database belongs to one process, and to one folder of it. */
const openFor = ({ settings }: Config, halves: Halves, log: Logger): Promise<Database> =>
  openDatabase({
    databaseUrl: settings.databaseUrl,
    folder: join(settings.dataDir, halves.service ? 'metadata' : 'gateway'),
    log,
  });

/** What this installation signs and calls with; a gateway alone makes nothing of its own. */
const credentialsOf = ({ settings, secrets }: Config): Promise<Credentials> =>
  loadCredentials(settings.dataDir, secrets);

type Front = (...asked: [...Parameters<Handle>, next: () => void]) => void;

/** Whoever does not answer leaves it to the next. */
const inTurn = (fronts: readonly (Front | null)[], last: Handle): Handle =>
  fronts.reduceRight<Handle>(
    (next, front) => (front === null ? next : (...asked) => front(...asked, () => next(...asked))),
    last,
  );

/** Rejects where something cannot be opened; what was opened by then is closed again. */
export const compose = async (config: Config, halves: Halves, place: Place): Promise<Product> => {
  const opened = createOpened();
  try {
    return await composeAll(config, halves, place, opened);
  } catch (error) {
    await opened.closeAll().catch((err: unknown) => place.log.error({ err }, 'what was opened could not be closed'));
    throw error;
  }
};

const composeAll = async (config: Config, halves: Halves, place: Place, opened: Opened): Promise<Product> => {
  const { log } = place;
  const credentials = await credentialsOf(config);
  const bundle = config.isDemo ? await readDemoBundle(join(config.folder, 'demo')) : null;
  const metrics = createMetrics();
  const { registry } = metrics;
  const { encryptionKey } = credentials;
  const [{ engine, prepare }, database] = await Promise.all([
    opened.add(openEngine({ config, bundle, encryptionKey, clock, log, registry }, halves.service)),
    opened.add(openFor(config, halves, log)),
  ]);
  const service = halves.service ? opened.add(composeService(credentials, engine, database, log)) : null;
  const demo = bundle === null ? Promise.resolve(null) : composeDemo(config, credentials, bundle, service);
  const shared = halves.gateway
    ? opened.add(openShared({ config, clock, log, metrics: createGatewayMetrics(registry) }))
    : null;
  const assetsLoading = loadAssets(assetFiles(config.isDemo));
  const [served, demoHost, counted, assets] = await Promise.all([service, demo, shared, assetsLoading]);
  const dispatch = served?.dispatch ?? null;
  const gateway =
    counted === null
      ? null
      : await opened.add(composeGateway({ config, credentials, dispatch, database, place, ...counted }));
  const forms = formsOf(Object.values(bound));
  const guestFront = served === null ? null : createGuestFront({ dispatch: served.dispatch, log, metrics });
  const readiness = createReadiness(readinessChecks(config, database, [served, gateway?.router]), log);
  const app = createApp({
    service: served === null ? null : { dispatch: served.dispatch, document: () => createOpenApi(bound, place), forms },
    log,
    metrics,
    ready: readiness.failed,
    assets,
    routers: demoHost === null ? [] : [demoHost],
  });
  await opened.add(Promise.resolve(startBackground({ store: served?.store ?? null, engine, prepare, log })));
  return {
    // The paths of tokens and of guests come before Express's app, whose own cost is most of such a request.
    handle: inTurn([guestFront, gateway?.router ?? null], app),
    close: opened.closeAll,
  };
};
