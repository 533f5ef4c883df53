/**
 * Chinook as a host would declare it: the customers are the tenants, the relationships are its foreign keys, and its
 * lookup tables are shared.
 */
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { chinook } from '../fixtures/chinook.js';
import { columnRef, datamart, relationship, table } from './world.js';

export const lookups = [
  'artists',
  'albums',
  'genres',
  'media_types',
  'tracks',
  'playlists',
  'playlist_track',
  'employees',
];

/** `invoice_lines` has no client column: its rows belong to the customer of their invoice. */
const clientColumns: Readonly<Record<string, string>> = { customers: 'customer_id', invoices: 'customer_id' };

const foreignKeys = [
  ['invoices.customer_id', 'customers.customer_id'],
  ['invoice_lines.invoice_id', 'invoices.invoice_id'],
  ['invoice_lines.track_id', 'tracks.track_id'],
  ['tracks.album_id', 'albums.album_id'],
  ['tracks.genre_id', 'genres.genre_id'],
  ['tracks.media_type_id', 'media_types.media_type_id'],
  ['albums.artist_id', 'artists.artist_id'],
  ['playlist_track.playlist_id', 'playlists.playlist_id'],
  ['playlist_track.track_id', 'tracks.track_id'],
  ['customers.support_rep_id', 'employees.employee_id'],
  ['employees.reports_to', 'employees.employee_id'],
] as const;

/** The price of a line: a custom column. */
const amount = {
  ...{ columnName: 'amount', datatype: '', alias: 'amount', label: '', isHide: false, isApplyTimezone: false },
  ...{ isCustomColumn: true, sql: 'unit_price * quantity' },
};

const tables = chinook.map(({ name, columns }) => table(name, columns, clientColumns[name] ?? null));

export const mart: Datamart = datamart({
  tenancy: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'NUMBER', schemaName: 'main', tableName: 'customers' },
    ...{ tableClientNameColumn: 'last_name', tablePrimaryKeyColumn: 'customer_id' },
  },
  tables: tables.map((one) =>
    one.tableName === 'invoice_lines' ? { ...one, columns: [...one.columns, amount] } : one,
  ),
  relationships: foreignKeys.map(([from, to]) => relationship(from, to)),
  sharedTables: lookups.map((name) => `main.${name}`),
});

export const by = (path: string, rest: object = {}) => ({ name: path, column: columnRef(path), ...rest });
