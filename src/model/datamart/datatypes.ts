/**
 * The table of types: what each type of each database holds, and what can be done with it. Checks of settings, engine,
 * options, editors and documents read it.
 */
import { type DatasourceType, datasourceTypes, type Protocol, protocolOf, protocols } from '../organization.js';
import { recordOf } from '../record-of.js';

/** What the values of a type are, as finely as a database compares them. */
export type ValueKind =
  | 'text'
  /** Text of a closed list. */
  | 'enum'
  | 'integer'
  | 'decimal'
  | 'float'
  | 'boolean'
  | 'date'
  | 'timestamp'
  /** A point in time, read in the question's zone or else in UTC. */
  | 'instant'
  | 'uuid'
  | 'json'
  | 'other';

/**
 * What the values of a column are, as finely as settings and editors tell them apart. `other`: they are shown and
 * compared as text. `opaque`: they are shown as the database writes them, and never compared.
 */
export type DatatypeKind =
  | 'integer'
  | 'number'
  | 'text'
  | 'enum'
  | 'uuid'
  | 'boolean'
  | 'date'
  | 'json'
  | 'other'
  | 'opaque';

const coarse: Readonly<Record<ValueKind, DatatypeKind>> = {
  text: 'text',
  enum: 'enum',
  integer: 'integer',
  decimal: 'number',
  float: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date',
  instant: 'date',
  uuid: 'uuid',
  json: 'json',
  other: 'other',
};

export type Datatype = {
  readonly kind: ValueKind;
  /** A type name that all dialects know: `VARCHAR`, `BIGINT`, `DECIMAL(10,2)`. Never taken from a datamart. */
  readonly cast: string;
  /**
   * How the values are converted when they are read, by the dialect's name for it. Left out: they are read as they are
   * stored, and those of kind `other` and `json` cannot be compared.
   */
  readonly readAs?: string;
  /** Fractional digits of seconds, where the database's columns differ in them. */
  readonly digits?: number;
  /** For numbers: the greatest number of digits in a comparison, where the database's limit is below the common one. */
  readonly greatestDigits?: number;
  /** For decimals: whether NaN and the infinities are possible values. */
  readonly hasNotFinite?: boolean;
};

/** A row of the table: the names of the type in lower case, without parameters. */
type Row = readonly [names: string, datatype: Datatype];

const integer = (cast: string, more: Partial<Datatype> = {}): Datatype => ({ kind: 'integer', cast, ...more });
const text: Datatype = { kind: 'text', cast: 'VARCHAR' };
const asText = (readAs = 'text', kind: 'other' | 'json' = 'other'): Datatype => ({ kind, cast: 'VARCHAR', readAs });
const decimal: Datatype = { kind: 'decimal', cast: 'DECIMAL(38,0)' };
const float: Datatype = { kind: 'float', cast: 'FLOAT' };
const double: Datatype = { kind: 'float', cast: 'DOUBLE' };
const boolean: Datatype = { kind: 'boolean', cast: 'BOOLEAN' };
const date: Datatype = { kind: 'date', cast: 'DATE' };
const timestamp: Datatype = { kind: 'timestamp', cast: 'TIMESTAMP' };
const instant: Datatype = { kind: 'instant', cast: 'TIMESTAMP' };
const uuid: Datatype = { kind: 'uuid', cast: 'UUID' };
const choice: Datatype = { kind: 'enum', cast: 'VARCHAR' };

