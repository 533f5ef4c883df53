/** Operations of this project: a datamart's rollups with their files, and building them. */
import { z } from 'zod';
import type { RollupReport } from '../../../model/query/engine.js';
import { identifier } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';

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
