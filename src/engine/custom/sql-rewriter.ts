import type { SchemaPair } from '../../model/dashboard/content.js';
import type { DatasourceType } from '../../model/organization.js';
import type { CheckedSql, SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { kinds } from '../databases/kinds.js';
import { withoutPlaceholder, withPlaceholder, writtenPath } from '../parsing/sql-parser.js';

/** Renames schemas with each database's own parser. SQL without renames is parsed too, and keeps its text. */
export const createSqlRewriter = (): SqlRewriter => ({
  renameSchemas: async (dialect: DatasourceType, text: string, pairs: readonly SchemaPair[]) => {
    const { parser, renameSchemas } = kinds[dialect];
    if (parser === null || renameSchemas === undefined) {
      return pairs.length === 0
        ? { sql: text }
        : {
            expected: `no SQL, since schemaPairs cannot be applied to SQL of ${dialect}: rename the schemas in it by hand`,
          };
    }
    // The parsers would end the text at a NUL.
    if (text.includes('\0')) return { expected: 'SQL without NUL' };
    const renamed = await renameSchemas(
      withoutPlaceholder(text),
      (name) => pairs.find(({ replaceSchema }) => parser.isSameName(replaceSchema, name))?.targetSchema,
    );
    if (!('sql' in renamed)) return renamed;
    return { sql: pairs.length === 0 ? text : withPlaceholder(renamed.sql) };
  },
  check,
});

const nothingKnown: CheckedSql = { variables: [], names: [], isAggregate: false, written: '' };

const check: SqlRewriter['check'] = async (dialect, text, as) => {
  const { parser } = kinds[dialect];
  if (parser === null) return nothingKnown;
  try {
    if (as === 'select') {
      const { variables, tables, template } = await parser.select(withoutPlaceholder(text));
      const written = template.map((part) => (typeof part === 'string' ? part : ' ')).join('');
      return { ...nothingKnown, variables, names: tables.map(writtenPath), written };
    }
    const { template, isAggregate } = await parser.expression(text);
    return {
      ...nothingKnown,
      names: template.flatMap((part) => (typeof part === 'string' ? [] : [part.path])),
      isAggregate,
    };
  } catch (error) {
    if (error instanceof Refusal) return { fault: error.message, place: error.place };
    throw error;
  }
};