const duckDb: readonly Row[] = [
  ['tinyint', integer('TINYINT')],
  ['smallint', integer('SMALLINT')],
  ['integer', integer('INTEGER')],
  ['bigint', integer('BIGINT')],
  ['hugeint', integer('HUGEINT')],
  ['utinyint', integer('UTINYINT')],
  ['usmallint', integer('USMALLINT')],
  ['uinteger', integer('UINTEGER')],
  ['ubigint', integer('UBIGINT')],
  ['uhugeint', integer('UHUGEINT')],
  ['decimal', decimal],
  ['float', float],
  ['double', double],
  ['varchar', text],
  ['enum', choice],
  ['boolean', boolean],
  ['date', date],
  ['timestamp|timestamp_s|timestamp_ms', timestamp],
  // Its values are read to the microsecond, as those of the other types.
  ['timestamp_ns', { ...timestamp, readAs: 'timestamp' }],
  ['timestamp with time zone', instant],
  ['uuid', uuid],
  ['json', asText('text', 'json')],
  ['time|time with time zone|time_ns|interval|blob|bit|bignum|varint|struct|map|union|[]', asText()],
];

const postgres: readonly Row[] = [
  ['smallint', integer('SMALLINT')],
  ['integer', integer('INTEGER')],
  ['bigint', integer('BIGINT')],
  ['oid', integer('BIGINT', { readAs: 'bigint' })],
  ['numeric', { ...decimal, hasNotFinite: true }],
  ['money', { ...decimal, readAs: 'numeric' }],
  ['real', float],
  ['double precision', double],
  ['text|character varying|character|bpchar|citext|name|"char"', text],
  ['enum', choice],
  ['boolean', boolean],
  ['date', date],
  ['timestamp without time zone', timestamp],
  ['timestamp with time zone', instant],
  ['uuid', uuid],
  ['json|jsonb', asText('text', 'json')],
  [
    'time without time zone|time with time zone|interval|bytea|bit|bit varying|xml|inet|cidr|macaddr|macaddr8|tsvector|tsquery|point|line|lseg|box|path|polygon|circle|pg_lsn|int4range|int8range|numrange|daterange|tsrange|tstzrange|int4multirange|int8multirange|nummultirange|datemultirange|tsmultirange|tstzmultirange|[]',
    asText(),
  ],
];

const mysql: readonly Row[] = [
  ['tinyint', integer('TINYINT')],
  ['smallint', integer('SMALLINT')],
  ['mediumint|int', integer('INTEGER')],
  ['bigint', integer('BIGINT')],
  ['tinyint unsigned', integer('UTINYINT')],
  ['smallint unsigned', integer('USMALLINT')],
  ['mediumint unsigned|int unsigned', integer('UINTEGER')],
  ['bigint unsigned', integer('UBIGINT')],
  // As a number: compared as it is stored, 0 to 99 are the years 2000 to 1999.
  ['year', integer('USMALLINT', { readAs: 'number' })],
  ['bit', integer('UBIGINT', { readAs: 'number' })],
  ['decimal', decimal],
  ['float', float],
  ['double', double],
  ['char|varchar|tinytext|text|mediumtext|longtext', text],
  ['enum', choice],
  ['set', text],
  // A date may lack its year, month or day.
  ['date', { ...date, readAs: 'date' }],
  ['datetime', { ...timestamp, readAs: 'date' }],
  ['timestamp', { ...instant, readAs: 'date' }],
  ['uuid', uuid],
  ['json', asText('text', 'json')],
  ['time|inet4|inet6', asText()],
  ['binary|varbinary|tinyblob|blob|mediumblob|longblob', asText('hex')],
];

const clickHouse: readonly Row[] = [
  ['int8', integer('TINYINT')],
  ['int16', integer('SMALLINT')],
  ['int32', integer('INTEGER')],
  ['int64', integer('BIGINT')],
  ['int128', integer('HUGEINT')],
  ['int256', integer('INT256')],
  ['uint8', integer('UTINYINT')],
  ['uint16', integer('USMALLINT')],
  ['uint32', integer('UINTEGER')],
  ['uint64', integer('UBIGINT')],
  ['uint128', integer('UHUGEINT')],
  ['uint256', integer('UINT256')],
  ['decimal', decimal],
  ['float32|bfloat16', float],
  ['float64', double],
  ['bool', boolean],
  ['string|fixedstring', text],
  ['enum8|enum16', choice],
  ['uuid', uuid],
  ['date|date32', date],
  ['datetime', { ...instant, digits: 0 }],
  ['datetime64', { ...instant, digits: 3 }],
  ['json|object', asText('json', 'json')],
  ['ipv4|ipv6|time|time64', asText()],
  ['array|tuple|map|nested|point|ring|polygon|multipolygon|linestring|multilinestring', asText('json')],
];

