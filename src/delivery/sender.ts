/**
 * Sends what is due. The right of the recipient is decided for each message, at the moment at which it leaves: nothing
 * that was known when the schedule was made counts. What a recipient sees is asked for, and never decided here.
 */
import type { Log } from '../model/log-events.js';
import type { Clock, Ids } from '../model/ports.js';
import type { RunningWork } from '../model/query/running.js';
import { AlertFault, type AlertState, isQuiet } from '../model/schedule/alert.js';
import { readerOf, type TenantCopy, tenantRecipient } from '../model/schedule/host-schedule.js';
import { findMailFault } from '../model/schedule/mail-faults.js';
import { everyone, mostRecipients } from '../model/schedule/recipients.js';
import type { ClaimedDelivery, DeliveryReason, Schedule } from '../model/schedule/schedule.js';
import { anyOf } from '../model/signals.js';
import { type CountUse, noUse } from '../model/usage.js';
import type { Channel } from '../platform/config/channels.js';
import type { BrandOf } from '../platform/config/mail-brands.js';
import { unlisted } from '../platform/work/running-work.js';
import type { DeliveryEnd, DeliveryStore, NewShare } from '../service/store/deliveries.js';
import type { Mail, Mailer, MailOutcome } from './mailer.js';
import {
  type Attachment,
  type ConfirmText,
  confirmMessageOf,
  logoCid,
  type Message,
  messageOf,
  type ReportText,
} from './message.js';
import { leavesAt } from './planner.js';
import { postingOf } from './posting.js';
import type { Post, PostOutcome } from './webhook.js';

/** Why nothing may be sent to a recipient now. */
export type Refused = {
  readonly refused:
    | 'no-right'
    | 'no-address'
    | 'no-channel'
    | 'no-right-to-share'
    | 'not-confirmed'
    | 'stopped'
    | 'tenant-suspended';
};

/** A recipient who may receive the report now. */
export type Granted = {
  /** Where the message goes. */
  readonly to: { readonly address: string } | { readonly channel: Channel };
  /** What people call the tenant. Left out: its id is all that is known. */
  readonly tenantName?: string | undefined;
  /** Reads the report as this recipient reads it. Rejects if that fails; a later attempt may succeed. */
  readonly read: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Report | Silence | Question | Refused>;
  /** Whether the right still holds. Asked after reading, just before the message leaves. */
  readonly isStillGood: (delivery: ClaimedDelivery) => Promise<boolean>;
};

export type Report = Pick<
  ReportText,
  'dashboardName' | 'dashboardUrl' | 'alert' | 'language' | 'figures' | 'pictures' | 'isEmpty'
> & {
  readonly attachments: readonly Attachment[];
  /** What a check of an alert found. It is stored once the message has left. Left out for a report. */
  readonly found?: AlertState;
};

/** The address must be confirmed first: the message asks for that, and holds no report. */
export type Question = ConfirmText & {
  /** Notes that the mailbox is asked now. Returns false if another message asks it. */
  readonly begin: () => Promise<boolean>;
  /** The message was not sent, so the mailbox may be asked again. */
  readonly takeBack: () => Promise<void>;
};

/** A check of an alert found nothing to tell. */
export type Silence = { readonly silent: AlertState };

/** Decides by what holds now. Rejects if it cannot be decided; a later attempt may succeed. */
export type Decide = (delivery: ClaimedDelivery) => Promise<Granted | Refused>;

/**
 * Finds the recipients of a schedule that has some, by what holds now; of a host's schedule first its tenants. Rejects as
 * `Decide` does.
 */
export type FindRecipients = (
  delivery: ClaimedDelivery,
) => Promise<{ readonly recipients: readonly string[] } | { readonly tenants: readonly TenantCopy[] } | Refused>;

