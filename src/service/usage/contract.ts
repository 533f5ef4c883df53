/** Operations of this project: what was used, for operators and for who bills it. */
import { z } from 'zod';
import {
  mostUsageRows,
  oldestLoginDays,
  type ToldUsage,
  usageGroups,
  usageNames,
  usageSteps,
} from '../../model/usage.js';
import { identifier } from '../../platform/http/interface/fields.js';
import { noError, operation } from '../../platform/http/interface/operation.js';
import { csvLine } from '../guest/contract/csv.js';

/** Date.parse takes February 31 as March 3. */
const isInCalendar = (text: string): boolean => {
  const day = Date.parse(text.slice(0, 10));
  return !Number.isNaN(Date.parse(text)) && new Date(day).toISOString().startsWith(text.slice(0, 10));
};

const date = z
  .string()
  .max(40)
  .regex(
    /^\d{4}-\d{2}(?:-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?)?$/,
    'a month (2026-03), a day (2026-03-01), or a moment with its offset (2026-03-01T06:00:00Z)',
  )
  .refine(isInCalendar, 'a day of the calendar');

const namesIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

const groups = z
  .string()
  .max(200)
  .default('')
  .refine(
    (text) => namesIn(text).every((name) => usageGroups.some((group) => group === name)),
    `names of ${usageGroups.join(', ')}, with commas between`,
  )
  .transform((text) => usageGroups.filter((group) => namesIn(text).includes(group)));

const input = z.strictObject({
  from: date.describe('A month, a day, or a moment with its offset. A month or a day begins in UTC.'),
  to: date.describe('The end, which is no part of it.'),
  step: z.enum(usageSteps).optional().describe('Steps of time, in UTC. Left out: the whole time in one row.'),
  by: groups.describe(`What is told apart, with commas between: ${usageGroups.join(', ')}. Left out: nothing.`),
  clientId: identifier.optional(),
  dataAppName: identifier.optional().describe('Left out: all data apps, or that of the API key.'),
});

const count = z.number().min(0);
const row = z.object({
  at: z.string().nullable().describe('When the step begins; null without `step`.'),
  dataAppName: z.string().nullable().optional().describe('Null: the data app was deleted.'),
  clientId: z.string().nullable().optional().describe('`erased:` and a random text for a tenant that was erased.'),
  user: z.string().nullable().optional().describe('A pseudonym: the same for the same user of this tenant.'),
  dashboardId: z.string().nullable().optional(),
  metricId: z.string().nullable().optional(),
  users: count.describe('Users who got a token.'),
  ...(Object.fromEntries(usageNames.map((name) => [name, count])) as Readonly<
    Record<(typeof usageNames)[number], typeof count>
  >),
});

const sentUntil = z
  .string()
  .nullable()
  .describe('All hours before it were taken by the receiver of `usage.channel`. Null: nothing is sent.');

const about = `Sums of the time: logins (requests for a token), mints, queries at databases with their milliseconds, answers that cost no query, failed answers, rows of answers, files, mails, tokens of language models, and what warmed up kept answers. Sums of mints, database queries, files and mails are exact; of the others, a process that is killed loses at most one second. Hours that are long ago are summed up by day (\`usage.hourDays\`).`;

const common = {
  section: 'facts',
  resource: 'Data apps',
  credentials: ['serviceToken', 'apiKey'],
  roles: ['author', 'publisher', 'support', 'auditor'],
  reads: 'outcomes',
  readsOnly: true,
  input,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 404 },
} as const;

const toldRow = ({ at, ...rest }: ToldUsage['rows'][number]) => ({ at: at?.toISOString() ?? null, ...rest });

const example = {
  ...{ logins: 480, mints: 61, sourceQueries: 312, keptAnswers: 5_204, failedAnswers: 2, rows: 84_120, ms: 9_410 },
  ...{ exports: 4, mails: 12, modelTokens: 0, warmUpQueries: 30, warmUpMs: 840, users: 9 },
};