/** Columns hold what is put into them: the declared type decides how they are read, and other values are NULL. */
const sqlite: readonly Row[] = [
  ['integer|int|tinyint|smallint|mediumint|bigint|int2|int8|unsigned big int', integer('BIGINT')],
  ['decimal|numeric|num', decimal],
  ['real|double|double precision|float', double],
  ['text|varchar|char|character|varying character|character varying|nchar|native character|nvarchar|clob', text],
  ['uuid', uuid],
  ['boolean|bool', boolean],
  ['date', date],
  ['datetime|timestamp|timestamp without time zone', { ...timestamp, digits: 3 }],
  ['timestamptz|timestamp with time zone', { ...instant, digits: 3 }],
  ['json', asText('text', 'json')],
  ['time', asText()],
  ['blob', asText('hex')],
];

/**
 * The rows of each database.
 *
 * @internal Tests only: docs/reference/types.md is made from them.
 */
export const datatypeRows: Readonly<Record<Protocol, readonly Row[]>> = {
  DUCKDB: duckDb,
  POSTGRES: postgres,
  MYSQL: mysql,
  CLICKHOUSE: clickHouse,
  SQLITE: sqlite,
};

/** The most digits of a number that the database compares exactly. To compare, DuckDB casts every value of the column to
 * a type that holds both sides, and fails on the first that does not fit. */
const greatestDigits: Readonly<Record<Protocol | 'REDSHIFT', number>> = {
  DUCKDB: 38,
  POSTGRES: 1000,
  MYSQL: 65,
  CLICKHOUSE: 76,
  SQLITE: 38,
  REDSHIFT: 38,
};

/** Redshift's numeric has at most 38 digits, and without parameters it has no decimal places. */
const numbersOf = (database: DatasourceType): keyof typeof greatestDigits =>
  database === 'REDSHIFT' ? database : protocolOf(database);

const byName = (database: DatasourceType): ReadonlyMap<string, Datatype> =>
  new Map(
    datatypeRows[protocolOf(database)].flatMap(([names, datatype]) => {
      const isExact = datatype.kind === 'integer' || datatype.kind === 'decimal';
      const known = isExact ? { ...datatype, greatestDigits: greatestDigits[numbersOf(database)] } : datatype;
      return names.split('|').map((name) => [name, known] as const);
    }),
  );

const tables = recordOf(datasourceTypes, byName);

/** `Int64` from `LowCardinality(Nullable(Int64))`: wrappers of ClickHouse that do not change what the values are. */
export const bareClickHouseType = (datatype: string): string => {
  const inner =
    /^SimpleAggregateFunction\(\s*\w+\s*,\s*(.*)\)$/s.exec(datatype)?.[1] ??
    /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(datatype)?.[1];
  return inner === undefined ? datatype : bareClickHouseType(inner);
};

