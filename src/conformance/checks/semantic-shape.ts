import { boolean, fields, listOf, number, orNull, text, timestamp } from '../expect.js';

/** The semantic layer as it is read. */
export const layer = fields({
  data: fields({
    datamartName: text,
    tables: listOf(
      fields({
        name: text,
        schemaName: text,
        description: orNull(text),
        synonyms: listOf(text),
        columns: listOf(
          fields({
            name: text,
            datatype: text,
            description: orNull(text),
            synonyms: listOf(text),
            columnType: orNull(text),
            isIdentifier: boolean,
            isNotIndexed: boolean,
          }),
        ),
      }),
    ),
    feedback: orNull(text),
    completionScore: number,
    lastUpdated: orNull(timestamp),
  }),
});
