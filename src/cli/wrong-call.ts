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
