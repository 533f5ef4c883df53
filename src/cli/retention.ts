/** `guestlist retention`: what is old enough to be deleted. */
import { Command, Option } from '@commander-js/extra-typings';
import { countRetainedConfigured } from '../main.js';
import { jsonOption, printAnswer } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { tableText, withProgress } from './kit/terminal.js';

export const retentionCommand = new Command()
  .description(
    `Says how many rows of each kind are old enough to be deleted, and how many of them holds keep. Deletes nothing: each
process deletes by itself, every hour. Works where the data folder is; an embedded database may be in use.`,
  )
  .option('--dry-run', 'say what would go; needed, because nothing else is done')
  .addOption(new Option('--only <half>', 'look at what a gateway alone has').choices(['gateway']))
  .addOption(jsonOption)
  .action(async ({ dryRun, only, json }) => {
    if (dryRun === undefined)
      throw new WrongCall('add --dry-run. Sweeps run by themselves every hour; no command starts one.');
    const halves = await withProgress((say) => countRetainedConfigured({ service: only !== 'gateway', say }));
    const rows = halves.flatMap(({ kinds }) => kinds.map(({ kind, due, held }) => [kind, String(due), String(held)]));
    const swept = halves.map(({ half, sweptAt }) => `Last sweep of the ${half}: ${sweptAt}.`);
    printAnswer(json, { json: halves, text: [tableText(['KIND', 'WOULD GO', 'HELD'], rows), ...swept].join('\n') });
  });
