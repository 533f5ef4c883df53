/** Builds the sending of reports over a gateway and a service of the same process. */
import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import { calendar } from '../deliver/calendar.js';
import { createMailer } from '../deliver/mailer.js';
import { createPlanner } from '../deliver/planner.js';
import {
  createSender,
  type Decide,
  type Granted,
  type Question,
  type Refused,
  type Report,
  type SenderOptions,
  type Silence,
} from '../deliver/sender.js';
import { createPost } from '../deliver/webhook.js';
import { confirmableMs, type KnownAddress } from '../domain/deliver/recipients.js';
import type { Reports } from '../domain/deliver/reports.js';
import type { ClaimedDelivery } from '../domain/deliver/schedule.js';
import type { Clock, Tag } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { createMailBounced, mailBouncedPath } from '../gateway/hooks/mail-bounced.js';
import { createMailLinksRouter, type ReadUnsubscribe } from '../http/mail-links.js';
import { closeAll } from '../platform/close-all.js';
import type { Log } from '../platform/log.js';
import { repeat } from '../platform/repeat.js';
import { systemTiming, type Timing } from '../platform/timing.js';
import { readLanguage } from '../texts/messages.js';
import { openReport } from '../usecases/guest/schedules.js';
import { checkAlert } from './alert-content.js';
import { createConfirmLinks, createUnsubscribe } from './mail-links.js';
import { channelsOf, type MailSetup, noWay, wayOf } from './mail-setup.js';
import type { CountWork } from './metrics.js';
import { linkOf, readReport } from './report-content.js';
import {
  callerOf,
  findAudience,
  findOwnRight,
  findPassage,
  findRecipients,
  isStillGood,
  type Passage,
  type Passages,
} from './report-passage.js';
import type { Service } from './service.js';
import type { Admission } from './shared.js';

type Connected = Omit<Passages, 'setup'>;

/** `connect` is called once the gateway exists, which is after the service. Until then reports are off. */
export const createReports = (setup: MailSetup | null) => {
  let sending: Connected | null = null;
  const reports: Reports = {
    calendar,
    isOn: () => setup !== null && sending !== null,
    isFor: async (dataAppId, channel) =>
      setup !== null &&
      (setup.sender !== null || channel !== null) &&
      sending !== null &&
      (await sending.findDataAppId()) === dataAppId,
    channels: setup?.channels.map(({ name }) => name) ?? [],
    hasLinks: setup !== null && setup.mail.dashboardUrl !== null,
    check: async (owner, way) => {
      if (setup === null || sending === null) return noWay(way);
      const right = await findOwnRight(sending, owner, randomUUID());
      return right === null || wayOf(setup, right, way) === undefined ? noWay(way) : 'ready';
    },
    listChannels: async (owner, openedId) => {
      if (setup === null || sending === null) return [];
      const right = await findOwnRight(sending, owner, randomUUID());
      if (right === null) return [];
      return channelsOf(setup, right, openedId).map(({ name, kind }) => ({ name, kind }));
    },
    findAudience: async (owner, openedId) =>
      setup === null || sending === null ? null : findAudience({ setup, ...sending }, owner, openedId),
  };
  return {
    reports,
    connect: (parts: Connected): void => {
      sending = parts;
    },
  };
};

type Parts = Passages & {
  readonly reports: Reports;
  readonly service: Pick<Service, 'store' | 'dispatch' | 'authenticate'>;
  /** The same as the service's, so that both know what an alert was checked by. */
  readonly tag: Tag;
  readonly clock: Clock;
  readonly log: Log;
  readonly admission: Pick<Admission, 'addressOf' | 'mailGuard'>;
  readonly countWork: CountWork;
  /** Says when the next round of planning and sending is due. Left out: this machine's. */
  readonly timing?: Timing;
};

/** UNAUTHORIZED and the end of a token mean that there is no right. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Refusal && ['UNAUTHORIZED', 'AUTHENTICATION_ERROR', 'TOKEN_EXPIRED'].includes(error.code);

/** The language of a reader: that of the session, else that of the tenant, else that of the configuration. */
const languageFor = ({ mail, brandOf }: MailSetup, { right, reader }: Passage): string | undefined =>
  readLanguage(right.claims[mail.languageClaim]) ?? brandOf(reader.clientId).language ?? undefined;

