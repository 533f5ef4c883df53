/** `guestlist step-down`: makes the tables startable by the previous release. */

import { Command } from '@commander-js/extra-typings';
import type { SteppedDown } from '../compose/move/step-down.js';
import { stepDownConfigured } from '../main.js';
import { counted } from '../model/texts/counted.js';
import { Exit } from './kit/exit.js';

const mostNames = 20;

const describe = ({ version, unreadable: { datamarts, tokens, holds } }: SteppedDown): string => {
  const rest = datamarts.length - mostNames;
  return [
    `Release ${version} cannot read, and answers nothing from:`,
    ...datamarts.slice(0, mostNames).map((name) => `  datamart ${JSON.stringify(name)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(tokens > 0 ? [`  ${tokens} guest tokens: their users get new ones at their next login`] : []),
    ...(holds > 0 ? [`  ${holds} holds: it deletes what is old enough of held tenants too`] : []),
  ].join('\n');
};

export const stepDownCommand = new Command()
  .description(
    `Makes the tables startable by the release before this one, without a restore: hides the migrations that it does not know.
No row is changed or lost. Works on the metadata database of this configuration while processes run; an embedded database
must be stopped. The audit says so. A start of this release takes the migrations back, without running them again.

Content with restrictions that the older release does not know, such as base filters, is listed. That release cannot read
it, so it shows nobody too much. The command then changes nothing, unless --without-them accepts that it is missing there.`,
  )
  .option('--without-them', 'step down although the older release cannot read some of the content')
  .option('--dry-run', 'say what would be hidden')
  .action(async ({ withoutThem = false, dryRun = false }) => {
    const done = await stepDownConfigured({ withoutThem, isDry: dryRun });
    const { datamarts, tokens, holds } = done.unreadable;
    if (datamarts.length > 0 || tokens > 0 || holds > 0) console.log(describe(done));
    if (done.isDone) {
      console.log(`Release ${done.version} can start now. Hidden: ${counted(done.hidden.length, 'migration')}.`);
      return;
    }
    if (dryRun) {
      console.log(
        `Would hide ${counted(done.hidden.length, 'migration')} from release ${done.version}. Nothing was written.`,
      );
      return;
    }
    console.error('Nothing was written. Run this again with --without-them if that content may be missing.');
    throw new Exit();
  });
