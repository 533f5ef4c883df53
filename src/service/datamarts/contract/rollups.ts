/** Operations of this project: a datamart's rollups with their files, and building them. */
import { z } from 'zod';
import type { RollupProposal } from '../../../model/dashboard/propose-rollups.js';
import type { RollupReport } from '../../../model/query/engine.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { listedRollups } from './fields.js';

const state = z.object({
  name: z.string(),
  state: z
    .enum(['none', 'current', 'outdated'])
    .describe(
      '`none`: nothing was built. `outdated`: the declaration, the base filters or the types of columns have changed, so the datasource answers until the rollup is built.',
    ),
  closedUntil: z
    .string()
    .nullable()
    .describe('All rows before this day are kept; later ones come from the datasource.'),
  checkedAt: z.string().nullable().describe('When the datasource was last looked at.'),
  files: z.number(),
  rows: z.number().describe('Rows of the files.'),
  sourceRows: z.number().describe('Rows of the datasource that they were made of.'),
  bytes: z.number(),
});

const errors = { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400, METRIC_QUERY_ERROR: 400 } as const;
const path = '/api/v2/data-app/datamarts/rollups';

const example: RollupReport = {
  ...{ name: 'flights by day', state: 'current', closedUntil: '2026-11-01', checkedAt: '2026-11-30T06:00:00.000Z' },
  ...{ files: 120, rows: 480_000, sourceRows: 61_000_000, bytes: 21_000_000 },
};

export const listRollups = operation({
  name: 'listRollups',
  section: 'facts',
  resource: 'Rollups',
  summary: 'List the rollups of a datamart and their files',
  description: 'Counts are over the rows of all clients.',
  credentials: ['serviceToken'],
  roles: ['author'],
  reads: 'outcomes',
  readsOnly: true,
  input: z.strictObject({ datamartName: identifier }),
  output: z.object({ data: z.array(state), error: noError }),
  encode: (data: readonly RollupReport[]) => ({ data: [...data], error: null }),
  errors,
  bindings: [{ method: 'POST', path: `${path}/list`, from: 'body' }],
  example: { input: { datamartName: 'flights' }, output: { data: [example], error: null } },
});

export const buildRollup = operation({
  name: 'buildRollup',
  section: 'facts',
  resource: 'Rollups',
  summary: 'Build a rollup',
  description:
    'Builds the closed periods that are new or have another number of rows than before, and answers once they are in force. A build that is cut off leaves the earlier files in force.',
  credentials: ['serviceToken'],
  roles: ['author'],
  reads: 'outcomes',
  input: z.strictObject({
    datamartName: identifier,
    rollupName: identifier,
    isWhole: z.boolean().default(false).describe('True: all closed periods are built anew.'),
  }),
  output: z.object({ data: state, error: noError }),
  encode: (data: RollupReport) => ({ data, error: null }),
  errors,
  bindings: [{ method: 'POST', path: `${path}/build`, from: 'body' }],
  example: {
    input: { datamartName: 'flights', rollupName: 'flights by day', isWhole: false },
    output: { data: example, error: null },
  },
});

const use = {
  names: z.array(z.string()).describe('Names of metrics, except those that guests gave.'),
  queries: z.number().describe('Queries of the datasource.'),
  ms: z.number().describe('Milliseconds that they took.'),
};

const proposed = z.object({
  rollup: listedRollups.element.describe('To be added to `rollups` of the datamart.'),
  reason: z.string(),
  ...use,
});

export const proposeRollups = operation({
  name: 'proposeRollups',
  section: 'facts',
  resource: 'Rollups',
  summary: 'Propose rollups of a datamart',
  description:
    'From what was used: which rollups would have the columns of the metrics whose questions cost the datasource most, and which metrics no rollup answers. Reads no row of the datasource. Whether a rollup can be built, only the build tells.',
  credentials: ['serviceToken'],
  roles: ['author', 'publisher'],
  reads: 'outcomes',
  readsOnly: true,
  input: z.strictObject({
    datamartName: identifier,
    days: z.number().int().min(1).max(366).default(28).describe('The time that is looked at, up to now.'),
  }),
  output: z.object({
    data: z.object({
      proposed: z.array(proposed),
      left: z.array(z.object({ why: z.string(), ...use })).describe('What no proposal answers, by the reason.'),
    }),
    error: noError,
  }),
  encode: ({ proposed: rollups, left }: RollupProposal) => ({
    data: {
      proposed: rollups.map(({ rollup, names, ...rest }) => ({
        ...rest,
        names: [...names],
        rollup: { ...rollup, dimensions: [...rollup.dimensions], measures: [...rollup.measures] },
      })),
      left: left.map(({ names, ...rest }) => ({ ...rest, names: [...names] })),
    },
    error: null,
  }),
  errors: { AUTHENTICATION_ERROR: 401, INVALID_DATAMART: 400 },
  bindings: [{ method: 'POST', path: `${path}/propose`, from: 'body' }],
  example: {
    input: { datamartName: 'flights', days: 28 },
    output: {
      data: {
        proposed: [
          {
            rollup: {
              ...{ name: 'flights by day', from: 'flights', dimensions: ['destination'], grain: 'day' },
              measures: [{ aggregate: 'AVG', column: 'delay' }],
              partition: { column: 'date', by: 'month', closesAfterHours: 24 },
              refresh: { everyMinutes: 60, again: 1 },
            },
            reason: 'In 28 days, 5,204 queries and 94.1 s of the datasource were of metrics whose columns it has.',
            ...{ names: ['Flights a day', 'Busiest routes'], queries: 5204, ms: 94_100 },
          },
        ],
        left: [{ why: 'it joins other tables', names: ['Flows'], queries: 120, ms: 9000 }],
      },
      error: null,
    },
  },
});
