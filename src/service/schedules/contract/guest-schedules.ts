/** Reports and alerts by e-mail that a guest schedules. Operations of this project, in the style of the interface. */
import { z } from 'zod';
import type { MailPreview } from '../../../model/guest/mail-preview.js';
import type { ToldDelivery, ToldSchedule } from '../../../model/schedule/history.js';
import { type Audience, mostNamed, mostRecipients } from '../../../model/schedule/recipients.js';
import { type ListedChannel, mostListed, mostSchedules } from '../../../model/schedule/reports.js';
import { type ListedSchedule, mostWatched } from '../../../model/schedule/schedule.js';
import { identifier, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import {
  toldDelivery as delivery,
  encodeDelivery,
  encodeSchedule,
  encodeWatched,
  isPaused,
  schedule as made,
  newPlan,
  plan,
} from './parts.js';

const errors = { TOKEN_EXPIRED: 401, AUTHENTICATION_ERROR: 401, UNAUTHORIZED: 403 } as const;
const allErrors = { ...errors, SCHEDULE_NOT_FOUND: 400 } as const;

const permission = 'Refused unless the embed allows it (`isAllowEmailReports`) and the token names a user.';

const mutedUntil = z.iso
  .datetime({ offset: true })
  .max(40)
  .transform((text) => new Date(text))
  .nullable();

const channel = identifier
  .nullable()
  .describe('A channel of `GET …/schedules/channels`, for alerts and links; null: e-mail to oneself.');

const recipients = z
  .strictObject({
    users: list(identifier, mostNamed).default([]).describe('Users of `GET …/schedules/recipients`.'),
    roles: list(identifier, mostNamed).default([]).describe('Roles, resolved when it is sent.'),
    addresses: list(z.string().max(254), mostNamed)
      .default([])
      .describe('Addresses without an account, of a domain that the policy allows. Each is asked to confirm first.'),
  })
  .nullable()
  .describe(
    'Who gets it by e-mail; null: oneself. A user gets it by the right and with the rows of its own login at that moment, an address by those of the schedule’s maker. Needs the policy’s `schedule`. An alert is checked for each by the same right.',
  );
const sentRecipients = z
  .object({ users: z.array(z.string()), roles: z.array(z.string()), addresses: z.array(z.string()) })
  .nullable()
  .describe('Null: the user alone.');

const schedule = made
  .extend({
    mutedUntil: z.string().nullable().describe('Until then nothing is sent but what is asked for at once.'),
    recipients: sentRecipients,
    unconfirmed: z.array(z.string()).describe('Addresses that nobody has confirmed. They get no report.'),
    dashboardFilter: made.shape.dashboardFilter.describe('Those of filters that the user sees.'),
    status: z
      .object({ isBreached: z.boolean(), since: z.string() })
      .nullable()
      .describe('What the last check of an alert found; null if none was made by the rights that hold now.'),
  })
  .meta({ id: 'ReportSchedule' });

const encodeListed = (listed: ListedSchedule) => ({
  ...encodeSchedule(listed),
  mutedUntil: listed.mutedUntil?.toISOString() ?? null,
  recipients: listed.recipients,
  unconfirmed: listed.unconfirmed,
  status: listed.status,
});

const example = {
  id: '7b1f4a34-6d0c-4a39-9a55-0f5e0b1f4c11',
  name: 'Each morning',
  format: 'pdf' as const,
  recurrence: { every: 'workday' as const, at: '08:00', timezone: 'Europe/Berlin' },
  catchUp: 'once' as const,
  isPaused: false,
  nextAt: '2026-10-26T07:00:00.000Z',
  mutedUntil: null,
  alert: null,
  channel: null,
  recipients: null,
  unconfirmed: [],
  dashboardFilter: {},
  metricIds: null,
  status: null,
};
const exampleAlert = {
  metricId: 'flights-a-day--LAX',
  measure: 'Flights',
  condition: { is: 'below' as const, value: 300 },
  quietHours: { from: '22:00', to: '07:00' },
};
const dashboardId = 'delays--LAX';
const named = { dashboardId, scheduleId: example.id };
const namedInput = z.strictObject({ dashboardId: identifier, scheduleId: identifier });
const path = '/api/v2/guest/dashboards/{dashboardId}/schedules';
const common = { section: 'guest', resource: 'Guest reports', credentials: ['guestToken'] } as const;

const newInput = z.strictObject({
  ...{ dashboardId: identifier, ...newPlan },
  mutedUntil: mutedUntil.default(null),
  channel: channel.default(null),
  recipients: recipients.default(null),
});

export const createGuestSchedule = operation({
  ...common,
  name: 'createGuestSchedule',
  reads: 'definitions',
  tool: {
    name: 'create_schedule',
    description: 'Schedules a report or an alert by e-mail. Ask your user first: it sends messages.',
  },
  summary: 'Schedule a report or an alert',
  description: `${permission} It goes to the address of the user’s own login, or to \`recipients\`. What it shows is decided when it is sent: by the policy, the tenant’s state and the permissions of that moment. At most ${mostSchedules} of one user on a dashboard.`,
  input: newInput,
  output: z.object({ data: schedule, error: noError }),
  encode: (created: ListedSchedule) => ({ data: encodeListed(created), error: null }),
  errors,
  bindings: [{ method: 'POST', path, from: 'body' }],
  example: {
    input: {
      dashboardId,
      name: 'Few flights',
      format: 'alert',
      recurrence: { cron: '5 * * * *', timezone: 'Europe/Berlin' },
      alert: exampleAlert,
    },
    output: {
      data: {
        ...example,
        name: 'Few flights',
        format: 'alert',
        recurrence: { cron: '5 * * * *', timezone: 'Europe/Berlin' },
        nextAt: '2026-10-26T06:05:00.000Z',
        alert: exampleAlert,
      },
      error: null,
    },
  },
});

export const previewGuestSchedule = operation({
  ...common,
  name: 'previewGuestSchedule',
  reads: 'rows',
  viewedAs: 'user',
  summary: 'See the mail of a schedule before it is made',
  description: `${permission} Refused also for what could not be scheduled, and for a \`channel\`. The mail as a delivery writes it, with the rows that the token reads. Nothing is sent or stored. Counts as 10 requests.`,
  input: newInput,
  output: z.object({
    data: z.object({
      subject: z.string(),
      html: z.string().describe('A page that loads nothing: pictures are part of it.'),
      text: z.string().describe('The same for programs that show no HTML.'),
      files: z.array(z.object({ name: z.string(), bytes: z.number() })).describe('What would be attached.'),
    }),
    error: noError,
  }),
  encode: ({ subject, html, text, files }: MailPreview) => ({
    data: { subject, html, text, files: files.map(({ name, bytes }) => ({ name, bytes })) },
    error: null,
  }),
  errors: { ...errors, METRIC_QUERY_ERROR: 400 },
  bindings: [{ method: 'POST', path: `${path}/preview`, from: 'body' }],
  requestsOf: () => 10,
  example: {
    input: { dashboardId, name: 'Each morning', format: 'link', recurrence: example.recurrence },
    output: {
      data: {
        subject: 'Each morning: Delays',
        html: '<!doctype html><html lang="en">…</html>',
        text: 'Delays, October 26, 2026 at 8:00 AM (Europe/Berlin)…',
        files: [],
      },
      error: null,
    },
  },
});

export const listGuestSchedules = operation({
  ...common,
  name: 'listGuestSchedules',
  reads: 'definitions',
  tool: { name: 'list_schedules', description: 'Lists your reports and alerts of a dashboard.' },
  summary: 'List one’s own schedules of a dashboard',
  description: `${permission} Oldest first.`,
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: z.array(schedule), error: noError }),
  encode: (found: readonly ListedSchedule[]) => ({ data: found.map(encodeListed), error: null }),
  errors,
  bindings: [{ method: 'GET', path, from: 'path' }],
  example: { input: { dashboardId }, output: { data: [example], error: null } },
});

