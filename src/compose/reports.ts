/** Builds the sending of reports over a gateway and a service of the same process. */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Router } from 'express';
import { calendar } from '../deliver/calendar.js';
import { createMailer } from '../deliver/mailer.js';
import { createPlanner } from '../deliver/planner.js';
import { createSender, type Decide, type Granted, type Refused, type Report, type Silence } from '../deliver/sender.js';
import { createPost } from '../deliver/webhook.js';
import { isSameJson } from '../domain/canonical-json.js';
import { readAddress } from '../domain/deliver/address.js';
import type { Reports, Way } from '../domain/deliver/reports.js';
import type { ClaimedDelivery, Schedule, ScheduleOwner } from '../domain/deliver/schedule.js';
import type { GuestCaller } from '../domain/guest/caller.js';
import type { Clock, Tag } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { createMailBounced, mailBouncedPath } from '../gateway/hooks/mail-bounced.js';
import type { FindReportRight, ReportRight } from '../gateway/report-right.js';
import { createUnsubscribeRouter, unsubscribePath } from '../http/unsubscribe.js';
import type { Channel } from '../platform/channels.js';
import { closeAll } from '../platform/close-all.js';
import type { Config } from '../platform/config.js';
import type { Dkim } from '../platform/dkim.js';
import type { Log } from '../platform/log.js';
import type { BrandOf } from '../platform/mail-brands.js';
import { repeat } from '../platform/repeat.js';
import { createTag } from '../platform/tags.js';
import { systemTiming } from '../platform/timing.js';
import { readLanguage } from '../texts/messages.js';
import { openReport } from '../usecases/guest/schedules.js';
import { checkAlert } from './alert-content.js';
import { linkOf, readReport } from './report-content.js';
import type { Service } from './service.js';

type Mail = Config['settings']['mail'];

/** What is needed to send; null: reports are off. */
export type MailSetup = {
  readonly mail: Mail;
  /** Null: nothing goes by e-mail. */
  readonly sender: { readonly from: string; readonly smtpUrl: string } | null;
  readonly channels: readonly Channel[];
  readonly brandOf: BrandOf;
  readonly dkim: Dkim | null;
  /** Those of the hooks, which tell of messages that came back. */
  readonly hooks: { readonly secrets: readonly string[]; readonly toleranceSeconds: number };
  readonly origin: string;
};

export const mailSetupOf = ({
  settings,
  secrets,
  ...config
}: Pick<Config, 'settings' | 'secrets' | 'channels' | 'brandOf' | 'dkim'>): MailSetup | null => {
  const { mail, gateway } = settings;
  const { smtpUrl } = secrets;
  const sender = mail.from === null || smtpUrl === null ? null : { from: mail.from, smtpUrl };
  if ((sender === null && config.channels.length === 0) || gateway.publicOrigin === null) return null;
  const { channels, brandOf, dkim } = config;
  const hooks = { secrets: secrets.hookSecrets, ...gateway.hooks };
  return { mail, sender, channels, brandOf, dkim, hooks, origin: gateway.publicOrigin };
};

/** The address of a right: from the claims of a signed session, and nowhere else. */
const addressOf = ({ mail, sender }: MailSetup, { claims }: ReportRight): string | undefined =>
  sender === null || claims.email_verified === false
    ? undefined
    : readAddress(claims[mail.addressClaim], mail.allowedDomains);

/** The channels that the right grants for a dashboard, as far as the configuration has them. */
const channelsOf = ({ channels }: MailSetup, right: ReportRight, openedId: string): readonly Channel[] => {
  const granted = right.channels.get(openedId) ?? [];
  return channels.filter(({ name }) => granted.includes(name));
};

/** Where a message goes by this right; undefined: nowhere. */
const wayOf = (setup: MailSetup, right: ReportRight, { openedId, channel: name }: Way): Granted['to'] | undefined => {
  if (name === null) {
    const address = addressOf(setup, right);
    return address === undefined ? undefined : { address };
  }
  const channel = channelsOf(setup, right, openedId).find((one) => one.name === name);
  return channel === undefined ? undefined : { channel };
};

const noWay = ({ channel }: Way) => (channel === null ? 'no-address' : 'no-channel');

