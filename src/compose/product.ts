/**
 * Composes the product. `compose` builds every object once, in order of dependence; a shutdown closes them in the
 * opposite order. No code here decides about a request. Only main.ts and the command line may import it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { RequestHandler, Router } from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createMcp, type McpDeps, mcpRoots } from '../assistants/mcp/endpoint.js';
import { type MailSetup, mailSetupOf } from '../delivery/mail-setup.js';
import type { BrowserStart } from '../delivery/rendering/renderer.js';
import { type DemoBundle, readDemoBundle } from '../demo/bundle.js';
import { createDemoHost, demoKey } from '../demo/host.js';
import { seedDemo } from '../demo/seed.js';
import { createHttpUpstream } from '../gateway/upstream/http-upstream.js';
import { handled } from '../model/handled.js';
import type { Clock, Ids, Tokens } from '../model/ports.js';
import type { Engine } from '../model/query/engine.js';
import type { ReadLive } from '../model/query/live.js';
import type { RunningWork } from '../model/query/running.js';
import type { ReadQueries } from '../model/query/watch.js';
import { Refusal } from '../model/refusal.js';
import type { Config } from '../platform/config/config.js';
import { type Credentials, loadCredentials } from '../platform/config/credentials.js';
import type { Database } from '../platform/databases/database.js';
import { type AppDeps, createApp, createManagementApp } from '../platform/http/app.js';
import { createOpenApi } from '../platform/http/interface/openapi.js';
import {
  type AssetFile,
  type Assets,
  elementFiles,
  loadAssets,
  serveAssets,
  studioFiles,
  studioPage,
} from '../platform/http/pages/assets.js';
import type { Authenticate } from '../platform/http/wire/admission.js';
import type { Dispatch } from '../platform/http/wire/bind.js';
import { type Doors, openDoors } from '../platform/http/wire/doors.js';
import type { Handle } from '../platform/http/wire/in-turn.js';
import { type ArchiveKeys, archiveKeysOf } from '../platform/keys/archive-keys.js';
import { createToken, hashToken, isSameHash } from '../platform/keys/keys.js';
import { createSealer } from '../platform/keys/sealing.js';
import { severalSecrets } from '../platform/keys/several-secrets.js';
import type { Log } from '../platform/logs/log.js';
import { createMeters } from '../platform/logs/meters.js';
import { type Check, createReadiness } from '../platform/logs/readiness.js';
import { closeAll } from '../platform/work/close-all.js';
import { createRunningWork } from '../platform/work/running-work.js';
import { logUnreadableTables } from '../service/datamarts/tenancy.js';
import { operations } from '../service/operations.js';
import type { Store } from '../service/store/store.js';
import { createLoginLinks, type LoginLinks, linkOf, studioLinkCommand } from '../studio/login-links.js';
import { operatorKeyCommands } from '../studio/operator-keys.js';
import { createStudioSessions, type StudioSessions } from '../studio/sessions.js';
import { assistantOpener } from './assistant.js';
import { openEngine } from './engine.js';
import type { GatewayOptions } from './gateway.js';
import { type ConfiguredMetadata, lossEvents, openConfiguredMetadata } from './metadata.js';
import { showClockSkew } from './meters.js';
import { type OpenedGateway, type OpenGatewayOptions, openGateway } from './open-gateway.js';
import { createOwnService, loadDataAppCaller } from './own-service.js';
import { rendererOpener } from './renderer.js';
import { createReports, startReports } from './reports.js';
import { startTellingOfGateway } from './running.js';
import { openService, type Service } from './service.js';
import { createIssuers, type SessionIssuer } from './session-issuers.js';
import { openShared, type Shared, type SharedOfGateway } from './shared.js';
import { createReadSigningKeys } from './signing-keys.js';
import { openStudio, type Studio, type StudioParts } from './studio.js';
import { createReadSystem } from './system.js';
import { loadThemes } from './themes.js';
import { startUsageSending } from './usage-sending.js';

/** Which halves run in this process. */
export type Halves = {
  readonly gateway: boolean;
  readonly service: boolean;
  /** Whether the operator accepts that the embedded database lost acknowledged writes. */
  readonly acceptsLoss?: boolean;
  /** Whether the operator accepts that an empty database is used although the data folder has metadata. */
  readonly acceptsEmpty?: boolean;
};