export type SenderOptions = {
  readonly store: { readonly deliveries: Pick<DeliveryStore, 'claim' | 'handOver' | 'share' | 'finish'> };
  readonly decide: Decide;
  readonly findRecipients: FindRecipients;
  /** Null: there is no mail server, and no recipient is granted an address. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  readonly post: Post;
  /** How a message to users of this tenant looks. */
  readonly brandOf: BrandOf;
  readonly unsubscribeUrl: (delivery: ClaimedDelivery) => Promise<string>;
  /** The domain of the sender, for message ids. */
  readonly domain: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Left out: nothing is counted. */
  readonly use?: CountUse;
  /** Lists what is being sent. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
  /** Called with how each attempt ended. Left out: nobody counts. */
  readonly countEnded?: ((state: DeliveryEnd['state']) => void) | undefined;
  readonly perClientPerMinute: number;
  readonly attempts: number;
  /** The time over which the tenants of a host's schedule are spread. */
  readonly spreadMs: number;
  readonly largestBytes: number;
  /** Longer than every attempt, so that no two senders hold a message. */
  readonly leaseMs: number;
  readonly readTimeoutMs: number;
  /** Aborts when the process stops: what is being read is then left for later. */
  readonly stopping: AbortSignal;
};

/** A message whose hand-over was not answered is repeated once. */
const mostHandovers = 2;
const firstDelayMs = 30_000;
const longestDelayMs = 3_600_000;

/** Milliseconds before the attempt that follows this number of attempts. */
export const delayMs = (attempts: number): number => Math.min(firstDelayMs * 2 ** (attempts - 1), longestDelayMs);

/** `status`: what the receiver answered. */
type Ending = { readonly found?: AlertState | undefined; readonly status?: number } & (
  | { readonly state: 'sent' }
  | { readonly state: 'skipped' | 'failed'; readonly reason: DeliveryReason }
  | { readonly state: 'again'; readonly reason: DeliveryReason; readonly isAnswered: boolean }
);

const skipped = (reason: DeliveryReason): Ending => ({ state: 'skipped', reason });
const failed = (reason: DeliveryReason): Ending => ({ state: 'failed', reason });
const again = (reason: DeliveryReason, isAnswered = false): Ending => ({ state: 'again', reason, isAnswered });

const endingOf = (outcome: MailOutcome | PostOutcome, by: 'mail' | 'channel'): Ending => {
  if (outcome.kind === 'taken') return { state: 'sent' };
  if (outcome.kind === 'barred') return failed('channel-address');
  const reason = 'fault' in outcome ? outcome.fault : (`${by}-${outcome.kind}` as const);
  if (outcome.kind !== 'refused') return again(reason, outcome.kind === 'unreachable');
  const { isFinal, status } = outcome;
  return { ...(isFinal ? failed(reason) : again(reason, true)), status };
};

/** The result of work that may fail for now. The failure is logged, and the delivery is tried again. */
const attempt = async <T>(
  { log }: SenderOptions,
  { id, schedule }: ClaimedDelivery,
  reason: DeliveryReason,
  work: () => Promise<T>,
): Promise<T | Ending> => {
  try {
    return await work();
  } catch (err) {
    if (err instanceof AlertFault) return failed(err.reason);
    const fields = { deliveryId: id, scheduleId: schedule.id, reason, err };
    log.warn({ event: 'delivery.attempt_failed', ...fields }, 'an attempt to send a report failed');
    return again(reason);
  }
};

const isEnding = <T extends object>(value: T | Ending): value is Ending => 'state' in value;

/** Why the owner wants nothing now. During quiet hours nothing is checked, so what lasts is told after them. */
const unwanted = ({ mutedUntil, isPaused, alert, recurrence }: Schedule, now: Date): DeliveryReason | undefined => {
  if (isPaused) return 'paused';
  if (mutedUntil !== null && mutedUntil > now) return 'muted';
  const quiet = alert?.quietHours ?? null;
  return quiet !== null && isQuiet(quiet, recurrence.timezone, now) ? 'quiet-hours' : undefined;
};

