/** Writes docs/reference/types.md from the table of types. */

import { abilitiesOf } from '../src/model/dashboard/abilities.js';
import { aggregates as everyAggregate } from '../src/model/dashboard/metric.js';
import {
  type Datatype,
  type DatatypeKind,
  datatypeRows,
  sourceKind,
  type ValueKind,
} from '../src/model/datamart/datatypes.js';
import type { Protocol } from '../src/model/organization.js';

const titles: Readonly<Record<Protocol, string>> = {
  DUCKDB: 'DuckDB',
  POSTGRES: 'PostgreSQL',
  MYSQL: 'MySQL and MariaDB',
  CLICKHOUSE: 'ClickHouse',
  SQLITE: 'SQLite',
};

const holds: Readonly<Record<ValueKind, string>> = {
  text: 'text',
  enum: 'one of a list of texts',
  integer: 'whole numbers',
  decimal: 'exact numbers',
  float: 'floats',
  boolean: 'yes or no',
  date: 'dates',
  timestamp: 'dates with time',
  instant: 'points in time',
  uuid: 'UUIDs',
  json: 'JSON',
  other: 'values of its own',
};

const shownAs = ({ kind }: Datatype): string => {
  switch (kind) {
    case 'integer':
    case 'decimal':
    case 'float':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'date':
    case 'timestamp':
    case 'instant':
      return 'date';
    default:
      return 'text';
  }
};

const groupsOf = (kind: DatatypeKind): string => {
  const { hasGrains, hasBuckets } = abilitiesOf[kind];
  return `values${hasGrains ? ', periods' : ''}${hasBuckets ? ', buckets' : ''}`;
};

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const abilitiesText = (datatype: Datatype, kind: DatatypeKind): string => {
  const { aggregates, filter } = abilitiesOf[kind];
  const all = aggregates.length === everyAggregate.length ? 'all' : aggregates.join(', ');
  return [holds[datatype.kind], groupsOf(kind), filter ?? 'none', all, shownAs(datatype)].join(' | ');
};

const nameText = (name: string): string => (name === '[]' ? 'arrays' : `\`${name}\``);

/** One row for all types that can do the same. */
const rowsOf = (database: Protocol): readonly string[] => {
  const named = new Map<string, readonly string[]>();
  for (const [names, datatype] of datatypeRows[database]) {
    const key = abilitiesText(datatype, sourceKind(database, names.split('|')[0] ?? ''));
    named.set(key, [...(named.get(key) ?? []), ...names.split('|').map(nameText)]);
  }
  return [...named].map(([abilities, names]) => line([names.join(', '), abilities]));
};

const intro = `# Types of columns

What can be done with a column follows from its type. A metric that needs more is refused when it is
written, and a filter offers only what its column can be compared with. Every column can be counted
and sorted by, and a download has what the chart shows.

Values that have no form of their own (times, intervals, JSON, arrays, bytes) are grouped and
filtered by their text. Their least and greatest value is the database's own, where it has one. A
type that is not listed here is shown as the database writes it, and can be counted; it cannot be
filtered by. A custom column has the type that its expression has.

Numbers with more digits than JSON keeps are sent as text, and then all numbers of that column in
that answer are.
`;

const notes: Readonly<Record<Protocol, string>> = {
  DUCKDB: 'A `timestamp_ns` is read to the microsecond.',
  POSTGRES: `A domain has the type of its base. A column that the user may not read is not in the catalogue.`,
  MYSQL: `A \`tinyint(1)\` holds numbers, unless the datamart says \`isBoolean: true\` of it; datamarts of earlier
releases keep their booleans. A date whose month or day is zero is no date, so it is NULL.`,
  CLICKHOUSE: `\`Nullable\`, \`LowCardinality\` and \`SimpleAggregateFunction\` have the type that they wrap.`,
  SQLITE: `A column is read as its declared type says, and a value of another type in it is NULL.
\`DECIMAL(p,s)\` of up to 15 digits is exact; longer ones are floats, since SQLite has no decimals.
A time is text (ISO 8601, in UTC or with an offset), seconds or milliseconds since 1970, or a
Julian day, and is read to the millisecond. A number of 100,000,000,000 or more is milliseconds.`,
};

export const renderTypesPage = (): string => {
  const sections = (Object.keys(titles) as Protocol[]).map((database) =>
    [
      `## ${titles[database]}`,
      '',
      line(['types', 'hold', 'group by', 'filter', 'aggregates offered', 'shown as']),
      `|${'---|'.repeat(6)}`,
      ...rowsOf(database),
      '',
      notes[database],
      '',
    ].join('\n'),
  );
  return `${intro}\n${sections.join('\n')}`;
};