export const listGuestChannels = operation({
  ...common,
  name: 'listGuestChannels',
  reads: 'definitions',
  summary: 'List the channels for a dashboard’s alerts',
  description: `${permission} Webhooks of the operator that the policy grants the user for this dashboard now.`,
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({
    data: z.array(z.object({ name: z.string(), kind: z.enum(['webhook', 'slack']) })),
    error: noError,
  }),
  encode: (found: readonly ListedChannel[]) => ({ data: found.map(({ name, kind }) => ({ name, kind })), error: null }),
  errors,
  bindings: [{ method: 'GET', path: `${path}/channels`, from: 'path' }],
  example: { input: { dashboardId }, output: { data: [{ name: 'operations', kind: 'slack' }], error: null } },
});

const audience = z
  .object({
    users: z.array(
      z.object({
        userIdentifier: z.string(),
        address: z.string().nullable().describe('Null: no report can be sent to this user.'),
      }),
    ),
    roles: z.array(z.string()).describe('The roles that these users have.'),
    domains: z.array(z.string()).describe('Domains of addresses without an account; empty: there are none.'),
  })
  .nullable()
  .describe('Null: the user may send this dashboard to nobody else.');

export const listGuestRecipients = operation({
  ...common,
  name: 'listGuestRecipients',
  reads: 'definitions',
  summary: 'List whom a dashboard’s reports may go to',
  description: `${permission} The users of the tenant who were here lately, if the policy grants \`schedule\` for this dashboard now.`,
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: audience, error: noError }),
  encode: (found: Audience | null) => ({
    data:
      found === null
        ? null
        : {
            users: found.users.map(({ userIdentifier, address }) => ({ userIdentifier, address })),
            roles: found.roles,
            domains: found.domains,
          },
    error: null,
  }),
  errors,
  bindings: [{ method: 'GET', path: `${path}/recipients`, from: 'path' }],
  example: {
    input: { dashboardId },
    output: {
      data: {
        users: [{ userIdentifier: 'guestlist-demo|ann', address: 'ann@customer.example' }],
        roles: ['analyst'],
        domains: [],
      },
      error: null,
    },
  },
});

