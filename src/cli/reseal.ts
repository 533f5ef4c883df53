/** `guestlist keys reseal`: seals stored secrets with the first encryption key. */
import { Command } from '@commander-js/extra-typings';
import { resealConfigured } from '../main.js';
import { Exit } from './kit/exit.js';

const most = 20;

/** Works on the database instead of the running service. */
export const resealCommand = new Command('reseal')
  .summary('seal stored secrets with the first encryption key')
  .description(
    `Seals every stored secret (credentials of datasources, recipients of reports, states of alerts, sessions of users) with
the first key of GUESTLIST_ENCRYPTION_KEY, which holds several while one replaces another. Works on the metadata database of
this configuration while replicas run; an embedded database must be stopped. Run it again if it was cut off. Ends with 1 if
a value opens with none of the keys.`,
  )
  .action(async () => {
    const { resealed, unreadable } = await resealConfigured();
    console.log(`Sealed anew with the first key: ${resealed}.`);
    if (unreadable.length === 0) {
      console.log(
        'Every stored secret has the first key. The other keys can be removed from GUESTLIST_ENCRYPTION_KEY.',
      );
      return;
    }
    for (const one of unreadable.slice(0, most)) console.error(`  ${one}`);
    console.error(
      `Not opened by any of the keys: ${unreadable.length}. Add the key that they were sealed with to GUESTLIST_ENCRYPTION_KEY and run this again, or enter them again. Keep all keys until then.`,
    );
    throw new Exit();
  });