/** What the composition needs to know about its process. */
export type ProcessContext = {
  /** The URL at which callers reach this process. */
  readonly url: string;
  readonly version: string;
  /** Folder of the built browser files. */
  readonly webFolder: string;
  readonly browserStart: BrowserStart;
  /** What a process that reads datasources needs of the environment. */
  readonly sourceEnvironment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Logger;
};

export type Product = {
  readonly handle: Handle;
  /** Answers requests on the management port. */
  readonly manage: Handle;
  /** Logs in to Studio, once. Null: Studio is not served, or links are only made by command. */
  readonly studioLink: string | null;
  readonly close: () => Promise<void>;
};

/** Looks the function up at each call, so that a test that counts ids counts all of them. */
const ids: Ids = { uuid: () => randomUUID() };
const tokens: Tokens = { create: createToken, hash: hashToken, isSame: isSameHash };

/** Rejects if a part cannot be opened, after closing the parts that were already opened. */
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

type Composing = (config: Config, halves: Halves, context: ProcessContext, resources: Resources) => Promise<Product>;

const composeInOrder: Composing = async (config, halves, context, resources) => {
  const { log, clock } = context;
  const { loading, mail, ...drawing } = browserParts(config, halves, context);
  const credentials = await loadCredentials(config.settings.dataDir, config.secrets);
  const bundle = config.isDemo ? await readDemoBundle(join(config.folder, 'demo')) : null;
  const meters = createMeters();
  const { registry } = meters;
  const { engine, prepare, queries, running, operated, metadata, shared } = await openBase(
    config,
    halves,
    context,
    resources,
    { credentials, bundle, registry },
  );
  const { database, warnings } = metadata;
  const { addressOf, limits } = shared.admission;
  const openAssistant = assistantOpener({ ...config, limiters: shared.limiters, clock, log });
  const { retention, usage, queries: asked, dataDir } = config.settings;
  const times = { times: { ...retention, ...usage }, warmUpTimes: asked.warmUp };
  const own = { credentials, engine, database, limits, clock, ids, tokens, log, openAssistant };
  const served = { ...own, ...times, dataDir, operated, ...drawing };
  const serviceOpening = halves.service ? resources.add(openService(served, halves)) : null;
  const [service, demoHost, assets] = await Promise.all([
    serviceOpening,
    bundle === null ? null : openDemo(config, credentials, bundle, { serviceOpening, clock }),
    loading,
  ]);
  const fronts = { config, credentials, service, shared, metadata, context, registry, queries, running };
  const { gateway, routers, studioLink, readiness } = await openFronts({ ...fronts, mail }, assets, resources);
  startMeasuring(registry, metadata);
  const document = () => createOpenApi(operations, context);
  const api = service === null ? null : { dispatch: service.dispatch, addressOf, document };
  const mcp = api === null ? null : openMcp(config, context, api.dispatch, gateway?.router.exchange ?? null);
  const { failed: ready, fixOf } = readiness;
  const pages = { service: api, log, meters, ready, fixOf, warnings, documents: join(context.webFolder, 'docs') };
  const doors = createDoors(config, credentials, service?.authenticate ?? null);
  await startLasting(config, { service, operated, metadata, engine, prepare, log }, resources);
  const shown = [demoHost, ...routers].filter((one) => one !== null);
  const steps = { mcp, gateway: gateway?.router ?? null, routers: shown };
  const handle = createApp({ ...pages, assets, doors, ...steps });
  const manage = createManagementApp({ ...pages, routers: gateway === null ? [] : [gateway.router.admin] });
  return { handle, manage, studioLink, close: resources.closeAll };
};

type LastingParts = Omit<BackgroundParts, 'store'> &
  Pick<Parameters<typeof startTellingOfGateway>[0], 'operated'> & {
    readonly service: Service | null;
    readonly metadata: Pick<ConfiguredMetadata, 'database' | 'commonClock'>;
  };

/** What goes on for as long as the process runs. */
const startLasting = async (
  { usageChannel: channel }: Config,
  { service, operated, metadata: { database, commonClock: clock }, engine, prepare, log }: LastingParts,
  resources: Resources,
): Promise<void> => {
  if (service === null) await resources.add(Promise.resolve(startTellingOfGateway({ operated, database, ids, log })));
  await resources.add(startUsageSending({ channel, service, clock, log }));
  await resources.add(Promise.resolve(startBackground({ store: service?.store ?? null, engine, prepare, log })));
};

