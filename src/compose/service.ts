/** Builds the service: the dispatch of every operation over its store, and its background jobs. */
import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import { calendar } from '../delivery/calendar.js';
import { createSqlRewriter } from '../engine/custom/sql-rewriter.js';
import type { GuestReports } from '../model/guest/mail-preview.js';
import type { FindTheme } from '../model/guest/view.js';
import type { WarmUp, WarmUpSettings } from '../model/guest/warm-up.js';
import { handled } from '../model/handled.js';
import { keyHintOf } from '../model/organization.js';
import type { Clock, Digest, Ids, ShortTag, Tag, Tokens } from '../model/ports.js';
import type { Engine } from '../model/query/engine.js';
import type { CountUse } from '../model/usage.js';
import { createShortTag, createTag } from '../platform/caches/tags.js';
import type { Credentials } from '../platform/config/credentials.js';
import type { Database } from '../platform/databases/database.js';
import { createUsageJournal } from '../platform/files/usage-journal.js';
import type { AdmissionLimits, Authenticate } from '../platform/http/wire/admission.js';
import { createDispatch, type Dispatch } from '../platform/http/wire/bind.js';
import { createSealer } from '../platform/keys/sealing.js';
import { keepQuota } from '../platform/limits/quota.js';
import type { Log } from '../platform/logs/log.js';
import type { Check } from '../platform/logs/readiness.js';
import { closeAll } from '../platform/work/close-all.js';
import { startSweeps } from '../platform/work/retention.js';
import { repeat, systemTiming } from '../platform/work/time.js';
import { describeAuthoredMetric, previewAuthoredMetric } from '../service/dashboards/author-preview.js';
import { turnIntoSql } from '../service/dashboards/turn-into-sql.js';
import { createRefresh } from '../service/datamarts/rollups.js';
import { answerGuestMetric } from '../service/guest/reads.js';
import { createWarmUp } from '../service/guest/warm-up.js';
import { createAuthenticate } from '../service/keys/authenticate.js';
import { createLastUses, type LastUses } from '../service/keys/last-use.js';
import { createHandlers, type Handlers, operations } from '../service/operations.js';
import { previewTemplateSchedule } from '../service/schedules/template-schedules.js';
import { openCanary } from '../service/store/key-canary.js';
import { assertMetadataWritable, migrate } from '../service/store/migrations.js';
import type { ServiceTimes } from '../service/store/retention.js';
import { createStore, type Store } from '../service/store/store.js';
import type { Tables } from '../service/store/tables.js';
import { createUsageCounter, storeLeft, type UsageCounter } from '../service/usage/usage.js';
import type { OpenAssistant } from './assistant.js';
import type { Loss } from './metadata-loss.js';
import type { OpenRenderer } from './renderer.js';
import { sealedColumns } from './reseal.js';
import { type Operated, openBoard, startTelling } from './running.js';

const digest: Digest = (text) => hash('sha256', text, 'hex');

export type Service = {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly tag: Tag;
  /** What an operator has accepted as lost with its encryption key; null if nothing is. */
  readonly keyLoss: Loss | null;
  readonly checks: readonly Check[];
  readonly authenticate: Authenticate;
  /** For Studio: metrics that an author writes, as a guest would read them. */
  readonly authoring: Authoring;
  /** Counts what is used. */
  readonly use: CountUse;
  /** For Studio: the mail of a report to all tenants, before it is saved. */
  readonly previewReport: ReturnType<typeof previewTemplateSchedule>;
  /** For Studio: makes and rotates keys. */
  readonly keys: Pick<Handlers, 'createApiKey' | 'createServiceToken' | 'rotateApiKey' | 'rotateServiceToken'>;
  /** Ends the background jobs, after they have stored the last uses of credentials once more. */
  readonly close: () => Promise<void>;
};

export type Authoring = {
  readonly preview: ReturnType<typeof previewAuthoredMetric>;
  readonly describe: ReturnType<typeof describeAuthoredMetric>;
  readonly turnIntoSql: ReturnType<typeof turnIntoSql>;
};

