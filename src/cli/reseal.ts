/** `guestlist keys reseal`: seals stored secrets with the first encryption key. */
import { resealConfigured } from '../main.js';
import { parseOptions } from './kit/options.js';
import { WrongCall } from './wrong-call.js';

const usage = `guestlist keys reseal

Seals every stored secret (credentials of datasources, recipients of reports, states of alerts, sessions of users) with the
first key of GUESTLIST_ENCRYPTION_KEY, which holds several while one replaces another. Works on the metadata database of
this configuration while replicas run; an embedded database must be stopped. Run it again if it was cut off.

Ends with 0 if everything is sealed with the first key; with 1 if a value opens with none of the keys.`;

const most = 20;

/** Runs it, and returns the exit code. Throws WrongCall. */
export const runReseal = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  if (positionals.length > 0) throw new WrongCall(`there is too much: ${positionals.join(' ')}\n\n${usage}`);
  const { resealed, unreadable } = await resealConfigured();
  console.log(`Sealed anew with the first key: ${resealed}.`);
  if (unreadable.length === 0) {
    console.log('Every stored secret has the first key. The other keys can be removed from GUESTLIST_ENCRYPTION_KEY.');
    return 0;
  }
  for (const one of unreadable.slice(0, most)) console.error(`  ${one}`);
  console.error(
    `Not opened by any of the keys: ${unreadable.length}. Add the key that they were sealed with to GUESTLIST_ENCRYPTION_KEY and run this again, or enter them again. Keep all keys until then.`,
  );
  return 1;
};
