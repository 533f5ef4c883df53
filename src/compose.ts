/** The composition root: every object is built here once, straight down. What it returns is the whole product. */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { startBackground } from './background.js';
import type { GatewayOptions } from './compose/create-gateway.js';
import { openEngine } from './compose-engine.js';
import { composeService, type Service } from './compose-service.js';
import { createOpenApi } from './contract/openapi.js';
import { bound } from './contract/operations.js';
import { type DemoBundle, readDemoBundle } from './demo/bundle.js';
import { createDemoHost, demoKey } from './demo/host.js';
import { seedDemo } from './demo/seed.js';
import { capabilityNames } from './domain/capability.js';
import type { Clock, Ids, Tokens } from './domain/ports.js';
import { fixedCapabilities } from './gateway/upstream/capabilities.js';
import { createHttpUpstream } from './gateway/upstream/http-upstream.js';
import type { ProductMetrics } from './gateway-metrics.js';
import { createApp, createManagementApp } from './http/app.js';
import { loadAssets } from './http/assets.js';
import type { Dispatch } from './http/bind.js';
import { createGuestFront } from './http/guest-front.js';
import { inProcessTransport } from './http/in-process.js';
import { type Handle, inTurn } from './http/in-turn.js';
import type { Admissions } from './open-admission.js';
import { type OpenedGateway, openGateway } from './open-gateway.js';
import { lossEvents, type Metadata, openConfiguredMetadata } from './open-metadata.js';
import { openShared } from './open-shared.js';
import type { Cache } from './platform/cache.js';
import { createOpened, type Opened } from './platform/closing.js';
import type { Config } from './platform/config.js';
import { type Credentials, loadCredentials } from './platform/credentials.js';
import { createToken, hashToken, isSameHash } from './platform/keys.js';
import type { Limiters } from './platform/limiter.js';
import { createMetrics } from './platform/metrics.js';
import { createReadiness } from './platform/readiness.js';
import { doorsOf } from './product-doors.js';
import { readinessChecks } from './readiness-checks.js';
import { createIssuers } from './session-issuers.js';
import { assetFiles } from './web-files.js';

/** Which halves this process runs. */
export type Halves = {
  readonly gateway: boolean;
  readonly service: boolean;
  /** Whether the operator goes on without what the embedded database lost. */
  readonly acceptsLoss?: boolean;
};
export type Product = {
  readonly handle: Handle;
  /** Of the management port. */
  readonly manage: Handle;
  readonly close: () => Promise<void>;
};
/** Where this process is reached, what it is, and its log. */
export type Place = { readonly url: string; readonly version: string; readonly log: Logger };

const clock: Clock = { now: () => new Date() };
const ids: Ids = { uuid: randomUUID };
const tokens: Tokens = { create: createToken, hash: hashToken, isSame: isSameHash };

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
  readonly admissions: Admissions;
  readonly metadata: Metadata;
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

/** It listens at every address of the machine: which of them callers use, they say. */
const isAnyAddress = ({ settings }: Config): boolean => ['0.0.0.0', '::'].includes(settings.server.host);

const composeGateway = (parts: GatewayParts): Promise<OpenedGateway> => {
  const { config, credentials, cache, limiters, metadata, place, metrics } = parts;
  const { addressOf, note } = parts.admissions;
  const { failedCredentialsPerMinute } = config.settings.limits;
  const { session, allowedOrigins, publicOrigin, policies, publicServiceUrl, upstream, hooks, limits } =
    config.settings.gateway;
  return openGateway({
    issuers: createIssuers(config, credentials, { clock, log: place.log }),
    cookieName: session.cookie,
    allowedOrigins,
    publicOrigin,
    policyPath: resolve(config.folder, policies),
    database: metadata.database,
    firstEvents: lossEvents(metadata.loss),
    explanationDays: config.settings.gateway.audit.explanationDays,
    gatewayToken: credentials.gatewayToken,
    isAdminApart: config.settings.management.port !== null,
    upstream: upstreamOf(parts),
    serviceUrl: publicServiceUrl ?? upstream.serviceUrl ?? publicOrigin ?? (isAnyAddress(config) ? null : place.url),
    hooks: { secrets: config.secrets.hookSecrets, ...hooks },
    cache,
    limits: { settings: { ...limits, failedCredentialsPerMinute }, limiters, addressOf, note },
    readVariable: config.readVariable,
    metrics,
    clock,
    log: place.log,
  });
};

/** What this installation signs and calls with; a gateway alone makes nothing of its own. */
const credentialsOf = ({ settings, secrets }: Config): Promise<Credentials> =>
  loadCredentials(settings.dataDir, secrets);

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
  const [{ engine, prepare }, metadata, shared] = await Promise.all([
    opened.add(openEngine({ config, bundle, encryptionKey, clock, log, registry }, halves.service)),
    opened.add(openConfiguredMetadata(config, halves, encryptionKey, log)),
    opened.add(openShared({ config, clock, log, registry }, halves.gateway)),
  ]);
  const { database } = metadata;
  const { addressOf, limits } = shared.admissions;
  const service = halves.service
    ? opened.add(composeService({ credentials, engine, database, limits, clock, ids, tokens, log }))
    : null;
  const demo = bundle === null ? Promise.resolve(null) : composeDemo(config, credentials, bundle, service);
  const assetsLoading = loadAssets(assetFiles(config.isDemo));
  const [served, demoHost, assets] = await Promise.all([service, demo, assetsLoading]);
  const dispatch = served?.dispatch ?? null;
  const parts = { config, credentials, dispatch, metadata, place, ...shared };
  const gateway = shared.gateway === null ? null : await opened.add(composeGateway({ ...parts, ...shared.gateway }));
  metadata.startMarking();
  const document = () => createOpenApi(bound, place);
  const api = served === null ? null : { dispatch: served.dispatch, addressOf, document };
  const guestFront = api === null ? null : createGuestFront({ ...api, log, metrics });
  const readiness = createReadiness(readinessChecks(config, database, [served, gateway?.router]), log);
  const operated = {
    service: api,
    log,
    metrics,
    ready: readiness.failed,
  };
  const doors = doorsOf(config, credentials, served?.authenticate ?? null);
  const app = createApp({ ...operated, assets, doors, routers: demoHost === null ? [] : [demoHost] });
  await opened.add(Promise.resolve(startBackground({ store: served?.store ?? null, engine, prepare, log })));
  return {
    // The paths of tokens and of guests come before Express's app, whose own cost is most of such a request.
    handle: inTurn([guestFront, gateway?.router ?? null], app),
    manage: createManagementApp({ ...operated, routers: gateway === null ? [] : [gateway.router.admin] }),
    close: opened.closeAll,
  };
};
