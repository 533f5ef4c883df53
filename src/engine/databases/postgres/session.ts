/** The settings of a read-only transaction. */
import type { Statement } from '../../dialect/dialect.js';

/** What the settings of one transaction hold. */
export type Session = { readonly timeoutMs: number; readonly clientId: string };

/** The statements after BEGIN. They are sent without waiting for the answer of one before the next. */
export type Settings = (session: Session) => readonly Statement[];

/**
 * Settings of the transaction alone, so neither a role's nor another question's settings apply, also behind a
 * transaction pooler. guestlist.client_id is for the row-level security policies of the customer's database: the
 * second wall. pg_catalog is first on the search path, whatever the role says: a function or operator of the
 * database's own named `sum` or `=` would see all clients' rows. These statements qualify every name for the same
 * reason.
 */
const settings = `SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('guestlist.client_id', $2, true),
  pg_catalog.set_config('timezone', 'UTC', true), pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', (
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ') FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS name)), true),
  pg_catalog.set_config('datestyle', 'ISO, YMD', true), pg_catalog.set_config('extra_float_digits', '1', true),
  pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('bytea_output', 'hex', true),
  pg_catalog.set_config('intervalstyle', 'postgres', true), pg_catalog.set_config('transform_null_equals', 'off', true)`;

export const postgresSettings: Settings = ({ timeoutMs, clientId }) => [
  { sql: settings, parameters: [String(timeoutMs), clientId] },
];

type Setting = readonly [name: string, value: string];

/** The settings of `settings`, for databases whose statements qualify every table: custom SQL is refused there. */
const plain = ({ timeoutMs, clientId }: Session): readonly Setting[] => [
  ['statement_timeout', String(timeoutMs)],
  ['guestlist.client_id', clientId],
  ['timezone', 'UTC'],
  ['search_path', 'pg_catalog'],
  ['datestyle', 'ISO, YMD'],
];

/** `E'...'` is read alike whatever `standard_conforming_strings` is. The text holds no NUL. */
const quoted = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/**
 * Citus gives a worker only settings of SET LOCAL, and only where it is told to. SET takes no parameters, so the values are
 * quoted. Without this, a policy of row-level security on a worker would read no client, and dates another timezone.
 */
export const citusSettings: Settings = (session) => {
  const all: readonly Setting[] = [
    ['citus.propagate_set_commands', 'local'],
    ...plain(session),
    ['extra_float_digits', '1'],
    ['standard_conforming_strings', 'on'],
    ['bytea_output', 'hex'],
    ['intervalstyle', 'postgres'],
    ['transform_null_equals', 'off'],
  ];
  return all.map(([name, value]) => ({ sql: `SET LOCAL ${name} TO ${quoted(value)}`, parameters: [] }));
};

/** The settings by calls of set_config, which takes parameters. */
const bySetConfig =
  (own: readonly Setting[]): Settings =>
  (session) => {
    const all = [...plain(session), ...own];
    const calls = all.map((_, index) => `pg_catalog.set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
    return [{ sql: `SELECT ${calls.join(', ')}`, parameters: all.flat() }];
  };

export const cockroachSettings = bySetConfig([
  ['extra_float_digits', '1'],
  ['bytea_output', 'hex'],
  ['intervalstyle', 'postgres'],
]);

/** Its greatest number of digits: Redshift has no shortest exact form of a float. */
export const redshiftSettings = bySetConfig([['extra_float_digits', '2']]);