type BaseParts = {
  readonly credentials: Credentials;
  readonly bundle: DemoBundle | null;
  readonly registry: Registry;
};

/** Opens what both halves stand on. */
const openBase = async (
  config: Config,
  halves: Halves,
  context: ProcessContext,
  resources: Resources,
  { credentials, bundle, registry }: BaseParts,
) => {
  const { clock, log, sourceEnvironment } = context;
  const { keyRing } = credentials;
  const { running, operatedBy } = createListed(context);
  const engineParts = { config, bundle, keyRing, clock, log, registry, running, sourceEnvironment };
  const [{ live, ...engine }, metadata, shared] = await Promise.all([
    resources.add(openEngine(engineParts, halves.service)),
    resources.add(openConfiguredMetadata(config, halves, keyRing, { clock, log })),
    resources.add(openShared({ config, clock, log, registry }, halves.gateway)),
  ]);
  return { ...engine, running, operated: operatedBy(metadata.commonClock, live), metadata, shared };
};

/** Lists what runs in this process, by the common clock once the metadata database is open. Nothing runs before. */
const createListed = ({ clock, version }: Pick<ProcessContext, 'clock' | 'version'>) => {
  let common = clock;
  const running = createRunningWork({ now: () => common.now() });
  const self = { name: hostname(), version };
  const operatedBy = (commonClock: Clock, live: ReadLive) => {
    common = commonClock;
    return { running, self, live, commonClock };
  };
  return { running, operatedBy };
};

const startMeasuring = (registry: Registry, { startMarking, warnings }: ConfiguredMetadata): void => {
  showClockSkew(registry, () => warnings().clockSkewMs ?? 0);
  startMarking();
};

/** Whether people can use Studio: it is enabled, needs both halves, and can be left out of a build. */
const servesStudio = (
  { settings }: Config,
  halves: Halves,
  { webFolder }: Pick<ProcessContext, 'webFolder'>,
): boolean => settings.studio.isEnabled && halves.gateway && halves.service && existsSync(join(webFolder, 'studio'));

/** The browser's files, the themes, and what draws with them on the server. */
const browserParts = (config: Config, halves: Halves, { webFolder, browserStart, log }: ProcessContext) => {
  const findTheme = loadThemes(config, log);
  const hasStudio = servesStudio(config, halves, { webFolder });
  const loading = handled(assetFiles(webFolder, { isDemo: config.isDemo, hasStudio }).then(loadAssets));
  const setup = halves.gateway && halves.service ? mailSetupOf(config) : null;
  const { reports, connect } = createReports(setup);
  const openRenderer = rendererOpener({ settings: config.settings, log, assets: loading, start: browserStart });
  return { findTheme, loading, reports, openRenderer, mail: { setup, reports, connect } };
};

/** The resources that were opened, in order. */
type Resources = {
  /** Registers the result of `opening` to be closed. */
  readonly add: <T extends { readonly close: () => Promise<void> }>(opening: Promise<T>) => Promise<T>;
  /**
   * Waits for resources that are still being opened, then closes all, the last opened first. Rejects as the function
   * `closeAll` does.
   */
  readonly closeAll: () => Promise<void>;
};

const createResources = (): Resources => {
  const openings: Promise<{ readonly close: () => Promise<void> }>[] = [];
  return {
    add: (opening) => {
      openings.push(handled(opening));
      return opening;
    },
    closeAll: async () => {
      const opened = await Promise.allSettled(openings);
      await closeAll(opened.toReversed().flatMap((one) => (one.status === 'fulfilled' ? [one.value.close] : [])));
    },
  };
};

