/** Operation 11: the semantic layer of a datamart, four operations on one path. */
import { z } from 'zod';
import { identifier, limits, list, text } from './fields.js';
import { asIs, operation } from './operation.js';

const path = '/api/v2/data-app/datamarts/semantic-layer';
const synonyms = list(identifier, limits.synonyms);

const writtenTable = z.strictObject({
  name: identifier.describe('A table of the datamart.'),
  description: text.optional(),
  synonyms: synonyms.optional(),
  columns: list(
    z.strictObject({
      name: identifier.describe('A column of the table.'),
      description: text.optional(),
      synonyms: synonyms.optional(),
      columnType: identifier
        .optional()
        .describe('Compatible with the datatype, such as `Identifier`, `ENUM`, `Number`.'),
      isIdentifier: z.boolean().optional(),
    }),
    limits.columns,
  ).optional(),
});

const written = z
  .strictObject({
    datamartName: identifier,
    tables: list(writtenTable, limits.columns).optional(),
    feedback: text.optional(),
  })
  .refine(
    ({ tables, feedback }) => tables !== undefined || feedback !== undefined,
    'at least one of tables and feedback',
  );

const named = z.strictObject({ datamartName: identifier });
const id = z.object({ id: z.string() });
const encodeId = (datamart: { readonly name: string }) => ({ id: datamart.name });

const readColumn = z.object({
  name: z.string(),
  datatype: z.string(),
  description: z.string().nullable(),
  synonyms: z.array(z.string()),
  miscellaneousInfo: z.unknown(),
  columnType: z.string().nullable(),
  columnTypeConfig: z.unknown(),
  isIdentifier: z.boolean(),
  isNotIndexed: z.boolean(),
});

const semanticLayer = z.object({
  datamartName: z.string(),
  tables: z.array(
    z.object({
      name: z.string(),
      schemaName: z.string(),
      description: z.string().nullable(),
      synonyms: z.array(z.string()),
      miscellaneousInfo: z.unknown(),
      columns: z.array(readColumn),
    }),
  ),
  feedback: z.string().nullable(),
  completionScore: z.number(),
  lastUpdated: z.string().nullable(),
});

const readAnswer = z.object({ data: semanticLayer });

/** spec-gap: 403 for every credential but a good service token. */
const forbidden = { AUTHENTICATION_ERROR: 403, INVALID_DATAMART: 400 } as const;
const contentErrors = {
  ...forbidden,
  INVALID_TABLE: 400,
  INVALID_COLUMN: 400,
  INVALID_COLUMN_TYPE: 400,
  DUPLICATE_SYNONYM: 400,
} as const;

export const createSemanticLayer = operation({
  name: 'createSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Create the semantic layer of a datamart',
  credentials: ['serviceToken'],
  input: written,
  output: id,
  encode: encodeId,
  errors: { ...contentErrors, SEMANTIC_LAYER_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path, from: 'body' }],
});

export const updateSemanticLayer = operation({
  name: 'updateSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Update the semantic layer of a datamart',
  description: 'Merges what it names.',
  credentials: ['serviceToken'],
  input: written,
  output: id,
  encode: encodeId,
  errors: { ...contentErrors, SEMANTIC_LAYER_NOT_FOUND: 400 },
  bindings: [{ method: 'PUT', path, from: 'body' }],
});

export const getSemanticLayer = operation({
  name: 'getSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Read the semantic layer of a datamart',
  credentials: ['serviceToken'],
  input: named,
  output: readAnswer,
  encode: asIs<z.input<typeof readAnswer>>,
  errors: forbidden,
  bindings: [{ method: 'GET', path, from: 'query' }],
});

export const deleteSemanticLayer = operation({
  name: 'deleteSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Delete the semantic layer of a datamart',
  credentials: ['serviceToken'],
  input: named,
  output: id,
  encode: encodeId,
  errors: { ...forbidden, SEMANTIC_LAYER_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path, from: 'query' }],
});