type ServiceParts = {
  readonly credentials: Credentials;
  readonly engine: Engine;
  readonly database: Database;
  /** Where what was counted is kept until the database has it. */
  readonly dataDir: string;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tokens: Tokens;
  readonly log: Log;
  readonly openRenderer: OpenRenderer;
  readonly openAssistant: OpenAssistant;
  readonly findTheme: FindTheme;
  readonly reports: GuestReports;
  /** How long the service keeps something. */
  readonly times: ServiceTimes;
  readonly warmUpTimes: WarmUpSettings;
  readonly operated: Operated;
};

type Start = {
  /** Whether the operator accepts that what a lost key sealed cannot be opened any more. Default: false. */
  readonly acceptsLoss?: boolean;
};

/** Opens the canary of the encryption key. Throws WrongKey. */
const openKeys = async (
  db: Kysely<Tables>,
  { credentials, log }: Pick<ServiceParts, 'credentials' | 'log'>,
  { acceptsLoss = false }: Start,
) => {
  const { keyRing: ring, keySource } = credentials;
  const { tagKey, loss } = await openCanary(db, { ring, keySource, columns: sealedColumns, acceptsLoss });
  const keyLoss = loss === null ? null : { why: loss };
  if (keyLoss !== null)
    log.warn({ event: 'loss.accepted', ...keyLoss }, 'the encryption key was lost; what it sealed cannot be opened');
  return { tag: createTag(tagKey), shortTag: createShortTag(tagKey), keyLoss };
};

/** Migrates the metadata database and builds the service over it. */
export const openService = async (parts: ServiceParts, start: Start = {}): Promise<Service> => {
  const { credentials, database, limits, clock, ids, tokens, log, openRenderer, findTheme, reports } = parts;
  const db = database.connect<Tables>();
  await migrate(db);
  const { tag, shortTag, keyLoss } = await openKeys(db, parts, start);
  const store = createStore(db, createSealer(...credentials.keyRing), database.writes);
  await seedServiceToken(store, parts);
  const lastUses = createLastUses({ store, clock, log });
  const { use, close: closeUse } = openCounter({ ...parts, store, shortTag });
  const running = openBoard(store, parts);
  const { stop: stopSweeps } = startSweeps({ ...store.retention.of(parts.times), clock, log });
  const telling = startTelling(running);
  const jobs = startBackgroundJobs({ lastUses, use });
  const ask = answerGuestMetric({ store, engine: parts.engine, clock });
  const warmUp = createWarmUp({ store, clock, calendar, digest, ask, use }, parts.warmUpTimes);
  const engine = forgettingQuestions(parts.engine, warmUp);
  const refreshing = startRefresh({ store, engine, clock, warmUp, log });
  const authenticate = createAuthenticate({ store, clock, tokens, lastUses });
  const renderer = await openRenderer(() => dispatch);
  const sqlRewriter = createSqlRewriter();
  const handlers = createHandlers({
    ...{ store, engine, clock, ids, tokens, digest, renderer, findTheme, reports, sqlRewriter, tag, shortTag, running },
    assistant: parts.openAssistant(() => dispatch),
    warmUp,
  });
  const dispatch: Dispatch = createDispatch({ operations, handlers, authenticate, limits, log, use });
  return {
    store,
    tag,
    keyLoss,
    authenticate,
    dispatch,
    use,
    authoring: createAuthoring({ store, engine, clock, sqlRewriter }),
    previewReport: previewTemplateSchedule({ store, clock, ids, reports, tag }),
    keys: handlers,
    checks: [{ name: 'metadata', run: () => assertMetadataWritable(db) }],
    close: () => closeAll([renderer.close, refreshing.close, stopSweeps, jobs.close, closeUse, telling.close]),
  };
};

/** Forgets the questions of a client together with its kept answers. */
const forgettingQuestions = (engine: Engine, warmUp: Pick<WarmUp, 'forget'>): Engine => ({
  ...engine,
  forgetClient: (dataAppId, clientId) => {
    warmUp.forget(dataAppId, clientId);
    return engine.forgetClient(dataAppId, clientId);
  },
});

