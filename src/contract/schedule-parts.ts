/** Parts of schedules that users and the host make alike. */
import { z } from 'zod';
import { catchUps } from '../domain/deliver/catch-up.js';
import { weekdays } from '../domain/deliver/recurrence.js';
import { type Delivery, deliveryReasons, deliveryStates } from '../domain/deliver/schedule.js';
import { guestFilterValues, identifier, list } from './fields.js';

const timezone = identifier.describe('IANA name.');
export const at = z.string().max(5).describe('Time of day, as HH:MM.');
export const recurrence = z
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

export const catchUp = z
  .enum(catchUps)
  .describe(
    'What is sent after the sender stood still for more than an hour: nothing (skip), the latest (once) or each (all).',
  );
export const isPaused = z.boolean().describe('Whether nothing is sent for now.');

/** As many as a workbook has. */
const mostMetrics = 100;

export const dashboardFilter = guestFilterValues.describe(
  'Values of dashboard filters, for files only. They narrow what the user may see; a file is not sent without them.',
);
export const metricIds = list(identifier, mostMetrics)
  .min(1)
  .nullable()
  .describe('The metrics of the files, of which PDF and PNG have one each; null: the whole dashboard.');

export const delivery = z.object({
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