export const updateGuestSchedule = operation({
  ...common,
  name: 'updateGuestSchedule',
  reads: 'definitions',
  tool: { name: 'update_schedule', description: 'Changes, pauses or mutes a report or an alert.' },
  summary: 'Change or pause a schedule',
  description: `${permission} What is left out keeps its value. Moments that pass during a pause are not sent later.`,
  input: namedInput.extend(z.object({ ...plan, mutedUntil, channel, recipients }).partial().shape),
  output: z.object({ data: schedule, error: noError }),
  encode: (changed: ListedSchedule) => ({ data: encodeListed(changed), error: null }),
  errors: allErrors,
  bindings: [{ method: 'PUT', path, from: 'body' }],
  example: {
    input: { ...named, isPaused: true },
    output: { data: { ...example, isPaused: true, nextAt: null }, error: null },
  },
});

export const deleteGuestSchedule = operation({
  ...common,
  name: 'deleteGuestSchedule',
  reads: 'nothing',
  tool: { name: 'delete_schedule', description: 'Deletes a report or an alert with its history.' },
  summary: 'Delete a schedule with its history',
  description: `${permission} What has not left is not sent.`,
  input: namedInput,
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: allErrors,
  bindings: [{ method: 'DELETE', path, from: 'query' }],
  example: { input: named, output: { data: { id: example.id }, error: null } },
});

