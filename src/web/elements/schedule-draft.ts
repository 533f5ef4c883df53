/** What the form of a schedule holds, from a schedule and back to a request. Pure. */
import type { GuestMetric } from '../../model/guest/view.js';
import type { Alert, AlertCondition } from '../../model/schedule/alert.js';
import type { Recipients } from '../../model/schedule/recipients.js';
import type { Recurrence, Weekday } from '../../model/schedule/recurrence.js';
import type { ReportFormat } from '../../model/schedule/schedule.js';
import type { FilterValues } from '../base/client.js';
import type {
  createGuestSchedule,
  listGuestChannels,
  listGuestDeliveries,
  listGuestSchedules,
} from '../base/guest-operations.js';
import type { GuestData, GuestInput } from '../base/operations.js';

export type SentSchedule = GuestData<typeof listGuestSchedules>[number];
export type SentDelivery = GuestData<typeof listGuestDeliveries>[number];
export type Channel = GuestData<typeof listGuestChannels>[number];

export type Every = 'workday' | 'day' | 'week' | 'month' | 'hour' | 'cron';

/** Values of the form's fields, as its fields hold them. */
export type Draft = {
  readonly name: string;
  readonly format: ReportFormat;
  readonly every: Every;
  readonly at: string;
  readonly on: readonly Weekday[];
  /** 1 to 31, or `last`. */
  readonly day: string;
  readonly cron: string;
  readonly timezone: string;
  /** Empty: by e-mail. */
  readonly channel: string;
  /** Whether it goes to `recipients`, and not to the reader. */
  readonly isForOthers: boolean;
  readonly recipients: Recipients;
  /** Values of the dashboard's filters, and the chosen cards; no card: all. Both of files only. */
  readonly filters: FilterValues;
  readonly metricIds: readonly string[];
  readonly hasOwnCards: boolean;
  /** A time of the reader's clock; empty: none. */
  readonly mutedUntil: string;
  readonly metricId: string;
  readonly measure: string;
  readonly is: AlertCondition['is'];
  /** A limit; or by how many percent the value rises or falls. */
  readonly value: string;
  readonly to: 'lastCheck' | 'previousPeriod';
  readonly hasQuietHours: boolean;
  readonly quietFrom: string;
  readonly quietTo: string;
};

const nobody: Recipients = { users: [], roles: [], addresses: [] };
/** The cron expression of what comes every hour. */
export const hourly = '0 * * * *';

const draftOfRecurrence = (recurrence: Recurrence): Partial<Draft> => {
  const { timezone } = recurrence;
  if ('cron' in recurrence) {
    const { cron } = recurrence;
    return { timezone, cron, every: cron === hourly ? 'hour' : 'cron' };
  }
  const { every, at } = recurrence;
  if (recurrence.every === 'week') return { timezone, every, at, on: recurrence.on };
  return recurrence.every === 'month' ? { timezone, every, at, day: String(recurrence.day) } : { timezone, every, at };
};

/** A fall has a negative percentage on the wire, and a positive one for the reader. */
const draftOfCondition = (condition: AlertCondition): Partial<Draft> => {
  const { is } = condition;
  if ('value' in condition) return { is, value: String(condition.value) };
  if (!('percent' in condition)) return { is };
  return { is, to: condition.to, value: String(is === 'changeBelow' ? -condition.percent : condition.percent) };
};

const draftOfAlert = ({ metricId, measure, condition, quietHours }: Alert): Partial<Draft> => ({
  ...{ metricId, measure, ...draftOfCondition(condition), hasQuietHours: quietHours !== null },
  ...(quietHours === null ? {} : { quietFrom: quietHours.from, quietTo: quietHours.to }),
});

const two = (number: number): string => String(number).padStart(2, '0');

