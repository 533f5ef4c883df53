/** Parts of schedules that users and the host make alike. */
import { z } from 'zod';
import { changeBases, changes, levels } from '../../../model/schedule/alert.js';
import { catchUps } from '../../../model/schedule/catch-up.js';
import { weekdays } from '../../../model/schedule/recurrence.js';
import {
  type Delivery,
  deliveryReasons,
  deliveryStates,
  reportFormats,
  type Schedule,
  type WatchedSchedule,
} from '../../../model/schedule/schedule.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { guestFilterValues, identifier, list } from '../../../platform/http/interface/fields.js';

const timezone = identifier.describe('IANA name.');
const at = z.string().max(5).describe('Time of day, as HH:MM.');
const recurrence = z
  .union([
    z.strictObject({ timezone, cron: z.string().max(200).describe('Five fields; the minute is one number.') }),
    z.strictObject({ timezone, every: z.enum(['day', 'workday']), at }),
    z.strictObject({ timezone, every: z.literal('week'), on: list(z.enum(weekdays), weekdays.length), at }),
    z.strictObject({
      timezone,
      every: z.literal('month'),
      day: z.union([z.number().int().min(1).max(31), z.literal('last')]),
      at,
    }),
  ])
  .describe('When: a cron expression or a friendly form. A time that the clock leaves out comes when it goes on.')
  .meta({ id: 'Recurrence' });

const catchUp = z
  .enum(catchUps)
  .describe(
    'What is sent after the sender stood still for more than an hour: nothing (skip), the latest (once) or each (all).',
  );
export const isPaused = z.boolean().describe('Whether nothing is sent for now.');

/** As many as a workbook has. */
const mostMetrics = 100;

const dashboardFilter = guestFilterValues.describe(
  'Values of dashboard filters, for files only. They narrow what the user may see; a file is not sent without them.',
);
const metricIds = list(identifier, mostMetrics)
  .min(1)
  .nullable()
  .describe('The metrics of the files, of which PDF and PNG have one each; null: the whole dashboard.');

const condition = z
  .union([
    z.strictObject({ is: z.enum(levels), value: z.number() }),
    z
      .strictObject({
        is: z.enum(changes),
        percent: z.number().describe('With its sign: a fall by a fifth is -20.'),
        to: z
          .enum(changeBases)
          .describe('The value of the last check; or the period before the latest, or the metric’s comparison.'),
      })
      .describe('Needs a metric with one value, or with one for each period.'),
    z.strictObject({ is: z.literal('missing') }).describe('The measure has no value.'),
    z
      .strictObject({ is: z.literal('newKey') })
      .describe('The answer has a row whose dimensions no earlier answer had. Each is told once.'),
  ])
  .describe('`above` looks at the row with the greatest value, `below` at that with the least.')
  .meta({ id: 'AlertCondition' });

const quietHours = z
  .strictObject({ from: at, to: at })
  .nullable()
  .describe('In the time zone of the recurrence. Nothing is checked then; what lasts is told after them.');
const alert = z
  .strictObject({
    metricId: identifier.describe('A metric of the dashboard.'),
    measure: identifier.describe('A column of its answer. With a dimension of periods, that of the latest period.'),
    condition,
    quietHours,
  })
  .meta({ id: 'Alert' });
const newAlert = alert.extend({ quietHours: quietHours.default(null) }).meta({ id: 'NewAlert' });

/** What guests and the host choose alike. Each adds where it goes. */
export const plan = {
  name: identifier,
  format: z
    .enum(reportFormats)
    .describe(
      'The file of the message: pdf, xlsx, csv (one for each metric), png (a picture in the message), or link for none; or alert, which tells a value of one metric. Files need `isEnableDownloadMetrics`. An alert never becomes a report.',
    ),
  recurrence,
  catchUp,
  isPaused,
  dashboardFilter,
  metricIds,
  alert: newAlert.optional().describe('Required for the format alert, and for no other.'),
};

/** The plan of a new schedule: what may be left out has its default. */
export const newPlan = {
  ...plan,
  catchUp: catchUp.default('once'),
  isPaused: isPaused.default(false),
  dashboardFilter: dashboardFilter.default({}),
  metricIds: metricIds.default(null),
  alert: plan.alert.transform((given) => given ?? null),
};

/** A schedule as its maker is told of it. Guests and the host add their own. */
export const schedule = z.object({
  ...{ id: z.string(), name: z.string(), format: plan.format, recurrence, catchUp, isPaused },
  nextAt: z.string().nullable().describe('The next moment; null while it is paused.'),
  dashboardFilter: guestFilterValues,
  metricIds: z.array(z.string()).nullable(),
  alert: alert.nullable().describe('Null for a report.'),
  channel: z.string().nullable().describe('The channel that gets it; null: it goes by e-mail.'),
});

/** What others than the maker may know too. */
export const encodeWatched = (watched: Omit<WatchedSchedule, 'last'>) => ({
  ...{ id: watched.id, name: watched.name, format: watched.format, channel: watched.channel },
  ...{ isPaused: watched.isPaused, nextAt: watched.isPaused ? null : (watched.nextAt?.toISOString() ?? null) },
  recurrence: watched.recurrence,
});

export const encodeSchedule = (made: Schedule): Encoded<typeof schedule> => ({
  ...encodeWatched(made),
  ...{ catchUp: made.catchUp, alert: made.alert, metricIds: made.metricIds },
  dashboardFilter: made.dashboardFilter as Encoded<typeof guestFilterValues>,
});

const delivery = z.object({
  id: z.string(),
  recipient: z
    .string()
    .describe('The user or address that got it. Empty: nobody, because the recipients of that moment were not found.'),
  moment: z.string(),
  isRequested: z.boolean().describe('Whether it was asked for at once.'),
  state: z.enum(deliveryStates),
  reason: z.enum(deliveryReasons).nullable().describe('Why it was not sent, or not yet.'),
  attempts: z.number(),
  finishedAt: z.string().nullable().describe('The end of the latest attempt.'),
});

/** Of an alert, what others got is told to them alone. */
export const toldDelivery = delivery.extend({
  state: z
    .enum([...deliveryStates, 'checked'])
    .describe('`checked`: an alert to another user; whether there was something to tell is told to that user only.'),
});

export const encodeDelivery = <State extends string>({
  id,
  recipient,
  moment,
  isRequested,
  state,
  reason,
  attempts,
  finishedAt,
}: Omit<Delivery, 'state'> & { readonly state: State }) => ({
  ...{ id, recipient, isRequested, state, reason, attempts },
  moment: moment.toISOString(),
  finishedAt: finishedAt?.toISOString() ?? null,
});
