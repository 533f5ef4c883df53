/** Ends the lock. */
export type Release = () => Promise<void>;

/** Another process holds the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
}
