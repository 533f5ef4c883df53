/** Builds Studio over a gateway and a service of the same process. */
import type { RequestHandler, Router } from 'express';
import type { AdminCommand } from '../gateway/common/admin-command.js';
import type { ApiKeyCaller } from '../model/guest/caller.js';
import { handled } from '../model/handled.js';
import type { Clock } from '../model/ports.js';
import type { ReadQueries } from '../model/query/watch.js';
import type { Reports } from '../model/schedule/reports.js';
import type { ReadSigningKeys } from '../model/signing-keys.js';
import { whole } from '../model/slices.js';
import { mostUsageRows } from '../model/usage.js';
import type { Config } from '../platform/config/config.js';
import type { Credentials } from '../platform/config/credentials.js';
import { createSealer, type Sealer } from '../platform/keys/sealing.js';
import type { Log } from '../platform/logs/log.js';
import { operations } from '../service/operations.js';
import { schedulesOfAll } from '../service/schedules/tenant-schedules.js';
import { createAssistantPath } from '../studio/assistants.js';
import { type KeyParts, keyCommands } from '../studio/keys.js';
import type { LoginLinks } from '../studio/login-links.js';
import { createOpenId, type OpenId } from '../studio/openid.js';
import { peopleCommands } from '../studio/people.js';
import { type ProcessParts, processCommands, type ReadSystem } from '../studio/process-commands.js';
import { createRecheck, withRecheck } from '../studio/recheck.js';
import { reportPreviewCommand } from '../studio/report-preview.js';
import { createStudioRouter } from '../studio/router.js';
import { scheduleCommands } from '../studio/schedules.js';
import { createSearch, createSearchCommand } from '../studio/search.js';
import type { StudioSessions } from '../studio/sessions.js';
import { listUploadsCommand, removingFiles, type Uploads } from '../studio/uploads.js';
import { viewCommands } from '../studio/view-commands.js';
import { createViews, type Views } from '../studio/views.js';
import { createWork } from '../studio/work.js';
import type { OpenedGateway } from './open-gateway.js';
import { loadDataAppCaller } from './own-service.js';
import type { Service } from './service.js';
import type { Admission } from './shared.js';
import { createUploads } from './uploads.js';

export type StudioParts = {
  readonly config: Config;
  readonly credentials: Pick<Credentials, 'keyRing'>;
  readonly service: Service;
  readonly gateway: OpenedGateway;
  readonly admission: Admission;
  readonly links: LoginLinks;
  readonly sessions: StudioSessions;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly readSystem: ReadSystem;
  readonly readSigningKeys: ReadSigningKeys;
  readonly queries: ReadQueries;
  readonly reports: Pick<Reports, 'calendar'>;
  /** The origin of Studio as browsers see it. */
  readonly origin: string;
  /** Serves the page of the app. */
  readonly page: RequestHandler;
};

export type Studio = { readonly router: Router; readonly close: () => Promise<void> };

const hourMs = 3_600_000;

const openIdOf = ({ config, origin, clock }: StudioParts, sealer: Sealer): OpenId | null => {
  const settings = config.settings.studio.openId;
  const clientSecret = config.secrets.studioClientSecret;
  return settings === null ? null : createOpenId({ settings, clientSecret, origin, sealer, clock });
};

/** The sessions, whose people the issuer is asked for again. */
const sessionsOf = ({ config, service, gateway, sessions, clock, log }: StudioParts, openId: OpenId | null) => {
  const { studioSessions: store } = service.store;
  const { audit } = gateway;
  return withRecheck(sessions, createRecheck({ store, openId, clock, times: config.settings.studio, audit, log }));
};

/** Finds the current key of a name, for its rotation. */
const findKeyIn =
  ({ dataApps, apiKeys, serviceTokens }: Service['store']): KeyParts['findKey'] =>
  async ({ dataApp, name }) => {
    if (dataApp === null) {
      const token = (await whole(serviceTokens.list(null))).find((one) => one.name === name);
      return token && { kind: 'serviceToken', tokenId: token.id };
    }
    const of = await dataApps.findByName(dataApp);
    if (of === undefined) return undefined;
    const key = (await whole(apiKeys.listByDataApp(of.id, null))).find((one) => one.name === name);
    return key && { kind: 'apiKey', keyId: key.id, dataAppId: of.id, dataAppName: of.name };
  };

