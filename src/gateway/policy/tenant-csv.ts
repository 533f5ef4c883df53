/**
 * Reads a table of tenants: CSV (RFC 4180) in UTF-8. The first row is `key,tenant`, with one more `tenant` for each further tenant
 * that a key may have; unused fields stay empty. A field holds no line break, so each row is one line. The file is read in pieces,
 * so that a table of a million rows does not block other requests.
 */
import { type PolicyFault, PolicyFaults } from './source.js';
import { isTenantId, tenantIdShape } from './tenant-id.js';

/** The tenants of every key. A look-up costs the same for any number of rows. */
export type TenantTable = {
  readonly size: number;
  /** Returns undefined if no row has this key. */
  readonly find: (key: string) => readonly string[] | undefined;
};

/** Nearly every row has one tenant, which is stored without a list to save memory. */
type Rows = Map<string, string | readonly string[]>;

const maxRows = 10_000_000;
const maxLineLength = 65_536;
const maxFaults = 100;

const quotedField = /(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/gy;

/** Returns the fields of a line. Undefined if its quotes do not match. */
const fieldsOf = (line: string): readonly string[] | undefined => {
  if (!line.includes('"')) {
    const fields = line.split(',');
    return fields.every((field) => field === field.trim()) ? fields : undefined;
  }
  const fields: string[] = [];
  let end = 0;
  for (const match of line.matchAll(quotedField)) {
    const [whole, quoted, plain = ''] = match;
    if (quoted === undefined && plain !== plain.trim()) return undefined;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    end = match.index + whole.length;
  }
  return end === line.length ? fields : undefined;
};

const malformed = 'is no row of CSV: a field with a quote, a comma, or a space at its edge stands in "quotes"';
const badHeader = 'the first row must be key,tenant (one more ",tenant" for each further tenant that a key may have)';

const isHeader = (fields: readonly string[] | undefined): boolean =>
  fields !== undefined && fields.length >= 2 && fields.every((name, at) => name === (at === 0 ? 'key' : 'tenant'));

/** Returns the tenants of a row, or its fault as text. */
const readRow = (fields: readonly string[], columns: number): readonly string[] | string => {
  if (fields.length !== columns) return `has ${fields.length} fields where the first row has ${columns}`;
  if (!isTenantId(fields[0])) return `has no usable key: it must be ${tenantIdShape}`;
  const given = fields.slice(1);
  const tenants = given.slice(0, given.findLastIndex((tenant) => tenant !== '') + 1);
  if (tenants.length === 0) return 'has no tenant: take the row out, or give its tenant';
  if (!tenants.every(isTenantId)) return `has a tenant that is no usable id: it must be ${tenantIdShape}`;
  return new Set(tenants).size === tenants.length ? tenants : 'has one tenant twice';
};

const createFaultList = (file: string) => {
  const listed: PolicyFault[] = [];
  let count = 0;
  return {
    add: (line: number, message: string) => {
      count += 1;
      if (count <= maxFaults) listed.push({ at: `${file}:${line}:1`, message });
    },
    assertNone: () => {
      const more = count - listed.length;
      const rest = more > 0 ? [{ at: `${file}:1:1`, message: `${more} more faults are not listed` }] : [];
      if (count > 0) throw new PolicyFaults([...listed, ...rest]);
    },
  };
};

/** Returns a function that adds one line to the rows, and returns the line's fault or null. */
const createRowReader = (rows: Rows) => {
  let columns: number | null = null;
  return (line: string): string | null => {
    const fields = fieldsOf(line);
    if (columns === null) {
      columns = fields?.length ?? 0;
      return isHeader(fields) ? null : badHeader;
    }
    if (fields === undefined) return malformed;
    const tenants = readRow(fields, columns);
    if (typeof tenants === 'string') return tenants;
    const [key = ''] = fields;
    if (rows.has(key)) return 'has the key of a row above: give a key one row, with all its tenants';
    if (rows.size >= maxRows) return `is beyond the ${maxRows} rows that a table may have`;
    const [only] = tenants;
    rows.set(key, tenants.length === 1 && only !== undefined ? only : tenants);
    return null;
  };
};

const tableOf = (rows: Rows): TenantTable => ({
  size: rows.size,
  find: (key) => {
    const found = rows.get(key);
    return typeof found === 'string' ? [found] : found;
  },
});

export type TableReader = {
  readonly push: (bytes: Uint8Array) => void;
  /** Returns the table. Throws PolicyFaults with every fault of the file, by line. */
  readonly end: () => TenantTable;
};

/** Creates the reader of one table. `file` is its name in faults. */
export const createTableReader = (file: string): TableReader => {
  const rows: Rows = new Map();
  const faults = createFaultList(file);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let rest = '';
  let isBroken = false;
  const read = createRowReader(rows);
  const stop = (message: string): void => {
    isBroken = true;
    faults.add(line + 1, message);
  };
  const readLines = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const one of lines) {
      line += 1;
      const fault = read(one.endsWith('\r') ? one.slice(0, -1) : one);
      if (fault !== null) faults.add(line, fault);
    }
    if (rest.length > maxLineLength) stop(`the row is longer than ${maxLineLength} characters`);
  };
  const decode = (bytes?: Uint8Array): void => {
    if (isBroken) return;
    try {
      readLines(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      stop('is not UTF-8');
    }
  };
  return {
    push: decode,
    end: () => {
      decode();
      // The last row can be incomplete while the file is being written, and then name another tenant, such as `acme`
      // instead of `acme-north`.
      if (!isBroken && rest !== '')
        stop('the last row must end with a line feed, so that half a file is never taken for a whole');
      if (!isBroken && line === 0) stop(badHeader);
      faults.assertNone();
      return tableOf(rows);
    },
  };
};