/** Seeds the demo's organization and returns the demo's host page. Without a service in this process nothing is seeded. */
const openDemo = async (
  config: Config,
  credentials: Credentials,
  bundle: DemoBundle,
  { serviceOpening, clock }: { readonly serviceOpening: Promise<Service> | null; readonly clock: Clock },
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

/** The demo's host page runs its own scripts, calls its own origin, and has its style in it. */
const demoPage = async (file: string): Promise<AssetFile> => {
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(await readFile(file, 'utf8')) ?? [];
  const styleSource = `'self' 'sha256-${createHash('sha256').update(style).digest('base64')}'`;
  const contentSecurityPolicy = `default-src 'self'; style-src ${styleSource}; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; img-src 'self' data:`;
  return { file, contentType: 'text/html; charset=utf-8', contentSecurityPolicy };
};

/** Returns the browser's files by the paths at which they are served: the elements and, in the demo, its host page. */
const assetFiles = async (
  webFolder: string,
  { isDemo, hasStudio }: { readonly isDemo: boolean; readonly hasStudio: boolean },
): Promise<Readonly<Record<string, AssetFile>>> => {
  const web = (file: string): string => join(webFolder, file);
  return {
    ...(await elementFiles(webFolder)),
    ...(isDemo
      ? { '/demo': await demoPage(web('demo.html')), '/demo.js': { file: web('demo.js'), contentType: script } }
      : {}),
    ...(hasStudio ? await studioFiles(webFolder) : {}),
  };
};

type StudioLinks = {
  readonly codes: LoginLinks;
  readonly sessions: StudioSessions;
  readonly origin: string;
  readonly first: string | null;
};

/** Null if this installation serves no Studio. */
const linksToStudio = (
  config: Config,
  { url, webFolder, clock }: ProcessContext,
  { store }: Service,
): StudioLinks | null => {
  const { settings, isProduction } = config;
  if (!servesStudio(config, { gateway: true, service: true }, { webFolder })) return null;
  const codes = createLoginLinks({ clock, tokens });
  const origin = settings.gateway.publicOrigin ?? url;
  const isPrinted = settings.studio.loginLink ?? !isProduction;
  const sessions = createStudioSessions({ store: store.studioSessions, clock, ids, tokens, times: settings.studio });
  return { codes, sessions, origin, first: isPrinted ? linkOf(origin, codes.create()) : null };
};

/** Opens Studio, which needs gateway and service in this process. */
const openConfiguredStudio = async (
  { config, credentials, service, shared, links, context, queries, mail: { reports } }: PartsOfGateway,
  gateway: OpenedGateway | null,
  { assets, ...reads }: { readonly assets: Assets } & Pick<StudioParts, 'readSystem' | 'readSigningKeys'>,
): Promise<Pick<Studio, 'close'> & { readonly router: Router | null }> => {
  if (links === null || service === null || gateway === null) return { router: null, close: async () => {} };
  const { admission } = shared;
  const { clock, log } = context;
  const { codes, sessions, origin } = links;
  const own = {
    page: pageOf(assets),
    ...reads,
    queries,
    reports,
    links: codes,
    sessions,
    origin,
    version: context.version,
  };
  return openStudio({ config, credentials, service, gateway, admission, clock, log, ...own });
};

type MailParts = Pick<ReturnType<typeof createReports>, 'reports' | 'connect'> & { readonly setup: MailSetup | null };

/** Starts the sending of reports, which needs gateway and service in this process. */
const openConfiguredReports = async (
  { mail: { setup, reports, connect }, service, shared, metadata, context, running }: PartsOfGateway,
  gateway: OpenedGateway | null,
): Promise<{ readonly router: Router | null; readonly close: () => Promise<void> }> => {
  const { findReportRight = null, listTenantUsers = null } = gateway?.router ?? {};
  const isReady = setup !== null && service !== null && gateway !== null;
  if (!isReady || findReportRight === null || listTenantUsers === null) {
    return { router: null, close: async () => {} };
  }
  const { isTenantActive, dataApp } = gateway.router;
  const findDataAppId = async () => (await loadDataAppCaller(service, dataApp())).dataAppId;
  const rights = { findReportRight, listTenantUsers, isTenantActive, findDataAppId };
  const { tag } = service;
  const clock = metadata.commonClock;
  connect({ ...rights, service, tag, clock });
  const parts = { setup, reports, service, tag, ...rights };
  return startReports({
    ...parts,
    admission: shared.admission,
    countWork: shared.countWork,
    running,
    countDelivery: shared.countDelivery,
    clock,
    log: context.log,
  });
};

/** Opens what stands before the service: the gateway, and Studio where both halves run here. */
const openFronts = async (given: Omit<PartsOfGateway, 'links'>, assets: Assets, resources: Resources) => {
  const { gateway: shared } = given.shared;
  const { config, service, metadata, context } = given;
  const links = service === null || shared === null ? null : linksToStudio(config, context, service);
  const parts = { ...given, links };
  const issuers = createIssuers(config, given.credentials, context);
  const gateway = shared === null ? null : await resources.add(openConfiguredGateway(parts, shared, issuers));
  const checks = readinessChecks(config, metadata.database, [service, gateway?.router]);
  const readiness = createReadiness(checks, context.log);
  const readSystem = createReadSystem({ ...given, version: context.version, checks, readiness });
  const readSigningKeys = createReadSigningKeys({
    ...{ config, issuers, startedAt: context.clock.now() },
    archiveKeys: config.settings.retention.auditDays === null ? undefined : archiveKeysOf(given.credentials.keyRing),
  });
  const { router: studio } = await resources.add(
    openConfiguredStudio(parts, gateway, { assets, readSystem, readSigningKeys }),
  );
  const { router: reports } = await resources.add(openConfiguredReports(parts, gateway));
  return { gateway, routers: [studio, reports], studioLink: links?.first ?? null, readiness };
};

/** The page of Studio at every path. */
const pageOf = (assets: Assets): RequestHandler => {
  const serve = serveAssets(assets);
  return (request, response, next) => {
    request.url = studioPage;
    serve(request, response, next);
  };
};

type PartsOfGateway = {
  readonly config: Config;
  readonly queries: ReadQueries;
  readonly running: RunningWork;
  readonly credentials: Credentials;
  /** Null: it runs in another process. */
  readonly service: Service | null;
  readonly mail: MailParts;
  /** Null: there is no Studio. */
  readonly links: StudioLinks | null;
  readonly shared: Shared;
  readonly metadata: ConfiguredMetadata;
  readonly context: ProcessContext;
  readonly registry: Registry;
};

const openConfiguredGateway = (
  parts: PartsOfGateway,
  { cache, meters }: SharedOfGateway,
  issuers: readonly SessionIssuer[],
): Promise<OpenedGateway> => {
  const { config, credentials, shared, metadata, context, links } = parts;
  const { addressOf, note } = shared.admission;
  const { failedCredentialsPerMinute } = config.settings.limits;
  const archiveKeys = archiveKeysOf(credentials.keyRing);
  const { session, allowedOrigins, publicOrigin, policies, policyMayRead, publicServiceUrl, upstream, hooks, limits } =
    config.settings.gateway;
  return openGateway({
    ...{ issuers, askedIssuers: config.askedIssuers, cookieName: session.cookie },
    allowedOrigins,
    allowsLocalPages: config.allowsLocalPages,
    publicOrigin,
    policyPath: resolve(config.folder, policies),
    policyMayRead,
    database: metadata.database,
    firstEvents: lossEvents(metadata.loss, parts.service?.keyLoss ?? null),
    times: ledgerTimesOf(config, archiveKeys),
    archiveKeys,
    gatewayToken: credentials.gatewayToken,
    isAdminApart: config.settings.management.port !== null,
    upstream: upstreamOf(parts, meters),
    deploymentId: config.settings.gateway.deploymentId ?? undefined,
    serviceUrl: publicServiceUrl ?? upstream.serviceUrl ?? publicOrigin ?? (isAnyAddress(config) ? null : context.url),
    hooks: { ...hooks, secrets: config.secrets.hookSecrets, providers: config.hookProviders },
    cache,
    limits: { settings: { ...limits, failedCredentialsPerMinute }, limiters: shared.limiters, addressOf, note },
    readVariable: config.readVariable,
    strongSecrets: config.isProduction,
    // The policy of the demo is a file of the package.
    savesPolicy: config.settings.studio.savesPolicy ?? (!config.isProduction && !config.isDemo),
    recipients: recipientsOf(parts),
    commands:
      links === null ? [] : [studioLinkCommand(links.codes, links.origin), ...operatorKeyCommands(links.sessions)],
    meters,
    running: parts.running,
    clock: context.clock,
    commonClock: metadata.commonClock,
    log: context.log,
  });
};

const ledgerTimesOf = ({ settings, folder }: Config, keys: ArchiveKeys): OpenGatewayOptions['times'] => {
  const { auditDays: days, archiveFolder, ...times } = settings.retention;
  const archive =
    days === null || archiveFolder === null ? null : { days, folder: resolve(folder, archiveFolder), keys };
  return { ...times, sessionsDays: settings.mail.sessionDays, archive };
};

/** How the last session of each user is kept, where reports are sent. */
const recipientsOf = ({ mail: { setup }, credentials }: PartsOfGateway): GatewayOptions['recipients'] =>
  setup === null ? undefined : { sealer: createSealer(...credentials.keyRing), keepDays: setup.mail.sessionDays };

const upstreamOf = (
  { config, credentials, service, context }: PartsOfGateway,
  meters: SharedOfGateway['meters'],
): GatewayOptions['upstream'] => {
  const { serviceUrl, ...settings } = config.settings.gateway.upstream;
  const apiKey = config.secrets.apiKey ?? (config.isDemo ? credentials.demoApiKey : null);
  if (serviceUrl === null && service !== null) return createOwnService(service, { ...credentials, apiKey });
  if (serviceUrl === null || apiKey === null)
    throw new Error('a gateway without a service in its process needs gateway.upstream.serviceUrl and an API key');
  return createHttpUpstream({ baseUrl: serviceUrl, apiKey, settings, clock: context.clock, log: context.log, meters });
};

/** Whether the process listens on all addresses of the machine. Its own URL is then of no use to callers. */
const isAnyAddress = ({ settings }: Config): boolean => ['0.0.0.0', '::'].includes(settings.server.host);

type Checked = { readonly checks: readonly Check[] } | null | undefined;

/** Null: `mcp.isEnabled` is false. */
const openMcp = (
  config: Config,
  { url, version }: ProcessContext,
  dispatch: Dispatch,
  exchange: McpDeps['exchange'],
): NonNullable<AppDeps['mcp']> | null => {
  const { mcp, gateway } = config.settings;
  if (!mcp.isEnabled) return null;
  const address = (gateway.publicServiceUrl ?? gateway.publicOrigin ?? url).replace(/\/+$/, '');
  const { allowedOrigins } = mcp;
  const issuers = [gateway.session.issuer ?? '', ...config.issuers.map(({ issuer }) => issuer)];
  const authorizationServers = issuers.filter((issuer) => /^https?:\/\//.test(issuer));
  const session = { exchange, authorizationServers };
  return {
    dispatch: createMcp({ dispatch, operations, version, url: address, allowedOrigins, ...session }),
    roots: mcpRoots,
  };
};

/** The checks of `/readyz`. */
const readinessChecks = ({ settings }: Config, database: Database, parts: readonly Checked[]): readonly Check[] => [
  ...parts.flatMap((part) => part?.checks ?? []),
  {
    name: 'data-folder',
    run: async () => {
      // The data folder holds credentials and the demo's data, even if the metadata is elsewhere.
      await access(settings.dataDir);
      await database.assertFolder();
    },
  },
];

/**
 * Decides who may read meters, the API reference and failed readiness checks on the public port. `authenticate` is
 * null if this process runs no service, which also means that it has no reference.
 */
const createDoors = (
  { settings, secrets, isProduction }: Pick<Config, 'settings' | 'secrets' | 'isProduction'>,
  { gatewayToken }: Pick<Credentials, 'gatewayToken'>,
  authenticate: Authenticate | null,
): Doors => {
  const hasManagementPort = settings.management.port !== null;
  if (!hasManagementPort && !isProduction) return openDoors;
  const hashes = [secrets.metricsToken, gatewayToken].flatMap((token) =>
    token === null ? [] : severalSecrets(token).map(hashToken),
  );
  return {
    strangers: hasManagementPort ? 'not-found' : 'refused',
    isOperator: (bearer) => bearer !== undefined && hashes.some((hash) => isSameHash(hash, hashToken(bearer))),
    // A gateway in another process reads the OpenAPI document to learn what this service can do.
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
  /** Creates the demo's data. Queries of the demo wait for it. */
  readonly prepare: () => Promise<void>;
  readonly log: Log;
};

/**
 * Starts jobs that no request waits for. `close` stops the check of stored datamarts, after the datamart that is being
 * checked.
 */
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
