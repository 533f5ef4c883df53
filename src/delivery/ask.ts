/** Posts to an operation of the service with a guest token, as the guest's browser would, and returns the answer. */
export type Ask = (
  path: string,
  body: object,
  token: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: unknown }>;
