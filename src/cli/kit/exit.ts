/** How commands end that do not succeed. */

/** A command that was called wrongly. The message is for the terminal, and the exit code is 2. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** A command that failed or found a fault, and has printed it. Nothing more is printed. */
export class Exit extends Error {
  override readonly name = 'Exit';
  constructor(readonly code: number = 1) {
    super(`exit code ${code}`);
  }
}
