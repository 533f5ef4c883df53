/** What somebody may learn of deliveries that others got by their own right. */
import type { Delivery, DeliveryReason, DeliveryState, Schedule, WatchedSchedule } from './schedule.js';

/** `checked`: it was decided what the recipient gets, and nobody else is told what that was. */
export type ToldState = DeliveryState | 'checked';
/** A delivery as it is told to somebody. */
export type ToldDelivery = Omit<Delivery, 'state'> & { readonly state: ToldState };

/** Reasons that are found before a row is read. */
const reasonsBeforeRows: ReadonlySet<DeliveryReason> = new Set([
  ...(['missed', 'muted', 'paused', 'quiet-hours', 'stopped'] as const),
  ...([
    'no-address',
    'no-recipients',
    'no-right',
    'no-right-to-share',
    'not-confirmed',
    'too-many-recipients',
  ] as const),
]);

type Outcome = Pick<ToldDelivery, 'state' | 'reason'>;

/**
 * Whether an alert was sent says whether its reader's rows are in breach. It is kept from everybody else: a maker who may
 * choose the limit could otherwise find out any value of a recipient.
 */
const concealedOutcome = ({ state, reason }: Pick<Delivery, 'state' | 'reason'>): Outcome => {
  const isUntouched = state === 'due' && reason === null;
  const isOpen = reason !== null && reasonsBeforeRows.has(reason) && (state === 'skipped' || state === 'failed');
  return isUntouched || isOpen ? { state, reason } : { state: 'checked', reason: null };
};

/** A delivery of an alert to another user, or of a message that rows decide for a person who sees no data. */
export const concealed = (delivery: Delivery): ToldDelivery => ({
  ...delivery,
  ...concealedOutcome(delivery),
  ...{ attempts: 0, finishedAt: null },
});

/** Time in milliseconds between two requests for a check of others' rows. */
const betweenChecksMs = 60_000;

/** Whether a check was asked for so lately that another one must wait. It depends on nothing that a check found. */
export const wasAskedLately = (latest: readonly Pick<Delivery, 'isRequested' | 'moment'>[], now: Date): boolean =>
  latest.some(({ isRequested, moment }) => isRequested && now.getTime() - moment.getTime() < betweenChecksMs);

/** A schedule as those who manage the tenant's schedules are told of it. */
export type ToldSchedule = Omit<WatchedSchedule, 'last'> & {
  readonly last: (Omit<NonNullable<WatchedSchedule['last']>, keyof Outcome> & Outcome) | null;
};

const withoutOutcome = (schedule: WatchedSchedule): ToldSchedule => {
  const { last } = schedule;
  if (last === null) return schedule;
  // A moment of an attempt tells that a message was sent.
  return { ...schedule, last: { ...last, ...concealedOutcome(last), finishedAt: null } };
};

export const toldSchedule = (schedule: WatchedSchedule): ToldSchedule =>
  schedule.format === 'alert' ? withoutOutcome(schedule) : schedule;

/** Whether rows decide what becomes of a message: a file whose query fails, or is too large, is not sent. */
export const dependsOnRows = ({ format }: Pick<Schedule, 'format'>): boolean => format !== 'link';

/** A schedule as people who see no data are told of it. */
export const blindSchedule = (schedule: WatchedSchedule): ToldSchedule =>
  dependsOnRows(schedule) ? withoutOutcome(schedule) : schedule;
