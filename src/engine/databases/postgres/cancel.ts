import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ServerConnection } from '../../../domain/organization.js';

/** What the server told of a connection when it began: who knows it may cancel what runs there. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

/** The protocol's numbers in the place of its version. */
const sslRequest = 80_877_103;
const cancelRequest = 80_877_102;

const message = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 + 4 * numbers.length);
  [bytes.length, ...numbers].forEach((number, index) => {
    bytes.writeInt32BE(number, 4 * index);
  });
  return bytes;
};

const once = (socket: Socket, event: 'connect' | 'secureConnect' | 'data' | 'close'): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('the server does not take the request to cancel')));
  });

/**
 * Has the server stop what runs on that connection, by the protocol's own request: unlike `pg_cancel_backend` it needs no login, and finds
 * its way through a pooler. Resolves when the server has taken it.
 */
export const cancelBackend = async (
  { host, port, isSsl }: ServerConnection,
  { processID, secretKey }: BackendKey,
  timeoutMs: number,
): Promise<void> => {
  const plain = createConnection({ host, port }).setTimeout(timeoutMs);
  try {
    await once(plain, 'connect');
    const socket = isSsl ? await encrypted(plain, host) : plain;
    const closed = once(socket, 'close');
    socket.resume().write(message(cancelRequest, processID, secretKey));
    // It says nothing, and hangs up when it is done.
    await closed;
  } finally {
    plain.destroy();
  }
};

const encrypted = async (plain: Socket, host: string): Promise<Socket> => {
  const answer = once(plain, 'data');
  plain.write(message(sslRequest));
  if (String(await answer) !== 'S') throw new Error('the server has no encryption for the request to cancel');
  const socket = connectTls({ socket: plain, host, rejectUnauthorized: true });
  await once(socket, 'secureConnect');
  return socket;
};