/** Ends without an attempt: nothing may be sent, whatever the right. */
const endedBefore = (options: SenderOptions, delivery: ClaimedDelivery): Ending | undefined => {
  const reason = delivery.isRequested ? undefined : unwanted(delivery.schedule, options.clock.now());
  if (reason !== undefined) return skipped(reason);
  if (delivery.handovers >= mostHandovers)
    return failed(delivery.schedule.channel === null ? 'mail-unanswered' : 'channel-unanswered');
  if (delivery.attempts > options.attempts) return failed('attempts-used-up');
  return undefined;
};

/** The size of a report's files and pictures. */
export const bytesOf = ({ attachments }: Pick<Report, 'attachments'>): number =>
  attachments.reduce((sum, { content }) => sum + content.byteLength, 0);

type Ready = { readonly granted: Granted; readonly report: Report | Question };

const prepare = async (options: SenderOptions, delivery: ClaimedDelivery): Promise<Ready | Ending> => {
  const granted = await attempt(options, delivery, 'not-decided', () => options.decide(delivery));
  if (isEnding(granted)) return granted;
  if ('refused' in granted) return skipped(granted.refused);
  const signal = anyOf(AbortSignal.timeout(options.readTimeoutMs), options.stopping);
  const report = await attempt(options, delivery, 'content-failed', () => granted.read(delivery, signal));
  if (isEnding(report)) return report;
  if ('refused' in report) return skipped(report.refused);
  if ('silent' in report) return { ...skipped('nothing-to-tell'), found: report.silent };
  if ('confirmUrl' in report) return { granted, report };
  return bytesOf(report) > options.largestBytes ? failed('content-too-large') : { granted, report };
};

/** Hands the mail to the server, to its one recipient. */
const handToMailer = async (
  { mailer, domain, brandOf }: SenderOptions,
  to: string,
  { id, schedule }: ClaimedDelivery,
  message: Message & Pick<Mail, 'attachments'>,
): Promise<Ending> => {
  if (mailer === null) throw new Error('no mail server is set up, so no recipient has an address');
  const { from, replyTo } = brandOf(schedule.owner.clientId);
  const mail = { ...message, from, replyTo, to, messageId: `<${id}@${domain}>` };
  return endingOf(await mailer.send(mail), 'mail');
};

/** The question is no report: its delivery ends as one that was left out. */
const ask = async (options: SenderOptions, address: string, delivery: ClaimedDelivery, question: Question) => {
  const message = { ...confirmMessageOf(question), attachments: [] };
  if (!(await question.begin())) return skipped('not-confirmed');
  const ending = await handToMailer(options, address, delivery, message);
  if (ending.state === 'sent') return skipped('not-confirmed');
  await question.takeBack();
  return ending;
};

/** Writes the mail of a report, with the logo of the tenant. */
export const mailOf = (
  report: Report,
  { schedule, moment }: Pick<ClaimedDelivery, 'schedule' | 'moment'>,
  { brand, unsubscribeUrl }: Pick<ReportText, 'unsubscribeUrl'> & { readonly brand: ReturnType<BrandOf> },
): Message & Pick<Mail, 'attachments'> => {
  const { name: scheduleName, format, recurrence } = schedule;
  const isForOthers = schedule.recipients !== null;
  const texts = { scheduleName, format, moment, timezone: recurrence.timezone, unsubscribeUrl, isForOthers };
  const { logo } = brand;
  const attachments = [
    ...(logo === null ? [] : [{ ...logo, filename: `${logoCid}.${logo.contentType.slice(6)}`, cid: logoCid }]),
    ...report.attachments,
  ];
  return { ...messageOf({ ...texts, ...report, brand }), attachments };
};

const mailTo = async (options: SenderOptions, address: string, delivery: ClaimedDelivery, report: Report) => {
  const unsubscribeUrl = await options.unsubscribeUrl(delivery);
  const brand = options.brandOf(delivery.schedule.owner.clientId);
  return handToMailer(options, address, delivery, mailOf(report, delivery, { brand, unsubscribeUrl }));
};

