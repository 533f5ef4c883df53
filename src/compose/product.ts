/**
 * The composition of the product: `compose` builds every object once, straight down. A shutdown closes what was built
 * in the opposite order. Nothing in this folder decides about a request; only main.ts and the command line import it.
 */
import { randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { createOpenApi } from '../contract/openapi.js';
import { type DemoBundle, readDemoBundle } from '../demo/bundle.js';
import { createDemoHost, demoKey } from '../demo/host.js';
import { seedDemo } from '../demo/seed.js';
import { capabilityNames } from '../domain/capability.js';
import type { Clock, Ids, Tokens } from '../domain/ports.js';
import type { Engine } from '../domain/query/engine.js';
import { Refusal } from '../domain/refusal.js';
import type { Store } from '../domain/store/store.js';
import { fixedCapabilities } from '../gateway/upstream/capabilities.js';
import { createHttpUpstream } from '../gateway/upstream/http-upstream.js';
import type { Authenticate } from '../http/admission.js';
import { createApp, createManagementApp } from '../http/app.js';
import { type AssetFile, loadAssets } from '../http/assets.js';
import type { Dispatch } from '../http/bind.js';
import { type Doors, openDoors } from '../http/doors.js';
import { createGuestFront } from '../http/guest-front.js';
import { inProcessTransport } from '../http/in-process.js';
import { type Handle, inTurn } from '../http/in-turn.js';
import type { Config } from '../platform/config.js';
import { type Credentials, loadCredentials } from '../platform/credentials.js';
import type { Database } from '../platform/database.js';
import { createToken, hashToken, isSameHash } from '../platform/keys.js';
import type { Log } from '../platform/log.js';
import { createMetrics } from '../platform/metrics.js';
import { type Check, createReadiness } from '../platform/readiness.js';
import { logUnreadableTables } from '../usecases/datamarts/tenancy.js';
import { openEngine } from './engine.js';
import { type GatewayOptions, type OpenedGateway, openGateway } from './gateway.js';
import { lossEvents, type Metadata, openConfiguredMetadata } from './metadata.js';
import { operations } from './operations.js';
import { openService, type Service } from './service.js';
import { createIssuers } from './session-issuers.js';
import { openShared, type Shared, type SharedOfGateway } from './shared.js';

/** Which halves this process runs. */
export type Halves = {
  readonly gateway: boolean;
  readonly service: boolean;
  /** Whether the operator accepts that the embedded database lost acknowledged writes. */
  readonly acceptsLoss?: boolean;
};

/** What the composition needs to know of the process that it runs in. */
export type ProcessContext = {
  /** Where callers reach this process. */
  readonly url: string;
  readonly version: string;
  /** Folder of the built browser files. */
  readonly webFolder: string;
  readonly log: Logger;
};

export type Product = {
  readonly handle: Handle;
  /** Answers on the management port. */
  readonly manage: Handle;
  readonly close: () => Promise<void>;
};

const clock: Clock = { now: () => new Date() };
const ids: Ids = { uuid: randomUUID };
const tokens: Tokens = { create: createToken, hash: hashToken, isSame: isSameHash };

/** Rejects if a part cannot be opened; the parts that were opened by then are closed again. */
export const compose = async (config: Config, halves: Halves, context: ProcessContext): Promise<Product> => {
  const resources = createResources();
  try {
    return await composeInOrder(config, halves, context, resources);
  } catch (error) {
    await resources
      .closeAll()
      .catch((err: unknown) =>
        context.log.error({ event: 'start.cleanup_failed', err }, 'failed to close what a failed start had opened'),
      );
    throw error;
  }
};

const composeInOrder = async (
  config: Config,
  halves: Halves,
  context: ProcessContext,
  resources: Resources,
): Promise<Product> => {
  const { log } = context;
  const credentials = await loadCredentials(config.settings.dataDir, config.secrets);
  const bundle = config.isDemo ? await readDemoBundle(join(config.folder, 'demo')) : null;
  const metrics = createMetrics();
  const { registry } = metrics;
  const { encryptionKey } = credentials;
  const [{ engine, prepare }, metadata, shared] = await Promise.all([
    resources.add(openEngine({ config, bundle, encryptionKey, clock, log, registry }, halves.service)),
    resources.add(openConfiguredMetadata(config, halves, encryptionKey, log)),
    resources.add(openShared({ config, clock, log, registry }, halves.gateway)),
  ]);
  const { database } = metadata;
  const { addressOf, limits } = shared.admission;
  const serviceOpening = halves.service
    ? resources.add(openService({ credentials, engine, database, limits, clock, ids, tokens, log }))
    : null;
  const [service, demoHost, assets] = await Promise.all([
    serviceOpening,
    bundle === null ? null : openDemo(config, credentials, bundle, serviceOpening),
    loadAssets(assetFiles(context.webFolder, config.isDemo)),
  ]);
  const parts = { config, credentials, dispatch: service?.dispatch ?? null, shared, metadata, context };
  const gateway = shared.gateway === null ? null : await resources.add(openConfiguredGateway(parts, shared.gateway));
  metadata.startMarking();
  const document = () => createOpenApi(operations, context);
  const api = service === null ? null : { dispatch: service.dispatch, addressOf, document };
  const guestFront = api === null ? null : createGuestFront({ ...api, log, metrics });
  const readiness = createReadiness(readinessChecks(config, database, [service, gateway?.router]), log);
  const operated = { service: api, log, metrics, ready: readiness.failed };
  const doors = createDoors(config, credentials, service?.authenticate ?? null);
  const app = createApp({ ...operated, assets, doors, routers: demoHost === null ? [] : [demoHost] });
  await resources.add(Promise.resolve(startBackground({ store: service?.store ?? null, engine, prepare, log })));
  return {
    // The paths of tokens and of guests come before Express's app, whose own cost is most of such a request.
    handle: inTurn([guestFront, gateway?.router ?? null], app),
    manage: createManagementApp({ ...operated, routers: gateway === null ? [] : [gateway.router.admin] }),
    close: resources.closeAll,
  };
};

/** What was opened so far, in the order of opening. */
type Resources = {
  /** Remembers to close what `opening` resolves to. */
  readonly add: <T extends { readonly close: () => Promise<void> }>(opening: Promise<T>) => Promise<T>;
  /** Waits for what is still being opened, then closes everything, last opened first. Rejects with the first failure, after the rest. */
  readonly closeAll: () => Promise<void>;
};

const createResources = (): Resources => {
  const openings: Promise<{ readonly close: () => Promise<void> }>[] = [];
  return {
    add: (opening) => {
      openings.push(opening);
      return opening;
    },
    closeAll: async () => {
      const opened = await Promise.allSettled(openings);
      const failures: unknown[] = [];
      for (const outcome of opened.toReversed()) {
        if (outcome.status === 'rejected') continue;
        await outcome.value.close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};

/** Seeds the demo's organization and returns the demo's host page. Without a service in this process nothing is seeded. */
const openDemo = async (
  config: Config,
  credentials: Credentials,
  bundle: DemoBundle,
  serviceOpening: Promise<Service> | null,
): Promise<Router> => {
  const dataDir = resolve(config.settings.dataDir);
  const service = await serviceOpening;
  if (service !== null) {
    await seedDemo({ store: service.store, clock, ids, tokens }, bundle, { dataDir, apiKey: credentials.demoApiKey });
  }
  const secret = demoKey(credentials.demoJwtSecret);
  return createDemoHost({ users: bundle.users, secret, cookieName: config.settings.gateway.session.cookie, clock });
};

const script = 'text/javascript; charset=utf-8';

/** The demo's host page runs its own scripts, and calls its own origin. */
const demoPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; img-src 'self' data:";

/** The browser's files, by the paths they are served at: the elements, and the host page of the demo if the demo runs. */
const assetFiles = (webFolder: string, isDemo: boolean): Readonly<Record<string, AssetFile>> => {
  const web = (file: string): string => join(webFolder, file);
  const demo = {
    '/demo': { file: web('demo.html'), contentType: 'text/html; charset=utf-8', contentSecurityPolicy: demoPolicy },
    '/demo.js': { file: web('demo.js'), contentType: script },
    '/demo.css': { file: web('demo.css'), contentType: 'text/css; charset=utf-8' },
  };
  return {
    '/elements.js': { file: web('elements.js'), contentType: script, isPublic: true },
    ...(isDemo ? demo : {}),
  };
};

type PartsOfGateway = {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly dispatch: Dispatch | null;
  readonly shared: Shared;
  readonly metadata: Metadata;
  readonly context: ProcessContext;
};

const openConfiguredGateway = (parts: PartsOfGateway, { cache, metrics }: SharedOfGateway): Promise<OpenedGateway> => {
  const { config, credentials, shared, metadata, context } = parts;
  const { addressOf, note } = shared.admission;
  const { failedCredentialsPerMinute } = config.settings.limits;
  const { session, allowedOrigins, publicOrigin, policies, publicServiceUrl, upstream, hooks, limits } =
    config.settings.gateway;
  return openGateway({
    issuers: createIssuers(config, credentials, { clock, log: context.log }),
    cookieName: session.cookie,
    allowedOrigins,
    publicOrigin,
    policyPath: resolve(config.folder, policies),
    database: metadata.database,
    firstEvents: lossEvents(metadata.loss),
    explanationDays: config.settings.gateway.audit.explanationDays,
    gatewayToken: credentials.gatewayToken,
    isAdminApart: config.settings.management.port !== null,
    upstream: upstreamOf(parts, metrics),
    serviceUrl: publicServiceUrl ?? upstream.serviceUrl ?? publicOrigin ?? (isAnyAddress(config) ? null : context.url),
    hooks: { secrets: config.secrets.hookSecrets, ...hooks },
    cache,
    limits: { settings: { ...limits, failedCredentialsPerMinute }, limiters: shared.limiters, addressOf, note },
    readVariable: config.readVariable,
    strongSecrets: config.isProduction,
    metrics,
    clock,
    log: context.log,
  });
};

const upstreamOf = (
  { config, credentials, dispatch, context }: PartsOfGateway,
  metrics: SharedOfGateway['metrics'],
): GatewayOptions['upstream'] => {
  const { serviceUrl, ...settings } = config.settings.gateway.upstream;
  const apiKey = config.secrets.apiKey ?? credentials.demoApiKey;
  if (serviceUrl !== null)
    return createHttpUpstream({ baseUrl: serviceUrl, apiKey, settings, clock, log: context.log, metrics });
  if (dispatch === null)
    throw new Error('a gateway without a service in its process needs gateway.upstream.serviceUrl');
  const capabilities = fixedCapabilities(capabilityNames);
  // A fixed name, not an address: replicas of both halves share one database, and what one of them verified holds for all.
  return { baseUrl: 'in-process', apiKey, transport: inProcessTransport(dispatch), capabilities };
};

/** Whether the process listens at every address of the machine; its own URL then says nothing to callers. */
const isAnyAddress = ({ settings }: Config): boolean => ['0.0.0.0', '::'].includes(settings.server.host);

type Checked = { readonly checks: readonly Check[] } | null | undefined;

/** Everything that `/readyz` of this process asks. */
const readinessChecks = ({ settings }: Config, database: Database, parts: readonly Checked[]): readonly Check[] => [
  ...parts.flatMap((part) => part?.checks ?? []),
  {
    name: 'data-folder',
    run: async () => {
      // Credentials and the demo's data are in the data folder, wherever the metadata is.
      await access(settings.dataDir);
      await database.assertFolder();
    },
  },
];

/**
 * Who may read metrics, the API reference and the names of failed readiness checks on the port that everybody reaches.
 * `authenticate` is null if this process runs no service: it then has no reference.
 */
const createDoors = (
  { settings, secrets, isProduction }: Pick<Config, 'settings' | 'secrets' | 'isProduction'>,
  { gatewayToken }: Pick<Credentials, 'gatewayToken'>,
  authenticate: Authenticate | null,
): Doors => {
  const hasManagementPort = settings.management.port !== null;
  if (!hasManagementPort && !isProduction) return openDoors;
  const hashes = [secrets.metricsToken, gatewayToken].flatMap((token) => (token === null ? [] : [hashToken(token)]));
  return {
    strangers: hasManagementPort ? 'not-found' : 'refused',
    isOperator: (bearer) => bearer !== undefined && hashes.some((hash) => isSameHash(hash, hashToken(bearer))),
    // A gateway in another process reads in the OpenAPI document what this service can do.
    isIntegrator: async (bearer) => bearer !== undefined && authenticate !== null && isCredential(authenticate, bearer),
  };
};

const isCredential = async (authenticate: Authenticate, bearer: string): Promise<boolean> => {
  try {
    await authenticate(['apiKey', 'serviceToken'], bearer);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AUTHENTICATION_ERROR') return false;
    throw error;
  }
};

type BackgroundParts = {
  /** Null: this process runs no service. */
  readonly store: Store | null;
  readonly engine: Engine;
  /** Makes the demo's data. Queries of the demo wait for it. */
  readonly prepare: () => Promise<void>;
  readonly log: Log;
};

/** Starts what a start begins and no request waits for. `close` stops the check of stored datamarts, and waits for the datamart being checked. */
const startBackground = ({ store, engine, prepare, log }: BackgroundParts) => {
  prepare().catch((err: unknown) =>
    log.error({ event: 'demo.failed', err }, 'failed to make the demo data: charts of the demo will fail'),
  );
  const stop = new AbortController();
  const check = async (): Promise<void> => {
    try {
      if (store !== null) await logUnreadableTables({ store, engine, log }, stop.signal);
    } catch (err) {
      log.error({ event: 'datamart.check_failed', err }, 'failed to list the datamarts to check their tenancy');
    }
  };
  const checked = check();
  return {
    close: async (): Promise<void> => {
      stop.abort();
      await checked;
    },
  };
};
