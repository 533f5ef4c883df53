import { nearestName } from '../domain/nearest-name.js';

/** A command that was called wrongly. The message is for the terminal, and the exit code is 2. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** The whole number that a flag was given. Throws WrongCall. */
export const readCount = (flag: string, text: string): number => {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new WrongCall(`${flag} takes a whole number, not "${text}"`);
};

/** The error for the word after `command`, with the word that was probably meant, or all of them. */
export const unknownSubcommand = (command: string, given: string, known: readonly string[], usage = ''): WrongCall => {
  const near = nearestName(given, known);
  const what = given === '' ? 'name a command' : `there is no command "${command} ${given}"`;
  const hint = near === undefined ? `The commands are ${known.join(', ')}.` : `Did you mean "${command} ${near}"?`;
  return new WrongCall([`${what}. ${hint}`, ...(usage === '' ? [] : [usage])].join('\n\n'));
};