/** The name in lower case, without parameters: `timestamp without time zone` from `timestamp(3) without time zone`. */
const plainName = (datatype: string): string => {
  const name = datatype.toLowerCase().trim();
  if (name.endsWith(']')) return '[]';
  // `interval day to second(3)`.
  if (name.startsWith('interval ')) return 'interval';
  // The texts of an enum may contain brackets.
  if (/^(enum|set|enum8|enum16)\(/.test(name)) return name.slice(0, name.indexOf('('));
  return name
    .replace(/ ?\(.*?\)(?= |$)/s, '')
    .replace(/\(.*$/s, '')
    .replace(/ zerofill/, '')
    .trim();
};

const decimalParameters = /\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\)/;

/** The type with its own digits. A numeric of PostgreSQL may have any number of them. */
const sized = (datatype: Datatype, name: string, database: DatasourceType): Datatype => {
  if (datatype.kind === 'decimal' && numbersOf(database) !== 'POSTGRES') {
    const [, width = '38', scale = '0'] = decimalParameters.exec(name) ?? [];
    // A 64-bit float holds 15 digits exactly.
    if (database === 'SQLITE' && Number(width) > 15) return double;
    return { ...datatype, cast: `DECIMAL(${width},${scale})` };
  }
  const digits = /^datetime64\(\s*([0-9])/i.exec(name)?.[1];
  return digits === undefined ? datatype : { ...datatype, digits: Number(digits) };
};

/** The type of a column, by its name in the database; undefined for a name that the table does not have. */
export const datatypeOf = (database: DatasourceType, datatype: string): Datatype | undefined => {
  const name = database === 'CLICKHOUSE' ? bareClickHouseType(datatype) : datatype;
  const table = tables[database];
  const plain = plainName(name);
  const found = table.get(name.toLowerCase().trim()) ?? table.get(plain) ?? table.get(plain.replace(' unsigned', ''));
  return found && sized(found, name, database);
};

const kindOfValues = ({ kind }: Datatype): DatatypeKind => coarse[kind];

/** The kind of a column that the datasource describes so. A tinyint(1) holds numbers unless a datamart declares booleans. */
export const sourceKind = (database: DatasourceType, datatype: string): DatatypeKind => {
  if (protocolOf(database) === 'MYSQL' && mayBeBoolean({ datatype })) return 'integer';
  const known = datatypeOf(database, datatype);
  return known === undefined ? 'opaque' : kindOfValues(known);
};

/** What a column is known by: the kind that its datasource said, or in earlier releases only the name of its type. */
export type NamedType = {
  readonly datatype: string;
  readonly kind?: DatatypeKind | undefined;
  readonly isCustomColumn?: boolean | undefined;
  /** Whole numbers with a scale are read with decimal places. */
  readonly numbers?: { readonly scale?: number | undefined } | null | undefined;
};

/** Whether the author says if the values are booleans or numbers: MySQL's BOOLEAN is a tinyint(1). */
export const mayBeBoolean = ({ datatype }: NamedType): boolean => /^tinyint\(1\)(?! unsigned)/i.test(datatype);

/**
 * Returns the kind of a column. A tinyint(1) of an earlier release is a boolean. Undefined: only the database knows, since the column is computed, or since its type has
 * a name that databases use for different kinds.
 */
export const columnKind = (column: NamedType): DatatypeKind | undefined => {
  const stored = storedKind(column);
  return stored === 'integer' && column.numbers?.scale !== undefined ? 'number' : stored;
};

/** As `columnKind`, of the values as they are stored. */
export const storedKind = ({ datatype, kind, isCustomColumn }: NamedType): DatatypeKind | undefined => {
  if (isCustomColumn === true) return undefined;
  if (kind !== undefined) return kind;
  if (mayBeBoolean({ datatype })) return 'boolean';
  const kinds = new Set(protocols.map((database) => sourceKind(database, datatype)));
  kinds.delete('opaque');
  return kinds.size === 1 ? [...kinds][0] : undefined;
};

/** Whether the column is known to hold one of these kinds. */
export const isOfKind = (column: NamedType | undefined, ...kinds: readonly DatatypeKind[]): boolean => {
  const kind = column && columnKind(column);
  return kind !== undefined && kinds.includes(kind);
};

/** As the interface names it. */
export type WireKind = Exclude<DatatypeKind, 'opaque'>;
export const wireKind = (kind: DatatypeKind | undefined): WireKind =>
  kind === undefined || kind === 'opaque' ? 'other' : kind;
