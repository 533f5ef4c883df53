/** Schedules and deliveries in the reader's words. */
import type { GuestMetric } from '../../model/guest/view.js';
import type { Alert, AlertCondition } from '../../model/schedule/alert.js';
import type { ToldState } from '../../model/schedule/history.js';
import type { Audience, Recipients } from '../../model/schedule/recipients.js';
import type { Recurrence, Weekday } from '../../model/schedule/recurrence.js';
import type { DeliveryReason, ReportFormat } from '../../model/schedule/schedule.js';
import type { Text } from '../../model/texts/text.js';
import { apart } from '../base/direction.js';
import type { Format } from '../base/format.js';
import { type Every, hourly, type SentDelivery, type SentSchedule } from './schedule-draft.js';

const days: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** The days of the week with their names, from Monday on. */
export const namedDays = ({ language }: Format): readonly (readonly [Weekday, string])[] => {
  const names = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' });
  // 1 January 2024 was a Monday.
  return days.map((day, index) => [day, names.format(Date.UTC(2024, 0, 1 + index))]);
};

export const formatName = (format: ReportFormat, text: Text): string =>
  ({ pdf: 'PDF', png: 'PNG', xlsx: 'Excel (XLSX)', csv: 'CSV', link: text('Link'), alert: text('Alert') })[format];

export const everyName = (every: Every, text: Text): string =>
  ({
    workday: text('Each workday'),
    day: text('Each day'),
    week: text('Each week'),
    month: text('Each month'),
    hour: text('Each hour'),
    cron: text('Cron expression'),
  })[every];

export const conditionName = (is: AlertCondition['is'], text: Text): string =>
  ({
    above: text('Is above'),
    below: text('Is below'),
    changeAbove: text('Rises by more than'),
    changeBelow: text('Falls by more than'),
    missing: text('Has no value'),
    newKey: text('Has a new row'),
  })[is];

export const stateName = (state: ToldState, text: Text): string =>
  ({
    due: text('Waiting'),
    sending: text('Being sent'),
    sent: text('Sent'),
    failed: text('Not sent'),
    skipped: text('Left out'),
    shared: text('Sent'),
    checked: text('Checked'),
  })[state];

export const reasonName = (reason: DeliveryReason, text: Text): string => {
  switch (reason) {
    case 'no-right':
      return text('The recipient could not open it at that time');
    case 'no-address':
      return text('The recipient has no address that may be written to');
    case 'no-channel':
      return text('The channel may not be used');
    case 'no-recipients':
      return text('Nobody was to get it');
    case 'no-right-to-share':
      return text('You could not send it to others at that time');
    case 'not-confirmed':
      return text('The address is not confirmed');
    case 'stopped':
      return text('The recipient does not want it');
    case 'missed':
    case 'not-decided':
      return text('Nothing was sent at that time');
    case 'paused':
      return text('Paused');
    case 'muted':
      return text('Muted');
    case 'quiet-hours':
      return text('Quiet hours');
    case 'nothing-to-tell':
      return text('Nothing to tell');
    case 'content-too-large':
    case 'mail-too-large':
    case 'too-many-recipients':
    case 'too-many-rows':
      return text('Too much data');
    case 'measure-not-numeric':
    case 'metric-changed':
      return text('The card has changed');
    case 'content-failed':
      return text('The data could not be read');
    default:
      return text('The receiver did not take it');
  }
};

export const listName = (names: readonly string[], { language }: Format): string =>
  new Intl.ListFormat(language, { type: 'conjunction', style: 'short' }).format(names);

/** A user by address, where no other user has the same one. */
export const userName = (userIdentifier: string, audience: Audience | null): string => {
  const address = audience?.users.find((user) => user.userIdentifier === userIdentifier)?.address ?? null;
  const isOne = audience?.users.filter((user) => user.address === address).length === 1;
  return address !== null && isOne ? address : userIdentifier;
};

/** A digest stands for an address that the schedule names no longer. */
const digestPattern = /^[\w-]{43}$/;

