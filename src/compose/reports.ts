/** Builds the sending of reports over a gateway and a service of the same process. */
import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import { calendar } from '../delivery/calendar.js';
import { createReportsPort, type Deciding, decideWith } from '../delivery/decide.js';
import type { MailSetup } from '../delivery/mail-setup.js';
import { createMailer } from '../delivery/mailer.js';
import { findRecipients, type Passages } from '../delivery/passage.js';
import { createPlanner } from '../delivery/planner.js';
import { createPreview } from '../delivery/preview.js';
import type { Ask } from '../delivery/report-content.js';
import { createSender, type SenderOptions } from '../delivery/sender.js';
import { createPost } from '../delivery/webhook.js';
import { dashboardIdOf } from '../gateway/common/dashboard-id.js';
import { createMailBounced, mailBouncedPath } from '../gateway/hooks/mail-bounced.js';
import type { GuestCaller } from '../model/guest/caller.js';
import type { GuestReports } from '../model/guest/mail-preview.js';
import type { Clock, Tag } from '../model/ports.js';
import type { RunningWork } from '../model/query/running.js';
import { confirmableMs } from '../model/schedule/recipients.js';
import type { Reports } from '../model/schedule/reports.js';
import type { Transport } from '../platform/http/interface/client.js';
import { createMailLinksRouter, type ReadUnsubscribe } from '../platform/http/pages/mail-links.js';
import { inProcessTransport } from '../platform/http/wire/in-process.js';
import type { Log } from '../platform/logs/log.js';
import { closeAll } from '../platform/work/close-all.js';
import { repeat, systemTiming, type Timing } from '../platform/work/time.js';
import { openReport } from '../service/schedules/schedules.js';
import { createConfirmLinks, createUnsubscribe } from './mail-links.js';
import type { CountDelivery, CountWork } from './meters.js';
import type { Service } from './service.js';
import type { Admission } from './shared.js';

type Rights = Pick<Passages, 'findReportRight' | 'listTenantUsers' | 'isTenantActive' | 'findDataAppId'> & {
  readonly service: Pick<Service, 'store' | 'authenticate'>;
};

const passagesOf = (setup: MailSetup, { service, ...rights }: Rights): Passages => ({
  ...{ ...rights, setup, store: service.store, copyIdOf: dashboardIdOf },
  authenticate: async (token) => {
    const caller = await service.authenticate(['guestToken'], token);
    if (caller.kind !== 'guest') throw new Error('a guest token must authenticate a guest');
    return caller;
  },
});

type Connected = Rights & {
  readonly service: Pick<Service, 'dispatch'>;
  readonly tag: Tag;
  readonly clock: Clock;
};

const askBy =
  (call: Transport): Ask =>
  (path, body, bearer, signal) =>
    call({ method: 'POST', path, query: {}, body, bearer }, signal);

const megabyte = 1_048_576;
const readTimeoutMs = 300_000;

/** `connect` is called once the gateway exists, which is after the service. Until then reports are off. */
export const createReports = (setup: MailSetup | null) => {
  let connected: (Passages & Pick<GuestReports, 'preview'>) | null = null;
  return {
    reports: createReportsPort(setup, () => connected),
    connect: ({ tag, clock, service, ...rights }: Connected): void => {
      if (setup === null) return;
      const passages = passagesOf(setup, { service, ...rights });
      const askAs = (caller: GuestCaller) => askBy(inProcessTransport(service.dispatch, async () => caller));
      const largestBytes = setup.mail.megabytes * megabyte;
      const preview = createPreview({ ...passages, tag, clock, askAs, largestBytes, readTimeoutMs });
      connected = { ...passages, preview };
    },
  };
};

type Parts = Omit<Rights, 'service'> & {
  readonly setup: MailSetup;
  readonly reports: Reports;
  readonly service: Pick<Service, 'store' | 'dispatch' | 'authenticate' | 'use'>;
  /** The same as the service's, so that both know what an alert was checked by. */
  readonly tag: Tag;
  readonly clock: Clock;
  readonly log: Log;
  readonly admission: Pick<Admission, 'addressOf' | 'mailGuard'>;
  readonly countWork: CountWork;
  readonly running: Pick<RunningWork, 'during'>;
  /** Left out: nobody counts. */
  readonly countDelivery?: CountDelivery;
  /** Says when the next round of planning and sending is due. Left out: this machine's. */
  readonly timing?: Timing;
};

