import { readExpression } from './operators.js';
import { startsQuery } from './primaries.js';
import { readAlias, readNames, readQuery } from './queries.js';
import { type Reader, readPath } from './reader.js';
import type { Joined, Source } from './tree.js';

/** Every name is looked up among them: many would take long, and no server joins them. */
const greatestCount = 60;

/** FROM: tables, CTEs and SELECTs in parentheses, joined from left to right. */
export const readSources = (reader: Reader): readonly Joined[] => {
  const sources: Joined[] = [{ join: '', source: readSource(reader), on: null, using: [] }];
  for (let join = takeJoin(reader); join !== null; join = takeJoin(reader)) {
    const source = readSource(reader);
    const isFree = join === ',' || join === 'CROSS JOIN';
    sources.push({ join, source, ...(isFree ? { on: null, using: [] } : readMatch(reader)) });
  }
  if (sources.length > greatestCount) reader.refuse(`more than ${greatestCount} tables in one FROM`, 'sql-too-long');
  return sources;
};

const takeJoin = (reader: Reader): string | null => {
  if (reader.takeSymbol(',')) return ',';
  if (reader.takeWords('CROSS JOIN')) return 'CROSS JOIN';
  if (reader.takeWords('JOIN') || reader.takeWords('INNER JOIN')) return 'INNER JOIN';
  const side = ['LEFT', 'RIGHT', 'FULL'].find((word) => reader.isWords(word));
  if (side === undefined) return null;
  if (!reader.grammar.joins.has(`${side} JOIN`)) reader.refuse(`${side} JOIN, which this database lacks,`);
  reader.next();
  reader.takeWords('OUTER');
  reader.expectWords('JOIN');
  return `${side} JOIN`;
};

const readMatch = (reader: Reader): Pick<Joined, 'on' | 'using'> => {
  if (reader.takeWords('ON')) return { on: readExpression(reader), using: [] };
  if (!reader.takeWords('USING')) return reader.refuseNext('ON or USING');
  reader.expectSymbol('(');
  return { on: null, using: readNames(reader) };
};

const readSource = (reader: Reader): Source => {
  const { location } = reader.peek();
  if (reader.isSymbol('(')) {
    reader.next();
    if (!startsQuery(reader) && !reader.isSymbol('(')) return reader.refuseNext('SELECT');
    const of = readQuery(reader);
    reader.expectSymbol(')');
    return { of, alias: readAlias(reader), location };
  }
  const path = readPath(reader, 'a table');
  if (path.length > 2) reader.refuse('a table of more than two parts', 'sql-name', location);
  if (reader.isSymbol('(')) reader.refuse('a table function', 'sql-function', location);
  assertOwn(reader, path, location);
  return { of: { kind: 'name', path }, alias: readAlias(reader), location };
};

const assertOwn = (reader: Reader, path: readonly string[], location: number): void => {
  const isSystem = path.length > 1 && reader.grammar.systemSchemas.has((path[0] ?? '').toUpperCase());
  if (isSystem) reader.refuse("a table of the server's own", 'sql-table', location);
};
