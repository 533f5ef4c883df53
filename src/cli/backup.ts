/** `guestlist backup` and `guestlist restore`: the whole installation in one sealed file, and back. */

import { Command, Option } from '@commander-js/extra-typings';
import type { BackedUp } from '../compose/move/backup.js';
import type { Restored } from '../compose/move/restore.js';
import { backUpConfigured, restoreConfigured } from '../main.js';
import { counted } from '../model/texts/counted.js';
import { tableText, withProgress } from './kit/terminal.js';

const megabyte = 1_000_000;

const ratesOf = (rows: number, bytes: number | undefined, durationInMs: number): string => {
  const seconds = durationInMs / 1_000;
  const size = bytes === undefined ? [] : [`${(bytes / megabyte / seconds).toFixed(1)} MB per second`];
  return [`in ${seconds.toFixed(1)} s`, `${Math.round(rows / seconds)} rows per second`, ...size].join(', ');
};

const rowsTable = (tables: readonly { readonly name: string; readonly rows: number }[]): string =>
  tableText(
    ['table', 'rows'],
    tables.map(({ name, rows }) => [name, String(rows)]),
  );

const backupReport = (done: BackedUp, to: string): string => {
  const { from, at, rows, tables, files, bytes, others, isChecked, durationInMs } = done;
  return [
    `Backed up ${from} as of ${at}: ${counted(rows, 'row')} of ${counted(tables, 'table')} and ${counted(files, 'file')}, ${(bytes / megabyte).toFixed(1)} MB, ${ratesOf(rows, bytes, durationInMs)}.`,
    isChecked
      ? `${to} was read again and is whole. guestlist restore --dry-run ${to} checks a copy of it.`
      : 'What was written could not be read again: guestlist restore --dry-run FILE checks it.',
    ...(others.length === 0
      ? []
      : [
          `Not in it, because they were not uploaded: files that datasources read. Back them up too:\n${others.map((path) => `  ${path}`).join('\n')}`,
        ]),
  ].join('\n');
};

const restoreReport = (done: Restored): string => {
  const { to, at, madeBy, isDry, tables, rows, files, audit, warnings, durationInMs } = done;
  const what = `${counted(rows, 'row')} of ${counted(tables.length, 'table')} and ${counted(files, 'file')}`;
  if (isDry)
    return `${rowsTable(tables)}\n\nThe backup of ${at}, made by Guestlist ${madeBy}, is whole: ${what}. It can be restored into ${to}. Nothing was written.`;
  return [
    `${rowsTable(tables)}\n`,
    `Restored and compared ${what} into ${to}, as of ${at}, ${ratesOf(rows, undefined, durationInMs)}.`,
    ...(audit === null ? [] : [`The audit was verified. Its head is ${audit.seq}:${audit.hash}.`]),
    ...warnings.map((warning) => `Before the start: ${warning}`),
    `Revocations, erasures and suspensions after ${at} are not in it: repeat them. If Redis is used, empty it before the start.`,
  ].join('\n');
};

export const keyFileOption = () =>
  new Option(
    '--key-file <file>',
    'file with 32 bytes in base64, as by openssl rand -base64 32; without it, GUESTLIST_BACKUP_KEY',
  );

export const backupCommand = new Command()
  .description(
    `Writes all metadata (tenants, dashboards, keys, tokens, the audit and everything else), the uploaded files and the
credentials of the data folder into one file, as of one moment, while Guestlist runs. The file is sealed with AES-256-GCM and
read again at the end. Works where the data folder is. Configuration and policies are files of yours: back them up too.

If it fails, no file is left. An existing file is never replaced.`,
  )
  .requiredOption('--to <file>', 'path of the new file; - writes to the standard output')
  .addOption(keyFileOption())
  .addOption(new Option('--only <half>', 'back up what a gateway alone has in the data folder').choices(['gateway']))
  .action(async ({ to, only, keyFile: file }) => {
    const target = to === '-' ? process.stdout : to;
    const done = await withProgress((say) =>
      backUpConfigured({ keyFile: file }, { to: target, service: only !== 'gateway', say }),
    );
    // The standard output may be the file.
    if (to === '-') console.error(backupReport(done, to));
    else console.log(backupReport(done, to));
  });

export const restoreCommand = new Command()
  .description(
    `Restores a backup into the installation of this configuration, which must hold nothing: an empty database at
DATABASE_URL, or a data folder without one. Either takes the backup of the other. Compares every table by number and hash,
migrates what an older version made, and verifies the audit. A file is checked as a whole before anything is written.

If it fails, nothing is left. If it is killed, no process starts on the target; run it again then.`,
  )
  .argument('<file>', 'the backup; - reads the standard input')
  .addOption(keyFileOption())
  .option('--dry-run', 'check the whole file and the target, and write nothing')
  .action(async (file, { keyFile: key, dryRun = false }) => {
    const from = file === '-' ? (process.stdin as AsyncIterable<Buffer>) : file;
    const done = await withProgress((say) => restoreConfigured({ keyFile: key }, { from, isDry: dryRun, say }));
    console.log(restoreReport(done));
  });
