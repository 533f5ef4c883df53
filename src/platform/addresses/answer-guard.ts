/**
 * Keeps a malformed answer of a server inside its own connection. A driver reads answers in the event handlers of its
 * socket. An exception there would end the process, and an endless message would fill its memory.
 */
import type { Duplex } from 'node:stream';

/** The server sent what its protocol does not allow. The connection was closed; another one may work. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
  readonly code = malformedCode;
}

export const malformedCode = 'MALFORMED_ANSWER';

/** Maximum bytes of one message. Drivers buffer a message until it is complete. */
const greatestMessageBytes = 67_108_864;

export type GuardedReads = {
  /** Closes the connection. The driver must then fail its running queries with the error. */
  readonly destroy: (cause: MalformedAnswer) => void;
  /** Changes whenever the driver has read a complete message. */
  readonly progressOf: () => unknown;
  readonly maxBytes?: number;
};

/**
 * Returns a function that lets the driver parse a chunk. If the parser throws, or reads more than `maxBytes` without
 * completing a message, the connection is destroyed and no later chunk is parsed.
 */
export const guardReads = ({ destroy, progressOf, maxBytes = greatestMessageBytes }: GuardedReads) => {
  let isBroken = false;
  let unfinishedBytes = 0;
  // A driver may read what a chunk completes only after this call, so progress is compared from chunk to chunk.
  let known = progressOf();
  const fail = (message: string, cause?: unknown): void => {
    isBroken = true;
    destroy(new MalformedAnswer(message, { cause }));
  };
  return (chunk: Uint8Array, parse: () => void): void => {
    if (isBroken) return;
    try {
      parse();
    } catch (cause) {
      fail('the answer does not follow the protocol', cause);
      return;
    }
    const now = progressOf();
    unfinishedBytes = now === known ? unfinishedBytes + chunk.byteLength : 0;
    known = now;
    if (unfinishedBytes > maxBytes) fail(`a message of the answer is longer than ${maxBytes} bytes`);
  };
};

/** Guards all listeners of the event `data` of a socket, those that the driver adds later included. */
export const guardSocket = (socket: Duplex, progressOf: () => unknown): void => {
  const emit = socket.emit.bind(socket);
  const read = guardReads({ destroy: (cause) => socket.destroy(cause), progressOf });
  socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...args);
    read(args[0] as Uint8Array, () => void emit(event, ...args));
    return true;
  };
};
