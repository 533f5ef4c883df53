/** What a datatype holds, whichever datasource names it: as much as checks of settings need. The engine has its own, finer types. */
export type DatatypeKind = 'integer' | 'number' | 'text' | 'enum' | 'uuid' | 'boolean' | 'date' | 'json' | 'other';

/** Names without length, precision and modifiers, in upper case: of DuckDB, PostgreSQL, MySQL and MariaDB. */
const kinds: readonly (readonly [DatatypeKind, RegExp])[] = [
  ['boolean', /^BOOL(EAN)?$|^TINYINT\(1\)$/],
  [
    'integer',
    /^U?(TINY|SMALL|MEDIUM|BIG|HUGE)?INT$|^U?INTEGER$|^U?HUGEINT$|^INT[248]$|^(SMALL|BIG)?SERIAL$|^OID$|^YEAR$/,
  ],
  ['number', /^(DECIMAL|NUMERIC|DEC|FIXED|REAL|FLOAT[48]?|DOUBLE( PRECISION)?|MONEY)$/],
  [
    'text',
    /^(VARCHAR|CHARACTER VARYING|CHARACTER|CHAR|BPCHAR|NAME|CITEXT|STRING|(TINY|MEDIUM|LONG)?TEXT|NVARCHAR|NCHAR)$/,
  ],
  // A closed list of texts.
  ['enum', /^(ENUM|SET)$/],
  ['uuid', /^UUID$/],
  ['date', /^(DATE|DATETIME|TIMESTAMP(TZ|_S|_MS|_NS|_US)?|TIMESTAMP WITH(OUT)? TIME ZONE)$/],
  ['json', /^JSONB?$/],
];

/** Modifiers of MySQL's numbers, which change no kind. */
const baseName = (datatype: string): string =>
  datatype
    .toUpperCase()
    .replace(/ (UNSIGNED|ZEROFILL|SIGNED)\b/g, '')
    .trim();

export const datatypeKind = (datatype: string): DatatypeKind => {
  const name = baseName(datatype);
  // An array is none of what it holds.
  if (name.endsWith(']')) return 'other';
  const plain = name.replace(/ ?\(.*?\)(?= |$)/s, '');
  const bare = name.startsWith('ENUM(') || name.startsWith('SET(') ? 'ENUM' : plain;
  return kinds.find(([, pattern]) => pattern.test(name) || pattern.test(bare))?.[0] ?? 'other';
};
