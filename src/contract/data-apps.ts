/** Operations 5, 6 and 7: data apps. */
import { z } from 'zod';
import type { DataApp } from '../domain/organization.js';
import { identifier } from './fields.js';
import { operation } from './operation.js';

const named = z.object({ name: z.string() });
const encode = (dataApp: DataApp) => ({ name: dataApp.name });

export const createDataApp = operation({
  name: 'createDataApp',
  section: '5',
  resource: 'Data apps',
  summary: 'Create a data app',
  credentials: ['serviceToken'],
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
  input: z.strictObject({
    name: identifier.describe('Its current name.'),
    updateName: identifier.describe('Its new name.'),
  }),
  output: named,
  encode,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400, DATA_APP_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'PUT', path: '/api/v2/data-app', from: 'body' }],
});

export const deleteDataApp = operation({
  name: 'deleteDataApp',
  section: '7',
  resource: 'Data apps',
  summary: 'Delete a data app with everything that belongs to it',
  description: 'Cannot be undone.',
  credentials: ['serviceToken'],
  input: z.strictObject({ name: identifier }),
  output: named,
  encode,
  errors: { AUTHENTICATION_ERROR: 401, DATA_APP_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path: '/api/v2/data-app', from: 'query' }],
});
