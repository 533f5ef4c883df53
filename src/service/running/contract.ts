/** Operations of this project: what runs now in all processes of the installation, and ending it. */
import { z } from 'zod';
import type { LiveConnections, LiveQueue } from '../../model/query/live.js';
import { type EndOutcome, endOutcomes, type ToldRunning, workKinds } from '../../model/query/running.js';
import { noError, operation } from '../../platform/http/interface/operation.js';

const workId = z
  .string()
  .max(100)
  .regex(
    /^(?:query|download|build|rollout)\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.\d{1,9}$/,
    'an `id` as readRunning answers it. A delivery cannot be ended: pause its schedule',
  );

const count = z.number().min(0);
const queue = z.object({ running: count, waiting: count });
const nullable = z.string().nullable();

const source = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  databases: count.describe('Open databases of it: its own, and those of clients.'),
  openSince: nullable,
  connections: z.object({ open: count, busy: count, waiting: count }),
  queries: queue,
  downloads: queue,
  lastError: z
    .object({ at: z.string(), reason: z.string(), isOver: z.boolean() })
    .nullable()
    .describe('The latest failure of the connection. `isOver`: something succeeded since.'),
});

const process = z.object({
  instance: z.string().describe('Another one after each start.'),
  name: z.string().describe('The name of its machine or container.'),
  version: z.string(),
  startedAt: z.string(),
  isAnswering: z.boolean().describe('Whether this is the process that answers. The others are up to a second old.'),
  others: count.describe('Works of this process that are not listed.'),
  sources: z.array(source),
  cache: z
    .object({ bytes: z.number().nullable(), maxBytes: z.number() })
    .nullable()
    .describe('Kept answers. Null: none are kept.'),
});

const work = z.object({
  id: nullable.describe('For `endRunning`. Null: it cannot be ended.'),
  kind: z.enum(workKinds),
  subject: z
    .string()
    .describe(
      'The data source; of a build the datamart and the rollup; of a roll-out the template; of a delivery the id of its schedule; of a login the data app; of a hook the event.',
    ),
  state: z.enum(['waiting', 'running']),
  since: z.string().describe('When it came.'),
  seconds: count.describe('How long it is in its state.'),
  process: z.string().describe('The `instance` that runs it.'),
  dataAppName: nullable,
  clientId: nullable,
  dashboardId: nullable,
  metricId: nullable,
  requestId: nullable.describe('As in the log.'),
});

const running = z.object({
  processes: z.array(process),
  works: z.array(work).describe('The oldest first.'),
  waitingDeliveries: z
    .object({ count, seconds: count })
    .describe('Messages that are due, and how long the oldest has waited.'),
});

const idle: LiveQueue = { running: 0, waiting: 0 };
const connections: LiveConnections = { open: 2, busy: 1, waiting: 0 };
const instance = '3f0c6f0e-6a0b-4c6e-9d55-1a2b3c4d5e6f';
const since = '2026-03-01T06:00:00.000Z';

const example: ToldRunning = {
  processes: [
    {
      ...{ instance, name: 'guestlist-1', version: '1.0.0', startedAt: since, isAnswering: true, others: 0 },
      sources: [
        {
          ...{ id: 'ds-1', name: 'flights', type: 'POSTGRES', databases: 1, openSince: since, connections },
          ...{ queries: { ...idle, running: 1 }, downloads: idle, lastError: null },
        },
      ],
      cache: { bytes: 1_048_576, maxBytes: 67_108_864 },
    },
  ],
  works: [
    {
      ...{ id: `query.${instance}.7`, kind: 'query', subject: 'flights', state: 'running', since, seconds: 12.5 },
      ...{ process: instance, dataAppName: 'shop', clientId: 'LAX', dashboardId: 'delays', metricId: 'by-day' },
      requestId: '6f1d2c3b-4a59-4877-8695-a4b3c2d1e0f9',
    },
  ],
  waitingDeliveries: { count: 0, seconds: 0 },
};

const encode = ({ processes, works, waitingDeliveries }: ToldRunning) => ({
  data: {
    processes: processes.map(({ sources, ...rest }) => ({ ...rest, sources: [...sources] })),
    works: [...works],
    waitingDeliveries,
  },
  error: null,
});

const common = { section: 'facts', resource: 'Running work', credentials: ['serviceToken'] } as const;
const errors = { AUTHENTICATION_ERROR: 401 } as const;

export const readRunning = operation({
  ...common,
  name: 'readRunning',
  summary: 'Read what runs now',
  description:
    'Queries, downloads, builds of rollups, deliveries, roll-outs, logins, the making of dashboards and events of tenants, of all processes that share the metadata database, with their connections. A process that is killed is listed for five seconds longer.',
  roles: ['author', 'publisher', 'support', 'auditor'],
  reads: 'definitions',
  readsOnly: true,
  input: z.strictObject({}),
  output: z.object({ data: running, error: noError }),
  encode,
  errors,
  bindings: [{ method: 'GET', path: '/api/v2/running', from: 'query' }],
  example: { input: {}, output: encode(example) },
});

export const endRunning = operation({
  ...common,
  name: 'endRunning',
  summary: 'End work that runs now',
  description:
    'Ends a query, a download or a build, whichever process runs it. A roll-out pauses after the copies that it writes now, and can be resumed. The readers of an ended query get an error.',
  roles: ['publisher', 'support'],
  reads: 'nothing',
  input: z.strictObject({ id: workId }),
  output: z.object({ data: z.object({ outcome: z.enum(endOutcomes) }), error: noError }),
  encode: (outcome: EndOutcome) => ({ data: { outcome }, error: null }),
  errors,
  bindings: [{ method: 'POST', path: '/api/v2/running/end', from: 'body' }],
  example: {
    input: { id: `query.${instance}.7` },
    output: { data: { outcome: 'ended' }, error: null },
  },
});
