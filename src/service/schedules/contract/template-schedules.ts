/** Reports that the host schedules for all tenants of a template. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { ToldDelivery } from '../../../model/schedule/history.js';
import { mostHostListed, type ToldHostSchedule } from '../../../model/schedule/host-schedule.js';
import { mostNamed, type Recipients } from '../../../model/schedule/recipients.js';
import { mostSchedules } from '../../../model/schedule/reports.js';
import { deliveryStates } from '../../../model/schedule/schedule.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { identifier, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { encodeDelivery, encodeSchedule, schedule as made, newPlan, plan, toldDelivery } from './parts.js';

const errors = { AUTHENTICATION_ERROR: 401 } as const;
const namedErrors = { ...errors, SCHEDULE_NOT_FOUND: 400 } as const;

const whom =
  'Each tenant that has a copy of the template at that moment gets it: not a suspended or erased one, nor one whose policy or embed refuses it. Each user gets what that user may see then. A user whose token may not download gets no file. An alert is checked for each user by the user’s own right.';

const channel = identifier
  .nullable()
  .describe(
    'A channel of the configuration, for alerts and links; null: e-mail. It gets a message for each user whom the policy grants the channel then.',
  );
const names = (what: string) => list(identifier, mostNamed).default([]).describe(what);
const recipients = z
  .strictObject({
    users: names('User identifiers. Each gets it in those tenants in which it is known.'),
    roles: names('Roles, resolved in each tenant when it is sent.'),
  })
  .transform((named): Recipients => ({ ...named, addresses: [] }))
  .describe('Who gets it in each tenant: at least one user or role. Users who were here lately, by their own login.');

const schedule = made
  .extend({
    dashboardId: z.string().describe('The template.'),
    recipients: z.object({ users: z.array(z.string()), roles: z.array(z.string()) }),
    metricIds: made.shape.metricIds.describe('Metrics of the template; null: all.'),
    alert: made.shape.alert.describe(
      'Of a metric of the template; each tenant’s own one is checked. Null for a report.',
    ),
    last: z
      .object({
        moment: z.string(),
        counts: z
          .partialRecord(z.enum([...deliveryStates, 'checked']), z.number())
          .describe('Deliveries in each state. `checked`: those of an alert or a file, for a person who sees no data.'),
      })
      .nullable()
      .describe('What became of the latest moment.'),
  })
  .meta({ id: 'TemplateSchedule' });

const encodeTold = ({ last, ...told }: ToldHostSchedule): Encoded<typeof schedule> => ({
  ...encodeSchedule(told),
  dashboardId: told.templateName,
  recipients: { users: told.recipients?.users ?? [], roles: told.recipients?.roles ?? [] },
  last: last === null ? null : { moment: last.moment.toISOString(), counts: last.counts },
});

const example = {
  id: '7b1f4a34-6d0c-4a39-9a55-0f5e0b1f4c11',
  dashboardId: 'delays',
  name: 'Each morning',
  format: 'pdf' as const,
  recurrence: { every: 'workday' as const, at: '08:00', timezone: 'Europe/Berlin' },
  catchUp: 'once' as const,
  isPaused: false,
  nextAt: '2026-10-26T07:00:00.000Z',
  recipients: { users: [], roles: ['manager'] },
  dashboardFilter: {},
  metricIds: null,
  alert: null,
  channel: null,
  last: { moment: '2026-10-23T06:00:00.000Z', counts: { sent: 41, skipped: 2 } },
};
const path = '/api/v2/data-app/schedules';
const readers = ['publisher', 'support', 'auditor'] as const;
const writers = ['publisher'] as const;
const common = { section: 'facts', resource: 'Tenant reports', credentials: ['apiKey'] } as const;
const named = { scheduleId: example.id };
const namedInput = z.strictObject({ scheduleId: identifier });

export const createTemplateSchedule = operation({
  ...common,
  name: 'createTemplateSchedule',
  reads: 'definitions',
  summary: 'Schedule a report for all tenants of a template',
  description: `${whom} At most ${mostSchedules} for one template.`,
  roles: writers,
  input: z.strictObject({
    dashboardId: identifier.describe('A dashboard of the organization: the template of the tenants’ copies.'),
    ...newPlan,
    channel: channel.default(null),
    recipients,
  }),
  output: z.object({ data: schedule, error: noError }),
  encode: (created: ToldHostSchedule) => ({ data: encodeTold(created), error: null }),
  errors: { ...errors, INVALID_DASHBOARD_ID: 400 },
  bindings: [{ method: 'POST', path, from: 'body' }],
  example: {
    input: {
      ...{ dashboardId: example.dashboardId, name: example.name, format: example.format },
      ...{ recurrence: example.recurrence, recipients: { roles: ['manager'] } },
    },
    output: { data: { ...example, last: null }, error: null },
  },
});

export const listTemplateSchedules = operation({
  ...common,
  name: 'listTemplateSchedules',
  reads: 'definitions',
  summary: 'List the schedules for all tenants of templates',
  description: 'The newest first.',
  roles: readers,
  input: z.strictObject({ scheduleId: identifier.optional().describe('Only this one.') }),
  output: z.object({ data: z.array(schedule), error: noError }),
  encode: (found: readonly ToldHostSchedule[]) => ({ data: found.map(encodeTold), error: null }),
  errors: namedErrors,
  bindings: [{ method: 'GET', path, from: 'query' }],
  example: { input: {}, output: { data: [example], error: null } },
});

export const updateTemplateSchedule = operation({
  ...common,
  name: 'updateTemplateSchedule',
  reads: 'definitions',
  summary: 'Change or pause a schedule for all tenants of a template',
  description: 'What is left out keeps its value. Moments that pass during a pause are not sent later.',
  roles: writers,
  input: namedInput.extend(z.object({ ...plan, channel, recipients }).partial().shape),
  output: z.object({ data: schedule, error: noError }),
  encode: (changed: ToldHostSchedule) => ({ data: encodeTold(changed), error: null }),
  errors: namedErrors,
  bindings: [{ method: 'PUT', path, from: 'body' }],
  example: {
    input: { ...named, isPaused: true },
    output: { data: { ...example, isPaused: true, nextAt: null }, error: null },
  },
});

export const deleteTemplateSchedule = operation({
  ...common,
  name: 'deleteTemplateSchedule',
  reads: 'nothing',
  summary: 'Delete a schedule for all tenants of a template with its history',
  description: 'What has not left is not sent.',
  roles: writers,
  input: namedInput,
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: namedErrors,
  bindings: [{ method: 'DELETE', path, from: 'query' }],
  example: { input: named, output: { data: { id: example.id }, error: null } },
});

export const sendTemplateSchedule = operation({
  ...common,
  name: 'sendTemplateSchedule',
  reads: 'nothing',
  summary: 'Send a report to all tenants of a template now',
  description: `${whom} Also of a paused schedule. Refused while a message of the schedule is on its way.`,
  roles: writers,
  input: namedInput,
  output: z.object({
    data: z.object({ id: z.string().describe('The delivery that finds the tenants.') }),
    error: noError,
  }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: namedErrors,
  bindings: [{ method: 'POST', path: `${path}/send`, from: 'body' }],
  example: { input: named, output: { data: { id: 'b9a9f0c0-7f55-4f9c-8f0c-2f7b8a1d9c22' }, error: null } },
});

const tenantDelivery = toldDelivery
  .extend({ clientId: z.string().describe('The tenant. Empty: no tenant has a copy of the template.') })
  .meta({ id: 'TemplateDelivery' });

export const listTemplateDeliveries = operation({
  ...common,
  name: 'listTemplateDeliveries',
  reads: 'definitions',
  summary: 'List what became of a report in each tenant',
  description: `The newest first; at most ${mostHostListed}. They are kept for 90 days, and erased with their tenant.`,
  roles: readers,
  input: namedInput.extend({ clientId: identifier.optional().describe('Only those of this tenant.') }),
  output: z.object({ data: z.array(tenantDelivery), error: noError }),
  encode: (found: readonly ToldDelivery[]) => ({
    data: found.map((each) => ({ ...encodeDelivery(each), clientId: each.clientId })),
    error: null,
  }),
  errors: namedErrors,
  bindings: [{ method: 'GET', path: `${path}/deliveries`, from: 'query' }],
  example: {
    input: named,
    output: {
      data: [
        {
          id: 'b9a9f0c0-7f55-4f9c-8f0c-2f7b8a1d9c22',
          clientId: 'LAX',
          recipient: 'guestlist-demo|ann',
          moment: '2026-10-26T07:00:00.000Z',
          isRequested: false,
          state: 'sent',
          reason: null,
          attempts: 1,
          finishedAt: '2026-10-26T07:03:04.120Z',
        },
      ],
      error: null,
    },
  },
});