/** Whose delivery it is. Empty: nobody’s, because the recipients were not found. */
export const recipientName = (
  { recipient }: Pick<SentDelivery, 'recipient'>,
  audience: Audience | null,
  format: Format,
): string => {
  if (recipient === '') return '';
  return digestPattern.test(recipient)
    ? format.text('A former recipient')
    : apart(userName(recipient, audience), format);
};

/** Who gets a schedule, with the addresses that are waiting. */
export const recipientsName = (
  { users, roles, addresses }: Recipients,
  unconfirmed: readonly string[],
  audience: Audience | null,
  format: Format,
): string => {
  const { text } = format;
  const waiting = text('Waiting for confirmation');
  const names = [
    ...roles.map((role) => text('Role {name}', { name: apart(role, format) })),
    ...users.map((user) => apart(userName(user, audience), format)),
    ...addresses.map((address) =>
      unconfirmed.includes(address) ? `${apart(address, format)} (${waiting})` : apart(address, format),
    ),
  ];
  return text('{name}: {value}', { name: text('Send to'), value: names.join(', ') });
};

export const momentName = (moment: string, { language }: Format): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(moment));

const timeName = (at: string, { language }: Format): string => {
  const [hour = 0, minute = 0] = at.split(':').map(Number);
  const options = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(language, options).format(Date.UTC(2024, 0, 1, hour, minute));
};

export const ownTimezone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const dayPart = (recurrence: Recurrence, format: Format): string | undefined => {
  if (!('every' in recurrence)) return undefined;
  if (recurrence.every === 'week') {
    const named = namedDays(format).filter(([day]) => recurrence.on.includes(day));
    return listName(
      named.map(([, name]) => name),
      format,
    );
  }
  if (recurrence.every !== 'month') return undefined;
  const { text } = format;
  return recurrence.day === 'last' ? text('Last day') : text('Day {day}', { day: String(recurrence.day) });
};

/** On which days a schedule sends. */
export const daysName = (recurrence: Exclude<Recurrence, { cron: string }>, format: Format): string =>
  [everyName(recurrence.every, format.text), dayPart(recurrence, format)]
    .filter((part) => part !== undefined)
    .join(', ');

/** When a schedule sends; with its time zone where that is not the known one, which is the reader's if left out. */
export const recurrenceName = (recurrence: Recurrence, format: Format, knownZone = ownTimezone()): string => {
  const { text } = format;
  const zone = recurrence.timezone === knownZone ? undefined : recurrence.timezone;
  const parts =
    'cron' in recurrence
      ? recurrence.cron === hourly
        ? [text('Each hour')]
        : [text('{name}: {value}', { name: text('Cron expression'), value: recurrence.cron })]
      : [daysName(recurrence, format), timeName(recurrence.at, format)];
  return [...parts, zone].filter((part) => part !== undefined).join(', ');
};

const limitName = (condition: AlertCondition, { text, language }: Format): string => {
  const name = conditionName(condition.is, text);
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 20 });
  if ('value' in condition) return `${name} ${number.format(condition.value)}`;
  if (!('percent' in condition)) return name;
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 20 });
  return `${name} ${percent.format((condition.is === 'changeBelow' ? -1 : 1) * (condition.percent / 100))}`;
};

export const alertName = (
  { metricId, measure, condition }: Alert,
  metrics: readonly GuestMetric[],
  format: Format,
): string => {
  const card = metrics.find((metric) => metric.metricId === metricId)?.name ?? format.text('A card that is gone');
  return [card, measure, limitName(condition, format)].join(' · ');
};

/** What comes next of a schedule. */
export const outlookName = (schedule: SentSchedule, now: Date, format: Format): string => {
  const { text } = format;
  const { isPaused, mutedUntil, nextAt } = schedule;
  if (isPaused) return text('Paused');
  if (mutedUntil !== null && new Date(mutedUntil) > now)
    return text('{name}: {value}', { name: text('Muted until'), value: momentName(mutedUntil, format) });
  if (nextAt === null) return text('Never again');
  return text('{name}: {value}', { name: text('Next time'), value: momentName(nextAt, format) });
};
