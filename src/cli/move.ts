/** `guestlist move`: moves the metadata between the data folder and PostgreSQL. */

import { Command, Option } from '@commander-js/extra-typings';
import type { Moved } from '../compose/move/move.js';
import { moveConfigured } from '../main.js';
import { counted } from '../model/texts/counted.js';
import { isFolderName } from '../platform/databases/move/places.js';
import { WrongCall } from './kit/exit.js';
import { tableText, withProgress } from './kit/terminal.js';

const sum = ({ tables }: Moved): number => tables.reduce((total, { rows }) => total + rows, 0);

const next = ({ to }: Moved): string =>
  isFolderName(to)
    ? `Start Guestlist without DATABASE_URL, and with GUESTLIST_DATA_DIR=${to}.`
    : 'Start every Guestlist with DATABASE_URL set to the target, and with the same GUESTLIST_ENCRYPTION_KEY: if it is not set, it is encryptionKey in credentials.json of the data folder. Uploaded files stay in the folder sources of the data folder, so keep it.';

const report = (moved: Moved): string => {
  const { from, to, outcome, tables, sequences, audit, durationInMs } = moved;
  if (outcome === 'before') return `The metadata of ${from} is in ${to} already: the move has ended.\n${next(moved)}`;
  const rows = sum(moved);
  const table = tableText(
    ['table', 'rows'],
    tables.map(({ name, rows: count }) => [name, String(count)]),
  );
  const what = `${counted(rows, 'row')} of ${counted(tables.length, 'table')}, and ${counted(sequences, 'sequence')}`;
  if (outcome === 'dry') return `${table}\n\nWould copy ${what}, from ${from} to ${to}. Nothing was written.`;
  const seconds = durationInMs / 1_000;
  return [
    `${table}\n`,
    `Copied and compared ${what}, from ${from} to ${to}, in ${seconds.toFixed(1)} s: ${Math.round(rows / seconds)} rows per second.`,
    ...(audit === null ? [] : [`The audit was verified. Its head is ${audit.seq}:${audit.hash}.`]),
    `${from} is kept as it was, takes no writes and cannot be started on any more.`,
    next(moved),
  ].join('\n');
};

export const moveCommand = new Command()
  .description(
    `Copies all metadata (tenants, dashboards, keys, tokens, the audit and everything else) into an empty PostgreSQL database
or data folder, compares every row, verifies the audit, and marks the source as moved. Stop every Guestlist on both first. One
of --from and --to may be left out: it is then what the configuration names, DATABASE_URL or the data folder. A password in
DATABASE_URL is not visible to other users of the machine, one in an argument is.

If it is cut off or fails, the source stays as it was, and no process starts on the target. Run it again then.`,
  )
  .option('--from <place>', 'postgres://... or the data folder that has the metadata')
  .option('--to <place>', 'postgres://... of an empty database, or the data folder, without an embedded database')
  .addOption(new Option('--only <half>', 'move what a gateway alone has in the data folder').choices(['gateway']))
  .option('--dry-run', 'check both, and say what would be copied')
  .action(async ({ from, to, only, dryRun = false }) => {
    if (from === undefined && to === undefined) throw new WrongCall('name the other place with --from or --to.');
    const ends = { from, to, service: only !== 'gateway' };
    const moved = await withProgress((say) => moveConfigured(ends, { isDry: dryRun, say }));
    console.log(report(moved));
  });