export const sendGuestSchedule = operation({
  ...common,
  name: 'sendGuestSchedule',
  reads: 'nothing',
  tool: { name: 'send_schedule', description: 'Sends a report, or checks an alert, at once. Ask your user first.' },
  summary: 'Send a report or check an alert now',
  description: `${permission} Sends one message soon, also of a paused or muted schedule, and tells what an alert found even if it told that before. Refused while a message of the schedule is on its way.`,
  input: namedInput,
  output: z.object({ data: z.object({ id: z.string().describe('The delivery.') }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: allErrors,
  bindings: [{ method: 'POST', path: `${path}/send`, from: 'body' }],
  example: { input: named, output: { data: { id: 'b9a9f0c0-7f55-4f9c-8f0c-2f7b8a1d9c22' }, error: null } },
});

export const listGuestDeliveries = operation({
  ...common,
  name: 'listGuestDeliveries',
  reads: 'definitions',
  tool: { name: 'list_deliveries', description: 'Lists what became of the messages of a report or an alert.' },
  summary: 'List what became of a schedule’s reports',
  description: `${permission} The newest first; at most ${mostListed}, or ${mostRecipients} of a schedule with recipients. They are kept for 90 days.`,
  input: namedInput,
  output: z.object({ data: z.array(delivery), error: noError }),
  encode: (found: readonly ToldDelivery[]) => ({
    data: found.map(encodeDelivery),
    error: null,
  }),
  errors: allErrors,
  bindings: [{ method: 'GET', path: `${path}/deliveries`, from: 'query' }],
  example: {
    input: named,
    output: {
      data: [
        {
          id: 'b9a9f0c0-7f55-4f9c-8f0c-2f7b8a1d9c22',
          recipient: 'guestlist-demo|ann',
          moment: '2026-10-26T07:00:00.000Z',
          isRequested: false,
          state: 'sent',
          reason: null,
          attempts: 1,
          finishedAt: '2026-10-26T07:00:04.120Z',
        },
      ],
      error: null,
    },
  },
});

const managed = 'Refused unless the policy grants `schedule` for this dashboard now.';
const tenantPath = `${path}/tenant`;

const tenantSchedule = schedule
  .pick({ id: true, name: true, format: true, recurrence: true, isPaused: true, nextAt: true, channel: true })
  .extend({
    recipients: sentRecipients,
    user: z.string().describe('Who made it.'),
    last: delivery.pick({ moment: true, state: true, reason: true }).nullable().describe('The latest delivery.'),
  })
  .meta({ id: 'TenantSchedule' });

export const listTenantSchedules = operation({
  ...common,
  name: 'listTenantSchedules',
  reads: 'definitions',
  summary: 'List the schedules of all users of the tenant on a dashboard',
  description: `${managed} The newest first; at most ${mostWatched}. Without filters and values that their users chose.`,
  input: z.strictObject({ dashboardId: identifier }),
  output: z.object({ data: z.array(tenantSchedule), error: noError }),
  encode: (found: readonly ToldSchedule[]) => ({
    data: found.map(({ last, ...watched }) => ({
      ...{ ...encodeWatched(watched), user: watched.owner.userIdentifier },
      recipients: watched.recipients,
      last: last === null ? null : { moment: last.moment.toISOString(), state: last.state, reason: last.reason },
    })),
    error: null,
  }),
  errors,
  bindings: [{ method: 'GET', path: tenantPath, from: 'path' }],
  example: {
    input: { dashboardId },
    output: {
      data: [
        {
          ...{ id: example.id, name: example.name, format: example.format, recurrence: example.recurrence },
          ...{ isPaused: false, nextAt: example.nextAt, channel: null, user: 'guestlist-demo|ann', last: null },
          recipients: { users: [], roles: ['analyst'], addresses: [] },
        },
      ],
      error: null,
    },
  },
});

export const pauseTenantSchedule = operation({
  ...common,
  name: 'pauseTenantSchedule',
  reads: 'nothing',
  summary: 'Pause or resume a schedule of any user of the tenant',
  description: `${managed} Moments that pass during a pause are not sent later.`,
  input: namedInput.extend({ isPaused }),
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: allErrors,
  bindings: [{ method: 'PUT', path: tenantPath, from: 'body' }],
  example: { input: { ...named, isPaused: true }, output: { data: { id: example.id }, error: null } },
});

export const deleteTenantSchedule = operation({
  ...common,
  name: 'deleteTenantSchedule',
  reads: 'nothing',
  summary: 'Delete a schedule of any user of the tenant with its history',
  description: `${managed} What has not left is not sent.`,
  input: namedInput,
  output: z.object({ data: z.object({ id: z.string() }), error: noError }),
  encode: ({ id }: { readonly id: string }) => ({ data: { id }, error: null }),
  errors: allErrors,
  bindings: [{ method: 'DELETE', path: tenantPath, from: 'query' }],
  example: { input: named, output: { data: { id: example.id }, error: null } },
});
