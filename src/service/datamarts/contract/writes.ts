/** Creates a datamart, and updates one (operation 9 of the specification). */
import { z } from 'zod';
import type { Datamart } from '../../../model/datamart/datamart.js';
import type { TenancyWarning } from '../../../model/datamart/table-ownership.js';
import { identifier, limits, list } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import {
  cacheStaleSeconds,
  cacheTtlSeconds,
  newTenancySettings,
  relationship,
  rollups,
  sharedTables,
  table,
  tenancySettings,
} from './fields.js';
import { tenancyWarnings } from './tenancy.js';

const paths = { kebab: '/api/v2/data-app/datamarts', legacy: '/api/v2/dataApp/datamarts' };

const exampleTables: z.input<typeof table>[] = [
  { name: 'flights', clientColumn: 'carrier', columns: [{ name: 'carrier' }, { name: 'date', defaultSort: 'DESC' }] },
];

type Written = { readonly datamart: Datamart; readonly warnings: readonly TenancyWarning[] };

/** The specified answer has no `warnings`, so the field is absent if there are none. */
const writeWarnings = ({ warnings }: Written) => (warnings.length === 0 ? {} : { warnings });

export const createDatamart = operation({
  name: 'createDatamart',
  section: 'facts',
  resource: 'Datamarts',
  summary: 'Create a datamart',
  description: 'The tables, columns and datatypes are read from the datasource.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: z.strictObject({
    name: identifier.describe('Unique in the organization.'),
    datasourceName: identifier,
    tableList: list(table, limits.columns),
    tenancySettings: newTenancySettings
      .optional()
      .describe('If missing, there is no tenancy, and the only clientId is `None`.'),
    relationships: list(relationship).default([]),
    sharedTables: sharedTables.default([]),
    cacheTtlSeconds,
    cacheStaleSeconds,
    rollups: rollups.optional(),
  }),
  output: z.object({ id: z.string(), error: noError, warnings: tenancyWarnings }),
  encode: (written: Written) => ({ id: written.datamart.name, error: null, ...writeWarnings(written) }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    DATAMART_ALREADY_EXISTS: 400,
    INVALID_DATASOURCE_NAME: 400,
    DATASOURCE_CONNECTION_ERROR: 400,
  },
  bindings: [
    { method: 'POST', path: paths.kebab, from: 'body' },
    { method: 'POST', path: paths.legacy, from: 'body', isLegacy: true },
  ],
  example: {
    input: { name: 'flights', datasourceName: 'warehouse', tableList: exampleTables },
    output: { id: 'flights', error: null },
  },
});

export const updateDatamart = operation({
  name: 'updateDatamart',
  section: '9',
  resource: 'Datamarts',
  summary: 'Update a datamart',
  description: 'Missing fields keep their values; `tableList` and `relationships` replace the stored lists.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: z.strictObject({
    datamartName: identifier.describe('The datamart’s name, case-sensitive. It cannot be changed.'),
    tableList: list(table, limits.columns).optional(),
    tenancySettings: tenancySettings.optional(),
    relationships: list(relationship).optional(),
    sharedTables: sharedTables.optional(),
    cacheTtlSeconds,
    cacheStaleSeconds,
    rollups: rollups.optional().describe('Replaces the stored list.'),
    expectedUpdatedAt: z.iso
      .datetime()
      .max(40)
      .optional()
      .describe('The `updatedAt` that you had read. If the datamart was changed since, nothing is written.'),
  }),
  output: z.object({
    id: z.string(),
    updatedAt: z
      .string()
      .optional()
      .describe('The new version, for `expectedUpdatedAt` of your next change. Only if the request has that field.'),
    warnings: tenancyWarnings,
  }),
  encode: ({ isVersioned, ...written }: Written & { readonly isVersioned: boolean }) => ({
    id: written.datamart.name,
    ...(isVersioned ? { updatedAt: written.datamart.updatedAt.toISOString() } : {}),
    ...writeWarnings(written),
  }),
  errors: {
    AUTHENTICATION_ERROR: 401,
    INVALID_DATAMART: 400,
    DATASOURCE_CONNECTION_ERROR: 400,
    DATAMART_CHANGED: 409,
  },
  bindings: [
    { method: 'PUT', path: paths.kebab, from: 'body' },
    { method: 'PUT', path: paths.legacy, from: 'body', isLegacy: true },
  ],
  example: { input: { datamartName: 'flights', tableList: exampleTables }, output: { id: 'flights' } },
});