type Opened = {
  readonly views: Views;
  readonly sessions: StudioSessions;
  readonly uploads: Uploads;
  readonly dataAppId: () => Promise<string | undefined>;
  readonly dataApp: () => Promise<ApiKeyCaller>;
};

/** What the service has counted of this month of UTC, and of which data apps. */
const countedUse = ({ service: { store }, clock }: StudioParts): ProcessParts['use'] => ({
  times: async () => {
    const now = clock.now();
    const month = (later: number): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later));
    const question = {
      from: month(0),
      to: month(1),
      step: null,
      by: ['dataApp', 'tenant'],
      limit: mostUsageRows,
    } as const;
    const rows = await store.usage.read(question);
    return rows.map(({ dataAppId = '', clientId = null, ms }) => ({ dataAppId, clientId, ms }));
  },
  dataApps: async () => new Map((await whole(store.dataApps.list(null))).map(({ id, name }) => [id, name])),
});

/** All that can be run in Studio. */
const commandsOf = (
  parts: StudioParts,
  { views, sessions, uploads, dataAppId, dataApp }: Opened,
): readonly AdminCommand[] => {
  const { service, gateway, clock, reports } = parts;
  const { store, authenticate, authoring, keys } = service;
  const { viewAs, commands } = gateway.router;
  const search = createSearch({ store: store.search, commands, dataAppId, now: () => clock.now() });
  return [
    ...commands,
    ...processCommands({ ...parts, use: countedUse(parts) }),
    ...scheduleCommands(schedulesOfAll({ store, clock, reports }, dataAppId)),
    ...peopleCommands(sessions),
    ...keyCommands({ ...keys, findKey: findKeyIn(store) }),
    ...viewCommands({ views, viewAs, authenticate, authoring, audit: gateway.audit }),
    reportPreviewCommand({ dataApp, preview: service.previewReport, audit: gateway.audit }),
    ...[createSearchCommand(search), listUploadsCommand(uploads)],
  ];
};

export const openStudio = (parts: StudioParts): Studio => {
  const { config, credentials, service, gateway, admission, links, clock, log } = parts;
  const { studio, gateway: gatewaySettings } = config.settings;
  const { publicOrigin } = gatewaySettings;
  const { store, dispatch, authenticate } = service;
  const sealer = createSealer(...credentials.keyRing);
  const dataApp = () => loadDataAppCaller({ store }, gateway.router.dataApp());
  const uploads = createUploads(config.settings, store, clock);
  const origins = { allowedOrigins: [], publicOrigin };
  // Before the first dashboard, the data app that the policy names may not be there.
  const dataAppId = async () => (await store.dataApps.findByName(gateway.router.dataApp()))?.id;
  const openId = openIdOf(parts, sealer);
  const sessions = sessionsOf(parts, openId);
  const views = createViews(sealer);
  const commands = commandsOf(parts, { views, sessions, uploads, dataAppId, dataApp });
  const work = createWork({
    ...{ operations, dataApp, commands, audit: gateway.audit },
    dispatch: removingFiles({ uploads, log }, dispatch),
  });
  const router = createStudioRouter({
    sessions,
    links,
    ...{ views, openId, operations, dispatch, authenticate, work },
    assistants: studio.servesAssistants
      ? createAssistantPath({
          ...{ sessions, work, operations, commands, origins, log, version: parts.version },
          ...{ guard: admission.studioGuard, addressOf: admission.addressOf },
        })
      : null,
    audit: gateway.audit,
    ...{ addressOf: admission.addressOf, guard: admission.studioGuard },
    origins,
    isSecure: publicOrigin?.startsWith('https:') ?? config.isProduction,
    ...{ uploads, log, page: parts.page },
  });
  const removeOld = async (): Promise<void> => {
    await sessions.removeExpired();
    await uploads.folder.removeUnfinished();
  };
  return { router, close: startRemoving(removeOld, log) };
};

/** Removes expired sessions and the rests of uploads now and every hour. The returned function stops that and waits for a running removal. */
const startRemoving = (remove: () => Promise<void>, log: Log): (() => Promise<void>) => {
  const removeNow = () =>
    remove().catch((err: unknown) =>
      log.warn(
        { event: 'studio.purge_failed', err },
        'failed to remove expired sessions or rests of uploads; retrying in an hour',
      ),
    );
  let running = removeNow();
  const timer = setInterval(() => {
    running = handled(running.then(removeNow));
  }, hourMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
};