/** `connect` is called once the gateway exists, which is after the service. Until then reports are off. */
export const createReports = (setup: MailSetup | null) => {
  let sending: Pick<Parts, 'findReportRight' | 'service'> | null = null;
  const reports: Reports = {
    calendar,
    isOn: () => setup !== null && sending !== null,
    hasLinks: setup !== null && setup.mail.dashboardUrl !== null,
    check: async (owner, way) => {
      if (setup === null || sending === null) return noWay(way);
      const right = await sending.findReportRight(owner, randomUUID());
      if (right === null || wayOf(setup, right, way) === undefined) return noWay(way);
      // The gateway knows users of one data app. A guest of another one can bear the same names.
      return isOf(await callerOf(sending, right.token), owner) ? 'ready' : noWay(way);
    },
    listChannels: async (owner, openedId) => {
      const right = setup === null || sending === null ? null : await sending.findReportRight(owner, randomUUID());
      if (setup === null || sending === null || right === null) return [];
      if (!isOf(await callerOf(sending, right.token), owner)) return [];
      return channelsOf(setup, right, openedId).map(({ name, kind }) => ({ name, kind }));
    },
  };
  return {
    reports,
    connect: (parts: Pick<Parts, 'findReportRight' | 'service'>): void => {
      sending = parts;
    },
  };
};

type Parts = {
  readonly setup: MailSetup;
  readonly reports: Reports;
  readonly service: Pick<Service, 'store' | 'dispatch' | 'authenticate'>;
  readonly findReportRight: FindReportRight;
  /** The same as the service's, so that both know what an alert was checked by. */
  readonly tag: Tag;
  readonly clock: Clock;
  readonly log: Log;
  /** How long to wait when nothing is to do. Left out: the usual times. */
  readonly everyMs?: { readonly plan: number; readonly send: number };
};

const isOf = ({ grant }: GuestCaller, owner: ScheduleOwner): boolean =>
  grant.dataAppId === owner.dataAppId &&
  grant.clientId === owner.clientId &&
  grant.userIdentifier === owner.userIdentifier;

const callerOf = async ({ service }: Pick<Parts, 'service'>, token: string): Promise<GuestCaller> => {
  const caller = await service.authenticate(['guestToken'], token);
  if (caller.kind !== 'guest') throw new Error('a guest token must authenticate a guest');
  return caller;
};

/** Whether the same right holds still. Throws if another one does: the report must then be read anew. */
const isStillGood = async (parts: Parts, schedule: Schedule, before: ReportRight): Promise<boolean> => {
  const { owner } = schedule;
  const right = await parts.findReportRight(owner, randomUUID());
  if (right === null) return false;
  const now = wayOf(parts.setup, right, schedule);
  if (now === undefined || !isSameJson(now, wayOf(parts.setup, before, schedule))) return false;
  if (right.token !== before.token) throw new Error('the right changed while the report was read');
  return isOf(await callerOf(parts, right.token), owner);
};

/** UNAUTHORIZED and the end of a token mean that there is no right. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Refusal && ['UNAUTHORIZED', 'AUTHENTICATION_ERROR', 'TOKEN_EXPIRED'].includes(error.code);

/** The language of a reader: that of the session, else that of the tenant, else that of the configuration. */
const languageFor = ({ mail, brandOf }: MailSetup, { claims }: ReportRight, { owner }: Schedule): string | undefined =>
  readLanguage(claims[mail.languageClaim]) ?? brandOf(owner.clientId).language ?? undefined;

