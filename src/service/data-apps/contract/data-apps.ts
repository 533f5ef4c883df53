/** Operations 5, 6 and 7, and the list of data apps. */
import { z } from 'zod';
import type { Embed } from '../../../model/dashboard/embed.js';
import type { DataApp } from '../../../model/organization.js';
import { mapItems, type Slices } from '../../../model/slices.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';
import { decodePagination, identifier, pagination, queryPagination } from '../../../platform/http/interface/fields.js';
import { operation } from '../../../platform/http/interface/operation.js';

const named = z.object({ name: z.string() });
const encode = (dataApp: DataApp) => ({ name: dataApp.name });

export const createDataApp = operation({
  name: 'createDataApp',
  section: '5',
  resource: 'Data apps',
  summary: 'Create a data app',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['owner'],
  input: z.strictObject({ name: identifier.describe('Unique.') }),
  output: named,
  encode,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path: '/api/v2/data-app', from: 'body' }],
  example: { input: { name: 'flights' }, output: { name: 'flights' } },
});

export const updateDataApp = operation({
  name: 'updateDataApp',
  section: '6',
  resource: 'Data apps',
  summary: 'Rename a data app',
  credentials: ['serviceToken'],
  reads: 'nothing',
  input: z.strictObject({
    name: identifier.describe('The current name.'),
    updateName: identifier.describe('The new name.'),
  }),
  output: named,
  encode,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400, DATA_APP_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app', from: 'body' }],
  example: { input: { name: 'flights', updateName: 'airline' }, output: { name: 'airline' } },
});

export const deleteDataApp = operation({
  name: 'deleteDataApp',
  section: '7',
  resource: 'Data apps',
  summary: 'Delete a data app and everything that belongs to it',
  description: 'This cannot be undone.',
  credentials: ['serviceToken'],
  reads: 'nothing',
  input: z.strictObject({ name: identifier }),
  output: named,
  encode,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app', from: 'query' }],
  example: { input: { name: 'flights' }, output: { name: 'flights' } },
});

/** A data app in a list, with its embeds. */
export type ListedDataApp = { readonly dataApp: DataApp; readonly embeds: readonly Embed[] };

const timestamps = { createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() };

const listedDataApp = z.object({
  name: z.string(),
  type: z.literal('embedded'),
  ...timestamps,
  embedCount: z.number().int(),
  embeds: z.array(z.object({ name: z.string(), embedId: z.string(), ...timestamps })),
});

/** spec-gap: embeds have no time of their last update, so `updatedAt` is the time of creation. */
const encodeListed = ({ dataApp, embeds }: ListedDataApp): Encoded<typeof listedDataApp> => ({
  name: dataApp.name,
  type: 'embedded',
  createdAt: dataApp.createdAt.toISOString(),
  updatedAt: dataApp.updatedAt.toISOString(),
  embedCount: embeds.length,
  embeds: embeds.map(({ name, embedId, createdAt }) => ({
    name,
    embedId,
    createdAt: createdAt.toISOString(),
    updatedAt: createdAt.toISOString(),
  })),
});

export const listDataApps = operation({
  name: 'listDataApps',
  section: 'facts',
  resource: 'Data apps',
  summary: 'List the data apps with their embeds',
  description: 'By name.',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author', 'publisher', 'support', 'auditor'],
  input: z.strictObject(pagination),
  output: z.object({ data: z.array(listedDataApp) }),
  encode: (dataApps: Slices<ListedDataApp>) => ({ data: mapItems(dataApps, encodeListed) }),
  errors: { AUTHENTICATION_ERROR: 401 },
  bindings: [
    {
      method: 'GET',
      path: '/api/v2/data-app',
      from: 'query',
      input: z.strictObject(queryPagination).transform(decodePagination),
    },
  ],
  example: {
    input: { isPagination: true, pageNumber: 1 },
    output: {
      data: [
        {
          name: 'flights',
          type: 'embedded',
          createdAt: '2026-01-02T03:04:05.000Z',
          updatedAt: '2026-01-02T03:04:05.000Z',
          embedCount: 0,
          embeds: [],
        },
      ],
    },
  },
});