const postTo = async (
  options: SenderOptions,
  { channel, tenantName }: { readonly channel: Channel } & Pick<Granted, 'tenantName'>,
  delivery: ClaimedDelivery,
  report: Report,
) => {
  const { schedule, moment, id } = delivery;
  const { id: scheduleId, name: scheduleName, format, openedId: dashboardId } = schedule;
  const { dashboardName, dashboardUrl, language, alert } = report;
  const place = {
    scheduleId,
    scheduleName,
    clientId: schedule.owner.clientId,
    tenantName,
    dashboardId,
    dashboardName,
    dashboardUrl,
    language,
  };
  const body = postingOf(channel, { ...place, format, moment, alert });
  if (Buffer.byteLength(body) > options.largestBytes) return failed('content-too-large');
  return endingOf(await options.post(channel, { id, body }), 'channel');
};

const send = async (
  options: SenderOptions,
  delivery: ClaimedDelivery,
  leaseId: string,
): Promise<Ending | 'lease-lost'> => {
  const ready = endedBefore(options, delivery) ?? (await prepare(options, delivery));
  if (isEnding(ready)) return ready;
  const { granted, report } = ready;
  const isGood = await attempt(options, delivery, 'not-decided', async () => ({
    value: await granted.isStillGood(delivery),
  }));
  if (isEnding(isGood)) return isGood;
  if (!isGood.value) return skipped('no-right');
  const { deliveries } = options.store;
  if (!(await deliveries.handOver(delivery.id, leaseId, options.clock.now()))) return 'lease-lost';
  const { to } = granted;
  if ('confirmUrl' in report) {
    if (!('address' in to)) throw new Error('only an address is asked to confirm itself');
    return ask(options, to.address, delivery, report);
  }
  const ending = await ('channel' in to
    ? postTo(options, { channel: to.channel, tenantName: granted.tenantName }, delivery, report)
    : mailTo(options, to.address, delivery, report));
  // Only what was told is known: a check whose message did not arrive is made again.
  return ending.state === 'sent' ? { ...ending, found: report.found } : ending;
};

/** Gives each recipient a delivery of its own: the right of each is decided when its message leaves. */
const share = async (
  options: SenderOptions,
  delivery: ClaimedDelivery,
  leaseId: string,
): Promise<Ending | 'lease-lost' | 'shared'> => {
  const early = endedBefore(options, delivery);
  if (early !== undefined) return early;
  const found = await attempt(options, delivery, 'not-decided', () => options.findRecipients(delivery));
  if (isEnding(found)) return found;
  if ('refused' in found) return skipped(found.refused);
  const now = options.clock.now();
  const shares = 'tenants' in found ? tenantShares(options, delivery, found.tenants, now) : sharesOf(options, found);
  if (shares.length === 0) return skipped('no-recipients');
  if (!('tenants' in found) && shares.length > mostRecipients) return failed('too-many-recipients');
  return (await options.store.deliveries.share(delivery.id, leaseId, shares, now)) ? 'shared' : 'lease-lost';
};

const sharesOf = (
  { ids }: SenderOptions,
  { recipients }: { readonly recipients: readonly string[] },
): readonly NewShare[] => recipients.map((recipient) => ({ id: ids.uuid(), recipient }));

/** Each tenant has its own time in the window, unless the host wants the report at once. */
const tenantShares = (
  { ids, spreadMs }: SenderOptions,
  { schedule, moment, isRequested }: ClaimedDelivery,
  tenants: readonly TenantCopy[],
  now: Date,
): readonly NewShare[] =>
  tenants.map((copy) => ({
    id: ids.uuid(),
    recipient: tenantRecipient(copy.clientId, everyone),
    attemptAt: isRequested ? now : leavesAt(`${schedule.id}/${copy.clientId}`, moment, spreadMs, now),
    copy,
  }));