/** A moment as the value of a field for date and time, by the reader's clock. */
const localTime = (moment: string): string => {
  const at = new Date(moment);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** A card as the form offers it. */
export type Card = {
  readonly metricId: string;
  readonly name: string;
  readonly measures: readonly string[];
  readonly conditions: readonly AlertCondition['is'][];
};

/** The draft with a card that there is, and with a measure and a condition of that card. */
export const fitted = (draft: Draft, cards: readonly Card[]): Draft => {
  const known = cards.find(({ metricId }) => metricId === draft.metricId);
  const card = known ?? cards[0];
  if (card === undefined) return draft;
  const { metricId, measures, conditions } = card;
  return {
    ...{ ...draft, metricId },
    measure: known && measures.includes(draft.measure) ? draft.measure : (measures[0] ?? ''),
    is: conditions.includes(draft.is) ? draft.is : 'below',
  };
};

/** The draft of a new schedule in this time zone. */
export const newDraft = (
  format: ReportFormat,
  cards: readonly Card[],
  timezone: string,
  filters: FilterValues = {},
): Draft => {
  const draft: Draft = {
    ...{ filters, metricIds: [], hasOwnCards: false },
    ...{ name: '', format, timezone, channel: '', isForOthers: false, recipients: nobody, mutedUntil: '' },
    ...{ every: format === 'alert' ? 'hour' : 'workday', at: '08:00', on: ['mon'], day: '1', cron: '0 8 * * 1-5' },
    ...{ metricId: '', measure: '', is: 'below', value: '', to: 'lastCheck' },
    ...{ hasQuietHours: false, quietFrom: '22:00', quietTo: '07:00' },
  };
  return fitted(draft, cards);
};

export const draftOf = (schedule: Omit<SentSchedule, 'status' | 'unconfirmed'>, cards: readonly Card[]): Draft => {
  const { name, format, recurrence, channel, recipients, mutedUntil, alert, dashboardFilter, metricIds } = schedule;
  const draft = {
    ...newDraft(format, [], recurrence.timezone),
    ...{ name, channel: channel ?? '', mutedUntil: mutedUntil === null ? '' : localTime(mutedUntil) },
    ...(recipients === null ? {} : { recipients, isForOthers: true }),
    ...{ filters: dashboardFilter, metricIds: metricIds ?? [], hasOwnCards: metricIds !== null },
    ...draftOfRecurrence(recurrence),
    ...(alert === null ? {} : draftOfAlert(alert)),
  };
  return cards.some(({ metricId }) => metricId === draft.metricId) ? draft : fitted(draft, cards);
};

type Control = { readonly name: string; readonly value: string; readonly checked: boolean };

/** The draft after a control of the form was changed. A control that is not of the draft changes nothing. */
export const changed = (draft: Draft, { name, value, checked }: Control, cards: readonly Card[]): Draft => {
  switch (name) {
    case 'way':
      return { ...draft, ...sentWay(value) };
    case 'on':
    case 'metricIds': {
      const others = draft[name].filter((each) => each !== value);
      return { ...draft, [name]: checked ? [...others, value] : others };
    }
    case 'hasOwnCards':
    case 'hasQuietHours':
      return { ...draft, [name]: checked };
    case 'format': {
      const format = value as ReportFormat;
      // Hours are for alerts.
      return { ...draft, format, every: draft.every === 'hour' && format !== 'alert' ? 'workday' : draft.every };
    }
    case 'metricId':
      return fitted({ ...draft, metricId: value }, cards);
    default:
      return name in draft ? { ...draft, [name]: value } : draft;
  }
};

const recurrenceOf = ({ every, at, on, day, cron, ...draft }: Draft): Recurrence => {
  const timezone = draft.timezone.trim();
  switch (every) {
    case 'hour':
      return { timezone, cron: hourly };
    case 'cron':
      return { timezone, cron: cron.trim() };
    case 'week':
      return { timezone, every, on, at };
    case 'month':
      return { timezone, every, day: day === 'last' ? day : Number(day), at };
    default:
      return { timezone, every, at };
  }
};

const conditionOf = ({ is, value, to }: Draft): AlertCondition => {
  switch (is) {
    case 'above':
    case 'below':
      return { is, value: Number(value) };
    case 'changeAbove':
      return { is, percent: Number(value), to };
    case 'changeBelow':
      return { is, percent: -Number(value), to };
    default:
      return { is };
  }
};

/** The body of the request that saves a draft. */
export const bodyOf = (draft: Draft): Omit<GuestInput<typeof createGuestSchedule>, 'dashboardId'> => {
  const { name, format, channel, mutedUntil, metricId, measure, hasQuietHours, quietFrom, quietTo } = draft;
  const { filters, metricIds, hasOwnCards, isForOthers, recipients } = draft;
  const quietHours = hasQuietHours ? { from: quietFrom, to: quietTo } : null;
  return {
    ...{
      name: name.trim(),
      format,
      recurrence: recurrenceOf(draft),
      channel: (takesChannel(draft) && channel.trim()) || null,
      recipients: isForOthers ? recipients : null,
    },
    dashboardFilter: takesContent(draft) ? filters : {},
    metricIds: takesContent(draft) && hasOwnCards ? metricIds : null,
    mutedUntil: mutedUntil === '' ? null : new Date(mutedUntil).toISOString(),
    ...(format === 'alert' ? { alert: { metricId, measure, condition: conditionOf(draft), quietHours } } : {}),
  };
};

/** Only files have filters and chosen cards. */
export const takesContent = (draft: Pick<Draft, 'format'>): boolean => !takesChannel(draft);

/** Files go by e-mail only. */
export const takesChannel = ({ format }: Pick<Draft, 'format'>): boolean => format === 'alert' || format === 'link';

/** The value of the choice that sends to this channel. */
export const channelWay = (name: string): string => `#${name}`;

/** Where a draft goes, as a value of that choice; empty: to the reader. */
export const wayOf = (draft: Draft): string => {
  if (draft.isForOthers) return 'others';
  return takesChannel(draft) && draft.channel !== '' ? channelWay(draft.channel) : '';
};

/** The reverse of `wayOf`. */
const sentWay = (way: string): Pick<Draft, 'channel' | 'isForOthers'> => ({
  channel: way.startsWith(channelWay('')) ? way.slice(channelWay('').length) : '',
  isForOthers: way === 'others',
});

export const allConditions = ['above', 'below', 'changeAbove', 'changeBelow', 'missing', 'newKey'] as const;
const periodGrains = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

/** The conditions that an alert on this metric can have. The service decides; this only leaves out what it would refuse. */
const conditionsFor = (metric: GuestMetric | undefined): readonly AlertCondition['is'][] => {
  const { dimensions = [], grains = {} } = metric?.chart ?? {};
  const isOneValue = dimensions.every((name) => periodGrains.includes(grains[name] ?? ''));
  const hasChanges = isOneValue && dimensions.length <= 1;
  return allConditions.filter((is) =>
    is.startsWith('change') ? hasChanges : is !== 'newKey' || dimensions.length > 0,
  );
};

export const cardOf = (metric: GuestMetric): Card => ({
  ...{ metricId: metric.metricId, name: metric.name, measures: metric.chart.measures },
  conditions: conditionsFor(metric),
});

/** The service's messages by the control of the form that they are about; `form`: about none. */
export type Faults = Readonly<Record<string, string>>;

/** Takes back what was said against a control. */
export const forgiven = (faults: Faults, name: string): Faults => {
  const { [name]: _, form: __, ...others } = faults;
  return others;
};

/** The fields by the paths of the service's messages. */
export const fieldsByPath: Readonly<Record<string, string>> = {
  ...{ name: 'name', format: 'format', channel: 'way', mutedUntil: 'mutedUntil' },
  ...{ dashboardFilter: 'filters', metricIds: 'metricIds', recipients: 'recipients' },
  ...{ 'recurrence.at': 'at', 'recurrence.on': 'on', 'recurrence.day': 'day', 'recurrence.cron': 'cron' },
  ...{ 'recurrence.timezone': 'timezone', 'recurrence.every': 'every', recurrence: 'every' },
  ...{ 'alert.metricId': 'metricId', 'alert.measure': 'measure', 'alert.condition': 'is', alert: 'metricId' },
  ...{ 'alert.condition.value': 'value', 'alert.condition.percent': 'value', 'alert.condition.to': 'to' },
  ...{ 'alert.quietHours': 'quietFrom', 'alert.quietHours.to': 'quietTo' },
};

const fieldAt = (path: string, fields: typeof fieldsByPath): string | undefined => {
  for (let place = path; place !== ''; place = place.replace(/[.[]?[^.[]*$/, '')) {
    if (Object.hasOwn(fields, place)) return fields[place];
    // What is said of one filter is told with the name of the filter, unless it has a field of its own.
    if (place.endsWith('"]')) return undefined;
  }
  return undefined;
};

/** Sorts the service's message, such as `recurrence.at: expected …; name: missing`, to the fields that it names. */
export const faultsOf = (message: string, fields = fieldsByPath): Faults => {
  const faults: Record<string, string> = {};
  for (const fault of message.split(/; (?=[a-z]\w*[.:[])/)) {
    const [, path = '', said = ''] = /^([a-z]\w*(?:\.\w+|\["(?:[^"\\]|\\.)*"\]|\[\d+\])*): (.*)$/s.exec(fault) ?? [];
    const field = fieldAt(path, fields);
    faults[field ?? 'form'] ??= field === undefined ? fault : said;
  }
  return faults;
};