const questionOf = async (
  { service, tag, clock, setup }: Parts,
  { id, askedAt }: KnownAddress,
): Promise<Omit<Question, 'language'>> => {
  const { noteAsked } = service.store.reportAddresses;
  const now = clock.now();
  return {
    confirmUrl: await createConfirmLinks(tag, setup.origin).urlOf(id),
    begin: () => noteAsked(id, askedAt, now),
    takeBack: async () => void (await noteAsked(id, now, askedAt)),
  };
};

/** Reads what a message says, by the right alone. Throws a refusal if there is none. */
const readFor = async (
  parts: Parts,
  passage: Passage,
  { schedule, isRequested }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Report | Silence | Question | Refused> => {
  const { service, reports, tag, clock, setup } = parts;
  const { right, reader, asks } = passage;
  const { token } = right;
  const language = languageFor(setup, passage);
  const caller = await callerOf(service, token);
  const { store, dispatch } = service;
  const opened = await openReport({ store, reports, tag })(caller, schedule, reader.userIdentifier);
  if (asks !== undefined) return { ...(await questionOf(parts, asks)), language };
  const { dashboardUrl } = setup.mail;
  const { alert } = schedule;
  if (alert === null || opened.alert === null)
    return readReport({ dispatch, token, schedule, opened, dashboardUrl, language }, signal);
  const reading = { dispatch, token, schedule, alert, opened: opened.alert, tag, now: clock.now(), isRequested };
  const checked = await checkAlert(reading, signal);
  if ('refused' in checked) return checked;
  const { text, state: found } = checked;
  if (text === null) return { silent: found };
  const url = linkOf(dashboardUrl, schedule.openedId);
  return { dashboardName: opened.name, dashboardUrl: url, attachments: [], alert: text, found, language };
};

const grantedOf = (parts: Parts, passage: Passage): Granted => ({
  to: passage.to,
  read: async (delivery, signal) => {
    try {
      return await readFor(parts, passage, delivery, signal);
    } catch (error) {
      if (isRefusal(error)) return { refused: 'no-right' };
      throw error;
    }
  },
  isStillGood: (delivery) => isStillGood(parts, delivery, passage),
});

const decideWith =
  (parts: Parts): Decide =>
  async (delivery) => {
    const found = await findPassage(parts, delivery);
    return 'refused' in found ? found : grantedOf(parts, found);
  };

/** How long to wait when nothing is to do. */
const everyMs = { plan: 5_000, send: 1_000 };
const minuteMs = 60_000;
const hourMs = 3_600_000;
const historyMs = 90 * 24 * hourMs;
const megabyte = 1_048_576;
/** Longer than reading and sending together can take. */
const leaseMs = 900_000;
const readTimeoutMs = 300_000;
const mailTimeoutMs = 120_000;
const postTimeoutMs = 20_000;

const createJobs = (parts: Parts, unsubscribeUrl: SenderOptions['unsubscribeUrl'], stopping: AbortSignal) => {
  const { setup, service, clock, log } = parts;
  const { mail, sender } = setup;
  const { store } = service;
  const ids = { uuid: () => randomUUID() };
  const spreadMs = mail.spreadMinutes * minuteMs;
  const send = createSender({
    ...{ store, clock, ids, log, unsubscribeUrl, leaseMs, readTimeoutMs, stopping },
    decide: decideWith(parts),
    findRecipients: (delivery) => findRecipients(parts, delivery),
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
  const purge = () => store.deliveries.purge(new Date(clock.now().getTime() - historyMs));
  return { send, plan, purge };
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
  const { send, plan, purge } = createJobs(parts, unsubscribe.urlOf, stopping.signal);
  const senders = Array.from({ length: setup.mail.atOnce }, () => keepRunning(parts, everyMs.send, send));
  const { deliveries } = service.store;
  const planner = keepRunning(parts, everyMs.plan, async () => {
    const planned = await plan();
    const { count, seconds } = await deliveries.countWaiting(parts.clock.now());
    countWork('delivery', count, seconds);
    return planned > 0;
  });
  const purger = keepRunning(parts, hourMs, async () => (await purge()) < 0);
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
      return closeAll([planner, purger, ...senders]);
    },
  };
};
