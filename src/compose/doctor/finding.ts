/** What the doctor says of one thing: how it is, and how it is mended. */

/** `fault`: something does not work, or a wall is open. `warning`: look at it. `note`: it was not looked at. */
export const levels = ['good', 'note', 'warning', 'fault'] as const;
export type Level = (typeof levels)[number];

export type Finding = {
  readonly area: string;
  readonly level: Level;
  /** Words without any name, address or value of this installation: they go into the file for support. */
  readonly text: string;
  /** What it is about: names, addresses, and the words of servers. Never in the file for support. */
  readonly subject?: string;
  readonly mend?: string;
};

export const good = (area: string, text: string, subject?: string): Finding => ({
  ...{ area, level: 'good', text },
  ...(subject === undefined ? {} : { subject }),
});

export const finding = (
  level: Exclude<Level, 'good'>,
  area: string,
  text: string,
  { mend, subject }: Pick<Finding, 'mend' | 'subject'> = {},
): Finding => ({
  ...{ area, level, text },
  ...(subject === undefined ? {} : { subject }),
  ...(mend === undefined ? {} : { mend }),
});

/** The message of an error and of its causes. */
export const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${wordsOf(error.cause)})`;
};

/** Runs a check. An error of it is a finding, so that the others go on. */
export const examined = async (
  area: string,
  mend: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return await check();
  } catch (error) {
    return [finding('fault', area, 'could not be looked at', { mend, subject: wordsOf(error) })];
  }
};