type CounterParts = Pick<ServiceParts, 'database' | 'dataDir' | 'clock' | 'ids' | 'log'> & {
  readonly store: Store;
  readonly shortTag: ShortTag;
};

/** The embedded database is of one process. */
const openCounter = ({ store, shortTag, database, dataDir, clock, ids, log }: CounterParts) => {
  const journal = createUsageJournal({
    folder: join(resolve(dataDir), 'usage'),
    mark: shortTag(['usage', 'journal']).slice(0, 16),
    isAlone: database.kind === 'pglite',
    ...{ clock, log },
  });
  const { close } = journal.start(storeLeft({ store }));
  return { use: createUsageCounter({ store, clock, ids, shortTag, log, keepQuota, journal }), close };
};

type RefreshParts = Pick<ServiceParts, 'engine' | 'clock' | 'log'> & { readonly store: Store; readonly warmUp: WarmUp };

/**
 * Looks each minute which rollups are due, and then asks again what guests asked of them lately. A shutdown cuts a build
 * off: the earlier files stay in force.
 */
const startRefresh = ({ store, engine, clock, warmUp, log }: RefreshParts) => {
  const refresh = createRefresh(
    { store, engine, clock, calendar },
    {
      built: ({ id }) => warmUp.want({ datamartId: id }),
      failed: (datamart, rollup, err) =>
        log.warn({ event: 'rollup.build_failed', datamart, rollup, err }, 'failed to build a rollup'),
    },
  );
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    try {
      await refresh(ending.signal);
    } catch (err) {
      log.warn({ event: 'rollup.build_failed', err }, 'failed to look at the rollups; retrying in a minute');
    }
    const { asked, failed, err } = await warmUp.run(ending.signal);
    if (asked + failed > 0)
      log.info({ event: 'questions.warmed', asked, failed, err }, 'asked again what guests asked lately');
  };
  const stop = repeat(systemTiming, minuteMs, run);
  return {
    close: () => {
      ending.abort();
      return stop();
    },
  };
};

const createAuthoring = (deps: Parameters<typeof previewAuthoredMetric>[0]): Authoring => ({
  preview: previewAuthoredMetric(deps),
  describe: describeAuthoredMetric(deps),
  turnIntoSql: turnIntoSql(deps),
});

/**
 * Stores the initial service token of this installation, unless the store has it: a revoked or replaced token must stay
 * invalid.
 */
const seedServiceToken = async (store: Store, { credentials, clock, ids, tokens }: ServiceParts): Promise<void> => {
  const { serviceToken } = credentials;
  const hashed = tokens.hash(serviceToken);
  if (await store.serviceTokens.isKnown(hashed)) return;
  const id = ids.uuid();
  await store.serviceTokens.insert({
    id,
    name: `first ${id.slice(0, 8)}`,
    hash: hashed,
    keyHint: keyHintOf(serviceToken),
    createdAt: clock.now(),
    expiresAt: null,
  });
};

const secondMs = 1_000;
const minuteMs = 60_000;

type JobParts = {
  readonly lastUses: LastUses;
  readonly use: UsageCounter;
};

/**
 * Writes what was used every second and on close, and last uses every minute and on close. Its timers do not keep the
 * process alive.
 */
const startBackgroundJobs = ({ lastUses, use }: JobParts): { readonly close: () => Promise<void> } => {
  let running: Promise<unknown> = Promise.resolve();
  /** Jobs run one after the other, so that `close` waits for the running one. */
  const enqueue = (job: () => Promise<unknown>): Promise<unknown> => {
    running = handled(running.then(job));
    return running;
  };
  const timers = [
    setInterval(() => void enqueue(lastUses.flush), minuteMs),
    setInterval(() => void use.flush(), secondMs),
  ];
  for (const timer of timers) timer.unref();
  return {
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await enqueue(lastUses.flush);
      await use.flush();
    },
  };
};
