/** `guestlist export-tenant` and `guestlist import-tenant`: what one tenant has, in one sealed file. */
import { Command } from '@commander-js/extra-typings';
import type { ExportedTenant } from '../compose/move/export-tenant.js';
import type { ImportedTenant } from '../compose/move/import-tenant.js';
import { exportTenantConfigured, importTenantConfigured } from '../main.js';
import { keyFileOption } from './backup.js';
import { printable, tableText, withProgress } from './kit/terminal.js';

type Rows = readonly { readonly name: string; readonly rows: number }[];

const rowsTable = (tables: Rows): string =>
  tableText(
    ['table', 'rows'],
    tables.flatMap(({ name, rows }) => (rows === 0 ? [] : [[name, String(rows)]])),
  );

const sum = (tables: Rows): number => tables.reduce((total, { rows }) => total + rows, 0);

const exportReport = ({ from, at, tables, needs, bytes }: ExportedTenant, to: string): string => {
  const names = needs.map(({ kind, name, of }) => `  ${kind} ${name}${of === null ? '' : ` of the workspace ${of}`}`);
  return [
    `${rowsTable(tables)}\n`,
    `Exported ${sum(tables)} rows of ${from} as of ${at}, ${(bytes / 1_000).toFixed(1)} kB. ${to} was read again and is whole.`,
    printable(`An installation that imports it must have:\n${names.join('\n')}`),
    'Not in it: tokens, sessions, the audit, deliveries, and the rows in databases of customers. The audit says that it was exported.',
  ].join('\n');
};

const importReport = (imported: ImportedTenant): string => {
  const { to, at, madeBy, isDry, clientId, state, tables, newIds, renamed, unknownReports: unknown } = imported;
  const ids = newIds === 0 ? [] : [`${newIds} of them get new ids, because theirs are taken here.`];
  const names = renamed.map(([before, after]) => `  ${before} -> ${after}`);
  return [
    `${rowsTable(tables)}\n`,
    `${isDry ? 'Would import' : 'Imported'} ${sum(tables)} rows of ${at}, exported by Guestlist ${madeBy}, as the tenant ${JSON.stringify(clientId)} into ${to}. The tenant is ${state}.`,
    ...ids,
    ...(names.length === 0 ? [] : [`Names that hold the tenant's id:\n${names.join('\n')}`]),
    ...(unknown === 0
      ? []
      : [
          `Users of the tenant had ended ${unknown} of the host's reports that are not here: make them before they are sent, and end them for these users.`,
        ]),
    isDry
      ? 'Nothing was written.'
      : 'Its users log in anew. Addresses without an account confirm again before a report goes to them.',
  ]
    .map(printable)
    .join('\n');
};

export const exportTenantCommand = new Command()
  .description(
    `Writes what one tenant has into a new file, sealed with AES-256-GCM: its dashboards, metrics and embeds, what its users
made, arranged, saved and scheduled, and its use. Templates, workspaces and data apps are in it by name alone. No token, no
session and nothing of another tenant is in it. The audit says who was exported.

Works on the metadata database while Guestlist runs on PostgreSQL; an embedded database must be stopped. If it fails, no
file is left.`,
  )
  .argument('<clientId>', 'the id of the tenant')
  .requiredOption('--to <file>', 'path of the new file')
  .addOption(keyFileOption())
  .action(async (clientId, { to, keyFile }) => {
    const done = await withProgress((say) => exportTenantConfigured({ keyFile }, { clientId, to, say }));
    console.log(exportReport(done, to));
  });

export const importTenantCommand = new Command()
  .description(
    `Imports the file of a tenant, all of it or nothing. What its rows name of the organization must be here under the same
names: what is missing is listed. The tenant must have no rows here. A tenant that is suspended in the file or here is
suspended. The audit says that it was imported.

Works on the metadata database while Guestlist runs on PostgreSQL; an embedded database must be stopped.`,
  )
  .argument('<file>', 'the file of a tenant')
  .option('--as <clientId>', 'the id that the tenant has here; without it, that of the file')
  .addOption(keyFileOption())
  .option('--dry-run', 'say what would be written, and write nothing')
  .action(async (from, { as, keyFile, dryRun = false }) => {
    const done = await withProgress((say) => importTenantConfigured({ keyFile }, { from, as, isDry: dryRun, say }));
    console.log(importReport(done));
  });