export const readUsage = operation({
  ...common,
  name: 'readUsage',
  summary: 'Read what was used',
  description: `${about} At most ${mostUsageRows} rows; \`isTruncated\` says that there are more.`,
  output: z.object({ data: z.object({ rows: z.array(row), isTruncated: z.boolean(), sentUntil }), error: noError }),
  encode: ({ rows, isTruncated, sentUntil: until }: ToldUsage) => ({
    data: { rows: rows.map(toldRow), isTruncated, sentUntil: until?.toISOString() ?? null },
    error: null,
  }),
  bindings: [{ method: 'GET', path: '/api/v2/usage', from: 'query' }],
  example: {
    input: { from: '2026-03', to: '2026-04', by: 'tenant', clientId: 'LAX' },
    output: {
      data: { rows: [{ at: null, clientId: 'LAX', ...example }], isTruncated: false, sentUntil: null },
      error: null,
    },
  },
});

/** The columns of the file. A field that was not asked for is empty in every line, so that the columns stay where they are. */
const columns = ['at', 'dataAppName', 'clientId', 'user', 'dashboardId', 'metricId', 'users', ...usageNames] as const;

type Told = z.output<typeof row>;

/** The rows as lines of CSV, the first of which names the columns. */
export function* usageLines(rows: readonly Told[]): Generator<string> {
  yield csvLine(columns);
  for (const told of rows) yield csvLine(columns.map((name) => told[name] ?? null));
}

async function* toCsv({ rows }: ToldUsage): AsyncGenerator<string> {
  yield* usageLines(rows.map(toldRow));
}

export const exportUsage = operation({
  ...common,
  name: 'exportUsage',
  summary: 'Read what was used as CSV',
  description: `The rows of \`readUsage\` as CSV (RFC 4180), for a billing system. Refused if there are more than ${mostUsageRows} rows: ask for a shorter time.`,
  output: z.string(),
  contentType: 'text/csv',
  encode: toCsv,
  bindings: [{ method: 'GET', path: '/api/v2/usage/csv', from: 'query' }],
  example: {
    input: { from: '2026-03', to: '2026-04', by: 'tenant' },
    output: `${columns.join(',')}\r\n,,LAX,,,,9,480,61,312,5204,2,84120,9410,4,12,0,30,840\r\n`,
  },
});

const login = z.strictObject({
  at: z.iso
    .datetime()
    .max(40)
    .describe(`The hour in which they were. What is older than ${oldestLoginDays} days counts for the hour then.`),
  clientId: identifier,
  userIdentifier: identifier.nullable(),
  count: z.number().int().min(1).max(1_000_000_000),
});

export const mostReportedLogins = 500;

export const reportLogins = operation({
  name: 'reportLogins',
  section: 'facts',
  resource: 'Data apps',
  summary: 'Count logins at a gateway',
  description:
    'Counts tokens that a gateway gave to users of the data app, kept ones too: `logins` of `readUsage`. Gateways call it by themselves.',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.strictObject({
    writer: z.uuid().max(36).describe('Names the process that counts.'),
    number: z
      .number()
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .describe(
        'Rises with each call of this process. A call with a number that is not larger than an earlier one counts nothing.',
      ),
    logins: z.array(login).min(1).max(mostReportedLogins),
  }),
  output: z.object({ data: z.object({}), error: noError }),
  encode: (_: undefined) => ({ data: {}, error: null }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [{ method: 'POST', path: '/api/v2/usage/logins', from: 'body' }],
  example: {
    input: {
      ...{ writer: '3d6f0a52-9b1e-4c57-8d24-7e5a1b2c3d4f', number: 7 },
      logins: [{ at: '2026-03-01T06:00:00.000Z', clientId: 'LAX', userIdentifier: 'ann', count: 3 }],
    },
    output: { data: {}, error: null },
  },
});