const decidingOf = ({ setup, reports, service, tag, clock, ...rights }: Parts): Deciding => {
  const { store, dispatch } = service;
  return {
    ...passagesOf(setup, { service, ...rights }),
    ...{ tag, clock, openReport: openReport({ store, reports, tag }) },
    ask: askBy(inProcessTransport(dispatch)),
    confirmUrlOf: createConfirmLinks(tag, setup.origin).urlOf,
  };
};

/** How long to wait when nothing is to do. */
const everyMs = { plan: 5_000, send: 1_000 };
const minuteMs = 60_000;
/** Longer than reading and sending together can take. */
const leaseMs = 900_000;
const mailTimeoutMs = 120_000;
const postTimeoutMs = 20_000;

const createJobs = (parts: Parts, unsubscribeUrl: SenderOptions['unsubscribeUrl'], stopping: AbortSignal) => {
  const { setup, service, clock, log } = parts;
  const { mail, sender } = setup;
  const { store } = service;
  const ids = { uuid: () => randomUUID() };
  const spreadMs = mail.spreadMinutes * minuteMs;
  const deciding = decidingOf(parts);
  const send = createSender({
    ...{
      store,
      clock,
      ids,
      log,
      use: service.use,
      running: parts.running,
      countEnded: parts.countDelivery,
      unsubscribeUrl,
      leaseMs,
      readTimeoutMs,
      stopping,
    },
    decide: decideWith(deciding),
    findRecipients: (delivery) => findRecipients(deciding, delivery),
    mailer: sender === null ? null : createMailer({ ...mail, ...sender, dkim: setup.dkim, timeoutMs: mailTimeoutMs }),
    brandOf: setup.brandOf,
    post: createPost({ clock, timeoutMs: postTimeoutMs }),
    domain: sender?.from.split('@')[1] ?? 'localhost',
    perClientPerMinute: mail.perTenantPerMinute,
    spreadMs,
    attempts: mail.attempts,
    largestBytes: mail.megabytes * megabyte,
  });
  const plan = createPlanner({ store, calendar, clock, ids, spreadMs });
  return { send, plan };
};

/** Runs `work` again and again while it finds something to do, and then waits. Failures are logged. */
const keepRunning = ({ log, timing = systemTiming }: Parts, pauseMs: number, work: () => Promise<boolean>) => {
  let isEnded = false;
  const stop = repeat(timing, pauseMs, async () => {
    try {
      while (!isEnded && (await work()));
    } catch (err) {
      log.warn({ event: 'delivery.round_failed', err }, 'a round of reports failed; the next one follows');
    }
  });
  return (): Promise<void> => {
    isEnded = true;
    return stop();
  };
};

/** Serves the links of messages. */
const createMailRouter = ({ service: { store }, setup, tag, clock }: Parts, read: ReadUnsubscribe): Router => {
  const { pause, stop } = store.schedules;
  return createMailLinksRouter({
    read,
    readConfirm: createConfirmLinks(tag, setup.origin).read,
    confirm: (addressId) => {
      const now = clock.now();
      return store.reportAddresses.confirm(addressId, new Date(now.getTime() - confirmableMs), now);
    },
    stop: ({ scheduleId, recipient }) =>
      recipient === null ? pause(scheduleId) : stop(scheduleId, recipient, clock.now()),
  });
};

type Started = { readonly router: Router; readonly close: () => Promise<void> };

/** Starts planning and sending, and serves the links that end schedules. */
export const startReports = (parts: Parts): Started => {
  const { setup, service, tag, log, admission, countWork } = parts;
  const unsubscribe = createUnsubscribe(tag, setup.origin);
  const stopping = new AbortController();
  const { send, plan } = createJobs(parts, unsubscribe.urlOf, stopping.signal);
  const senders = Array.from({ length: setup.mail.atOnce }, () => keepRunning(parts, everyMs.send, send));
  const { deliveries } = service.store;
  const planner = keepRunning(parts, everyMs.plan, async () => {
    const planned = await plan();
    const { count, seconds } = await deliveries.countWaiting(parts.clock.now());
    countWork('delivery', count, seconds);
    return planned > 0;
  });
  const bounced = createMailBounced({
    ...setup.hooks,
    ...{ clock: parts.clock, log },
    guard: (request) => admission.mailGuard(admission.addressOf(request), null),
    record: (bounce) => deliveries.bounce(bounce, parts.clock.now()),
  });
  return {
    router: createMailRouter(parts, unsubscribe.read).all(mailBouncedPath, bounced),
    close: () => {
      stopping.abort(new Error('the process stops'));
      return closeAll([planner, ...senders]);
    },
  };
};
