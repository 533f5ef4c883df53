import type { Kysely, Selectable } from 'kysely';
import type { SemanticLayer } from '../../model/datamart/semantic-layer.js';
import { assertUpdated, jsonb, wasInserted } from './query.js';
import type { Tables } from './tables.js';

const decode = (row: Selectable<Tables['semantic_layers']>): SemanticLayer => ({
  tables: row.tables,
  feedback: row.feedback,
  updatedAt: row.updated_at,
});

const encode = ({ tables, feedback, updatedAt }: SemanticLayer) => ({
  tables: jsonb(tables),
  feedback,
  updated_at: updatedAt,
});

export const createSemanticLayerStore = (db: Kysely<Tables>) => ({
  /** Returns false if the datamart already has a semantic layer. */
  insert: async (datamartId: string, layer: SemanticLayer) =>
    wasInserted(
      await db
        .insertInto('semantic_layers')
        .values({ datamart_id: datamartId, ...encode(layer) })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  update: async (datamartId: string, layer: SemanticLayer) => {
    assertUpdated(
      await db
        .updateTable('semantic_layers')
        .set(encode(layer))
        .where('datamart_id', '=', datamartId)
        .executeTakeFirst(),
      'The semantic layer',
    );
  },
  findByDatamart: async (datamartId: string) => {
    const row = await db
      .selectFrom('semantic_layers')
      .selectAll()
      .where('datamart_id', '=', datamartId)
      .executeTakeFirst();
    return row && decode(row);
  },
  /** Returns false if the datamart has no semantic layer. */
  remove: async (datamartId: string) => {
    const { numDeletedRows } = await db
      .deleteFrom('semantic_layers')
      .where('datamart_id', '=', datamartId)
      .executeTakeFirst();
    return numDeletedRows === 1n;
  },
});

/** Stores at most one semantic layer for each datamart. */
export type SemanticLayerStore = ReturnType<typeof createSemanticLayerStore>;
