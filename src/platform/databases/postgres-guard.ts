import type { Duplex } from 'node:stream';
import type { Client } from 'pg';
import { guardSocket, MalformedAnswer } from '../addresses/answer-guard.js';

/** The driver's connection, whose types name only a part of it. */
type Wire = {
  stream: Duplex;
  readonly on: (event: 'message' | 'sslconnect', listener: () => void) => unknown;
  readonly prependListener: (
    event: 'errorMessage',
    listener: (message: { readonly code?: unknown }) => void,
  ) => unknown;
};

const isSqlState = (code: unknown): boolean => typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);

/** Guards a client that is not connected yet: a malformed answer ends its connection, and fails its queries. */
export const guardPostgres = <Guarded extends Client>(client: Guarded): Guarded => {
  const wire = client.connection as unknown as Wire;
  let messages = 0;
  const guard = (): void => guardSocket(wire.stream, () => messages);
  wire.on('message', () => {
    messages += 1;
  });
  // The driver reports a message of an unknown type as an error without a code, and reads on.
  wire.prependListener('errorMessage', ({ code }) => {
    if (!isSqlState(code)) throw new MalformedAnswer('the server reported an error without a code');
  });
  guard();
  // With TLS, another stream takes the place of the socket.
  wire.on('sslconnect', guard);
  return client;
};
