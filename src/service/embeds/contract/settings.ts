/** Changes to an existing embed by its data app. */
import { z } from 'zod';
import type { Embed } from '../../../model/dashboard/embed.js';
import { identifier, limits } from '../../../platform/http/interface/fields.js';
import { noError, operation } from '../../../platform/http/interface/operation.js';
import { accessSettings } from '../../common/contract/access-settings.js';

const errors = { AUTHENTICATION_ERROR: 401, INVALID_EMBED_ID: 400 } as const;

export const updateEmbed = operation({
  name: 'updateEmbed',
  section: 'facts',
  resource: 'Embeds',
  summary: 'Change access settings of an embed',
  description:
    'Missing settings keep their values; a list replaces the stored list. Existing guest tokens use the new settings at once.',
  bodyBytes: limits.bodyBytes,
  credentials: ['apiKey'],
  reads: 'definitions',
  input: z.strictObject({ embedId: identifier, accessSettings: accessSettings.partial() }),
  output: z.object({ id: z.string(), error: noError }),
  encode: (embed: Embed) => ({ id: embed.embedId, error: null }),
  errors: { ...errors, INVALID_DATAMART_NAME: 400, CLIENT_ID_ERROR: 400 },
  bindings: [
    { method: 'PUT', path: '/api/v2/data-app/embeds', from: 'body' },
    { method: 'PUT', path: '/api/v2/dataApp/embeds', from: 'body', isLegacy: true },
    { method: 'PUT', path: '/api/v2/dataApp/embed/update', from: 'body', isLegacy: true },
    { method: 'POST', path: '/api/v2/dataApp/embed/update', from: 'body', isLegacy: true },
  ],
  example: {
    input: { embedId: 'delays--LAX', accessSettings: { isAllowUnderlyingData: false } },
    output: { id: 'delays--LAX', error: null },
  },
});

export const renameEmbed = operation({
  name: 'renameEmbed',
  section: 'facts',
  resource: 'Embeds',
  summary: 'Rename an embed',
  credentials: ['apiKey'],
  reads: 'nothing',
  input: z.strictObject({ embedId: identifier, name: identifier }),
  output: z.object({ id: z.string(), name: z.string(), error: noError }),
  encode: (embed: Embed) => ({ id: embed.embedId, name: embed.name, error: null }),
  errors,
  bindings: [{ method: 'PUT', path: '/api/v2/data-app/embeds/rename', from: 'body' }],
  example: {
    input: { embedId: 'delays--LAX', name: 'Our delays' },
    output: { id: 'delays--LAX', name: 'Our delays', error: null },
  },
});
