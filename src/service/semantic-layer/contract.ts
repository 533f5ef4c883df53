/** Operation 11: the semantic layer of a datamart. Four operations share one path. */
import { z } from 'zod';
import type { Datamart, DatamartTable } from '../../model/datamart/datamart.js';
import type { SemanticTable } from '../../model/datamart/semantic-layer.js';
import type { Encoded } from '../../platform/http/interface/callable.js';
import { identifier, limits, list, text } from '../../platform/http/interface/fields.js';
import { operation } from '../../platform/http/interface/operation.js';

const path = '/api/v2/data-app/datamarts/semantic-layer';
const synonyms = list(identifier, limits.synonyms);

const writtenTable = z.strictObject({
  name: identifier.describe('A table of the datamart: `schema.table`, or only the table name if it is unique.'),
  description: text.nullish().describe('Empty or null clears it.'),
  synonyms: synonyms.optional(),
  columns: list(
    z.strictObject({
      name: identifier.describe('A column of the table.'),
      description: text.nullish(),
      synonyms: synonyms.optional(),
      columnType: text
        .nullish()
        .describe('Must fit the datatype of the column: String, Number, ENUM, Range, Identifier, Expression or JSON.'),
      isIdentifier: z.boolean().optional(),
    }),
    limits.columns,
  ).optional(),
});

const content = {
  datamartName: identifier,
  tables: list(writtenTable, limits.columns).optional(),
  feedback: text.nullish(),
};

const hasContent = ({ tables, feedback }: { readonly tables?: unknown; readonly feedback?: unknown }): boolean =>
  tables !== undefined || feedback !== undefined;
const atLeastOne = 'at least one of tables and feedback';

const written = z.strictObject(content).refine(hasContent, atLeastOne);

const updated = z
  .strictObject({
    ...content,
    expectedLastUpdated: z.iso
      .datetime()
      .max(40)
      .optional()
      .describe('The `lastUpdated` that you had read. If the layer was changed since, nothing is written.'),
  })
  .refine(hasContent, atLeastOne);

const named = z.strictObject({ datamartName: identifier });
/** For reading, the specification answers a missing name like an unknown datamart. */
const asked = z.strictObject({ datamartName: z.union([z.literal(''), identifier]).default('') });
const id = z.object({ id: z.string() });
const encodeId = (datamart: { readonly name: string }) => ({ id: datamart.name });

const readColumn = z.object({
  name: z.string(),
  datatype: z.string(),
  description: z.string().nullable(),
  synonyms: z.array(z.string()),
  miscellaneousInfo: z.null(),
  columnType: z.string().nullable(),
  columnTypeConfig: z.null(),
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
      miscellaneousInfo: z.null(),
      columns: z.array(readColumn),
    }),
  ),
  feedback: z.string().nullable(),
  completionScore: z.number(),
  lastUpdated: z.string().nullable(),
});

const readAnswer = z.object({ data: semanticLayer });

type Read = {
  readonly datamart: Datamart;
  readonly tables: readonly SemanticTable[];
  readonly feedback: string | null;
  readonly completionScore: number;
  readonly updatedAt: Date | null;
};

/** Encodes a table. Its position in the list is that of the datamart's table. */
const encodeTable = ({ tableName, schemaName, ...table }: SemanticTable, own: DatamartTable | undefined) => ({
  name: tableName,
  schemaName,
  description: table.description,
  synonyms: table.synonyms,
  miscellaneousInfo: null,
  columns: table.columns.map(({ columnName, ...column }, index) => ({
    name: columnName,
    datatype: own?.columns[index]?.datatype ?? '',
    description: column.description,
    synonyms: column.synonyms,
    miscellaneousInfo: null,
    columnType: column.columnType,
    columnTypeConfig: null,
    isIdentifier: column.isIdentifier,
    isNotIndexed: false,
  })),
});

const encodeRead = ({ datamart, tables, feedback, completionScore, updatedAt }: Read): Encoded<typeof readAnswer> => ({
  data: {
    datamartName: datamart.name,
    tables: tables.map((table, index) => encodeTable(table, datamart.tables[index])),
    feedback,
    completionScore,
    lastUpdated: updatedAt?.toISOString() ?? null,
  },
});

const exampleInput: z.input<typeof written> = {
  datamartName: 'flights',
  tables: [{ name: 'flights', synonyms: ['departures'], columns: [{ name: 'carrier', columnType: 'Identifier' }] }],
};
const idExample = { id: 'flights' };

/** spec-gap: 403 for every credential that is not a valid service token. */
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
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: written,
  output: id,
  encode: encodeId,
  errors: { ...contentErrors, SEMANTIC_LAYER_ALREADY_EXISTS: 400 },
  bindings: [{ method: 'POST', path, from: 'body' }],
  example: { input: exampleInput, output: idExample },
});

export const updateSemanticLayer = operation({
  name: 'updateSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Update the semantic layer of a datamart',
  description: 'Changes only the fields that the request contains.',
  bodyBytes: limits.bodyBytes,
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author'],
  input: updated,
  output: id,
  encode: encodeId,
  errors: { ...contentErrors, SEMANTIC_LAYER_NOT_FOUND: 400, SEMANTIC_LAYER_CHANGED: 409 },
  bindings: [{ method: 'PUT', path, from: 'body' }],
  example: { input: { datamartName: 'flights', feedback: 'Delays are in minutes.' }, output: idExample },
});

export const getSemanticLayer = operation({
  name: 'getSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Read the semantic layer of a datamart',
  credentials: ['serviceToken'],
  reads: 'definitions',
  roles: ['author', 'auditor'],
  input: named,
  output: readAnswer,
  encode: encodeRead,
  errors: forbidden,
  bindings: [{ method: 'GET', path, from: 'query', input: asked }],
  example: {
    input: { datamartName: 'flights' },
    output: {
      data: { datamartName: 'flights', tables: [], feedback: null, completionScore: 0, lastUpdated: null },
    },
  },
});

export const deleteSemanticLayer = operation({
  name: 'deleteSemanticLayer',
  section: '11',
  resource: 'Semantic layer',
  summary: 'Delete the semantic layer of a datamart',
  credentials: ['serviceToken'],
  reads: 'nothing',
  roles: ['author'],
  input: named,
  output: id,
  encode: encodeId,
  errors: { ...forbidden, SEMANTIC_LAYER_NOT_FOUND: 400 },
  bindings: [{ method: 'DELETE', path, from: 'query' }],
  example: { input: { datamartName: 'flights' }, output: idExample },
});