const endOf = (options: SenderOptions, { attempts }: ClaimedDelivery, ending: Ending): DeliveryEnd => {
  const at = options.clock.now();
  if (ending.state === 'sent') return { state: 'sent', at };
  if (ending.state !== 'again') return { state: ending.state, reason: ending.reason, at };
  const { reason, isAnswered } = ending;
  if (attempts >= options.attempts) return { state: 'failed', reason, at };
  return { state: 'due', reason, at, attemptAt: new Date(at.getTime() + delayMs(attempts)), isAnswered };
};

const deliver = async (options: SenderOptions, delivery: ClaimedDelivery, leaseId: string): Promise<void> => {
  const { log, store } = options;
  const isForEveryone = readerOf(delivery) === everyone;
  const ending = await (isForEveryone ? share : send)(options, delivery, leaseId);
  const { id: deliveryId, schedule, attempts } = delivery;
  const fields = { deliveryId, scheduleId: schedule.id, tenant: schedule.owner.clientId, attempts };
  if (ending === 'shared') {
    log.info({ event: 'delivery.ended', ...fields, state: ending }, 'the recipients of a report were found');
    return;
  }
  if (ending === 'lease-lost') {
    log.info({ event: 'delivery.lease_lost', ...fields }, 'another sender has the report, or its schedule has ended');
    return;
  }
  const end = endOf(options, delivery, ending);
  if (!(await store.deliveries.finish(deliveryId, leaseId, end, ending.found))) {
    log.info({ event: 'delivery.lease_lost', ...fields }, 'another sender has the report, or its schedule has ended');
    return;
  }
  options.countEnded?.(end.state);
  if (end.state === 'sent') await countMail(options, delivery);
  log.info({ event: 'delivery.ended', ...fields, ...toldOf(end, ending) }, 'an attempt to send a report ended');
};

/** A message that left is billed, so it is stored before the next one is taken. */
const countMail = async ({ use = noUse }: SenderOptions, delivery: ClaimedDelivery): Promise<void> => {
  const { dataAppId, clientId } = delivery.schedule.owner;
  const by = { dataAppId, clientId, userIdentifier: readerOf(delivery) };
  use.add({ ...by, dashboardId: delivery.schedule.openedId, metricId: null }, { mails: 1 });
  await use.stored();
};

/** What the log says of the end. Of a mail server's refusal also the cause in words, and the setting to change. */
const toldOf = (end: DeliveryEnd, { status }: Ending) => {
  if (end.state === 'sent') return { state: end.state };
  const { state, reason } = end;
  const fault = findMailFault(reason);
  const words = fault === undefined ? {} : { cause: fault.cause, setting: fault.setting, mend: fault.mend };
  return { state, reason, ...words, ...(status === undefined ? {} : { status }) };
};

/** Lists the attempt while it lasts. A message cannot be taken back, so it is never ended: its schedule can be paused. */
const listed = (
  { running = unlisted }: SenderOptions,
  { schedule: { id, owner, openedId } }: ClaimedDelivery,
  work: () => Promise<void>,
): Promise<void> => {
  const { dataAppId, clientId } = owner;
  const of = { kind: 'delivery', subject: id, canEnd: false, dataAppId, clientId, dashboardId: openedId } as const;
  return running.during(of, ({ begins }) => {
    begins();
    return work();
  });
};

/**
 * Returns a function that sends one report that is due. It returns false if none is. Several may run at once, in one
 * process and in others. Rejects if the ledger does not answer; the lease then ends by itself.
 */
export const createSender = (options: SenderOptions) => async (): Promise<boolean> => {
  const { store, clock, ids, leaseMs, perClientPerMinute } = options;
  const now = clock.now();
  const leaseId = ids.uuid();
  const [delivery] = await store.deliveries.claim({
    ...{ now, leaseId, limit: 1 },
    leasedUntil: new Date(now.getTime() + leaseMs),
    perClient: { count: perClientPerMinute, since: new Date(now.getTime() - 60_000) },
  });
  if (delivery !== undefined) await listed(options, delivery, () => deliver(options, delivery, leaseId));
  return delivery !== undefined;
};
