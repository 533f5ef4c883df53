import type { SchemaPair } from '../../model/dashboard/content.js';
import type { DatasourceType } from '../../model/organization.js';
import type { CheckedSql, SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { renameDuckDbSchemas } from '../databases/duckdb/rename-schemas.js';
import { renamePostgresSchemas } from '../databases/postgres/rename-schemas.js';
import { withoutPlaceholder, withPlaceholder, writtenPath } from '../parsing/placeholder.js';
import { parserOf } from './sql-parsers.js';

type Rewrite = ReturnType<SqlRewriter['renameSchemas']>;
type Dialect = {
  readonly isSameName: (a: string, b: string) => boolean;
  readonly rename: (text: string, rename: (schemaName: string) => string | undefined) => Rewrite;
};

/** Null where no parser can also write this SQL. */
const dialects: Readonly<Record<DatasourceType, Dialect | null>> = {
  DUCKDB: { isSameName: (a, b) => a.toLowerCase() === b.toLowerCase(), rename: renameDuckDbSchemas },
  POSTGRES: { isSameName: (a, b) => a === b, rename: renamePostgresSchemas },
  MYSQL: null,
  CLICKHOUSE: null,
};

/** Renames schemas with each database's own parser. SQL without renames is parsed too, and keeps its text. */
export const createSqlRewriter = (): SqlRewriter => ({
  renameSchemas: async (dialect: DatasourceType, text: string, pairs: readonly SchemaPair[]) => {
    const grammar = dialects[dialect];
    if (grammar === null) {
      return pairs.length === 0
        ? { sql: text }
        : {
            expected: `no SQL, since schemaPairs cannot be applied to SQL of ${dialect}: rename the schemas in it by hand`,
          };
    }
    // The parsers would end the text at a NUL.
    if (text.includes('\0')) return { expected: 'SQL without NUL' };
    const renamed = await grammar.rename(
      withoutPlaceholder(text),
      (name) => pairs.find(({ replaceSchema }) => grammar.isSameName(replaceSchema, name))?.targetSchema,
    );
    if (!('sql' in renamed)) return renamed;
    return { sql: pairs.length === 0 ? text : withPlaceholder(renamed.sql) };
  },
  check,
});

const nothingKnown: CheckedSql = { variables: [], names: [], isAggregate: false };

const check: SqlRewriter['check'] = async (dialect, text, as) => {
  const parser = parserOf(dialect);
  if (parser === null) return nothingKnown;
  try {
    if (as === 'select') {
      const { variables, tables } = await parser.select(withoutPlaceholder(text));
      return { ...nothingKnown, variables, names: tables.map(writtenPath) };
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