/** Reads what a message says, by the right alone. Throws a refusal if there is none. */
const readFor = async (
  parts: Parts,
  right: ReportRight,
  { schedule, isRequested }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Report | Silence | Refused> => {
  const { service, reports, tag, clock, setup } = parts;
  const { token } = right;
  const language = languageFor(setup, right, schedule);
  const caller = await callerOf(parts, token);
  const { store, dispatch } = service;
  const opened = await openReport({ store, reports, tag })(caller, schedule);
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

const grantedOf = (parts: Parts, schedule: Schedule, right: ReportRight, to: Granted['to']): Granted => ({
  to,
  read: async (delivery, signal) => {
    try {
      return await readFor(parts, right, delivery, signal);
    } catch (error) {
      if (isRefusal(error)) return { refused: 'no-right' };
      throw error;
    }
  },
  isStillGood: () => isStillGood(parts, schedule, right),
});

const decideWith =
  (parts: Parts): Decide =>
  async (schedule, deliveryId) => {
    const right = await parts.findReportRight(schedule.owner, deliveryId);
    if (right === null) return { refused: 'no-right' };
    const to = wayOf(parts.setup, right, schedule);
    return to === undefined ? { refused: noWay(schedule) } : grantedOf(parts, schedule, right, to);
  };

/** Takes the same time for any two texts of one length. */
const isSameText = (a: string, b: string): boolean =>
  Buffer.byteLength(a) === Buffer.byteLength(b) && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const createUnsubscribe = (tag: Tag, origin: string) => {
  const textOf = async (scheduleId: string): Promise<string> =>
    `${scheduleId}.${await tag(['unsubscribe', scheduleId])}`;
  return {
    urlOf: async (scheduleId: string): Promise<string> => `${origin}${unsubscribePath}/${await textOf(scheduleId)}`,
    read: async (text: string): Promise<string | undefined> => {
      const [scheduleId = ''] = text.split('.');
      return isSameText(await textOf(scheduleId), text) ? scheduleId : undefined;
    },
  };
};

const usualMs = { plan: 5_000, send: 1_000 };
const hourMs = 3_600_000;
const historyMs = 90 * 24 * hourMs;
const megabyte = 1_048_576;
/** Longer than reading and sending together can take. */
const leaseMs = 900_000;
const readTimeoutMs = 300_000;
const mailTimeoutMs = 120_000;
const postTimeoutMs = 20_000;

const createJobs = (parts: Parts, unsubscribeUrl: (scheduleId: string) => Promise<string>, stopping: AbortSignal) => {
  const { setup, service, clock, log } = parts;
  const { mail, sender } = setup;
  const { store } = service;
  const ids = { uuid: randomUUID };
  const send = createSender({
    ...{ store, clock, ids, log, unsubscribeUrl, leaseMs, readTimeoutMs, stopping },
    decide: decideWith(parts),
    mailer: sender === null ? null : createMailer({ ...mail, ...sender, dkim: setup.dkim, timeoutMs: mailTimeoutMs }),
    brandOf: setup.brandOf,
    post: createPost({ clock, timeoutMs: postTimeoutMs }),
    domain: sender?.from.split('@')[1] ?? 'localhost',
    perClientPerMinute: mail.perTenantPerMinute,
    attempts: mail.attempts,
    largestBytes: mail.megabytes * megabyte,
  });
  const plan = createPlanner({ store, calendar, clock, ids });
  const purge = () => store.deliveries.purge(new Date(clock.now().getTime() - historyMs));
  return { send, plan, purge };
};

/** Runs `work` again and again while it finds something to do, and then waits. Failures are logged. */
const keepRunning = (log: Log, everyMs: number, work: () => Promise<boolean>) => {
  let isEnded = false;
  const stop = repeat(systemTiming, everyMs, async () => {
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

type Started = { readonly router: Router; readonly close: () => Promise<void> };

/** Starts planning and sending, and serves the links that end schedules. */
export const startReports = (given: Omit<Parts, 'tag'> & { readonly encryptionKey: string }): Started => {
  const { setup, service, encryptionKey, log, everyMs = usualMs } = given;
  const tag = createTag(Buffer.from(encryptionKey, 'base64'));
  const parts = { ...given, tag };
  const unsubscribe = createUnsubscribe(tag, setup.origin);
  const stop = new AbortController();
  const { send, plan, purge } = createJobs(parts, unsubscribe.urlOf, stop.signal);
  const senders = Array.from({ length: setup.mail.atOnce }, () => keepRunning(log, everyMs.send, send));
  const planner = keepRunning(log, everyMs.plan, async () => (await plan()) > 0);
  const purger = keepRunning(log, hourMs, async () => (await purge()) < 0);
  const { pause } = service.store.schedules;
  const { deliveries } = service.store;
  const bounced = createMailBounced({
    ...setup.hooks,
    ...{ clock: parts.clock, log },
    record: (bounce) => deliveries.bounce(bounce, parts.clock.now()),
  });
  return {
    router: createUnsubscribeRouter({ read: unsubscribe.read, pause }).all(mailBouncedPath, bounced),
    close: () => {
      stop.abort(new Error('the process stops'));
      return closeAll([planner, purger, ...senders]);
    },
  };
};
