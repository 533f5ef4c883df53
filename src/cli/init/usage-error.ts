/** What the operator asked of `init` cannot be done as asked. The message says what to give instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
