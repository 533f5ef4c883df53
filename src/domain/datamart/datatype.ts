/**
 * Kind of a datatype, independent of the database. It is only as fine as checks of settings need; the engine has its
 * own, finer types.
 */
export type DatatypeKind = 'integer' | 'number' | 'text' | 'enum' | 'uuid' | 'boolean' | 'date' | 'json' | 'other';

/**
 * Names in upper case, without length, precision and modifiers, of DuckDB, PostgreSQL, MySQL, MariaDB and ClickHouse.
 */
const kinds: readonly (readonly [DatatypeKind, RegExp])[] = [
  ['boolean', /^BOOL(EAN)?$|^TINYINT\(1\)$/],
  [
    'integer',
    /^U?(TINY|SMALL|MEDIUM|BIG|HUGE)?INT$|^U?INTEGER$|^U?HUGEINT$|^INT[248]$|^U?INT(8|16|32|64|128|256)$|^(SMALL|BIG)?SERIAL$|^OID$|^YEAR$/,
  ],
  ['number', /^(DECIMAL|NUMERIC|DEC|FIXED|REAL|FLOAT([48]|32|64)?|DOUBLE( PRECISION)?|MONEY)$/],
  [
    'text',
    /^(VARCHAR|CHARACTER VARYING|CHARACTER|CHAR|BPCHAR|NAME|CITEXT|(FIXED)?STRING|(TINY|MEDIUM|LONG)?TEXT|NVARCHAR|NCHAR)$/,
  ],
  // A datatype with a fixed list of texts.
  ['enum', /^(ENUM(8|16)?|SET)$/],
  ['uuid', /^UUID$/],
  ['date', /^(DATE(32)?|DATETIME(64)?|TIMESTAMP(TZ|_S|_MS|_NS|_US)?|TIMESTAMP WITH(OUT)? TIME ZONE)$/],
  ['json', /^JSONB?$/],
];

/** Removes MySQL's number modifiers and ClickHouse's type wrappers, which do not change the kind. */
const baseName = (datatype: string): string => {
  const name = datatype.toUpperCase();
  // ClickHouse wraps types in Nullable and LowCardinality.
  const inner = /^(?:NULLABLE|LOWCARDINALITY)\((.*)\)$/s.exec(name)?.[1];
  return inner === undefined ? name.replace(/ (UNSIGNED|ZEROFILL|SIGNED)\b/g, '').trim() : baseName(inner);
};

/** Returns the kind of a datatype as a datasource names it; `other` for an unknown name. */
export const datatypeKind = (datatype: string): DatatypeKind => {
  const name = baseName(datatype);
  // An array does not have the kind of its elements.
  if (name.endsWith(']')) return 'other';
  const plain = name.replace(/ ?\(.*?\)(?= |$)/s, '');
  const bare = /^(ENUM(8|16)?|SET)\(/.test(name) ? 'ENUM' : plain;
  return kinds.find(([, pattern]) => pattern.test(name) || pattern.test(bare))?.[0] ?? 'other';
};
