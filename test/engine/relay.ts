/** A TCP proxy to a server that a test can cut, to simulate a restart or a failover, and whose answers it can damage. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** What is sent in place of a chunk of the server's answer; `after` is then repeated until the client hangs up. */
export type Altered = { readonly bytes: Buffer; readonly isCut?: boolean; readonly after?: Buffer };
/** `index` counts the chunks of one connection. */
export type Alter = (bytes: Buffer, index: number) => Altered;

export type Relay = {
  readonly host: string;
  readonly port: number;
  /** Ends all connections at once. New connections are still accepted. */
  readonly cut: () => void;
  /** Ends all connections and refuses new ones. */
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** Stops forwarding without closing anything, as if the server were frozen. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Changes what the server answers from now on; null: nothing. */
  readonly alter: (alter: Alter | null) => void;
  /** Bytes that were sent as `after` on the connection that took most of them. */
  readonly repeatedBytes: () => number;
  readonly connections: () => number;
};

export const startRelay = async (target: { readonly host: string; readonly port: number }): Promise<Relay> => {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let altering: Alter | null = null;
  let repeatedBytes = 0;
  const repeat = (to: Socket, bytes: Buffer): void => {
    let sent = 0;
    const go = (): void => {
      while (!to.destroyed && to.writableLength < 4 * bytes.length) {
        to.write(bytes);
        sent += bytes.length;
        repeatedBytes = Math.max(repeatedBytes, sent);
      }
    };
    to.on('drain', go);
    go();
  };
  const send = (to: Socket, { bytes, isCut = false, after }: Altered): void => {
    to.write(bytes);
    if (isCut) to.destroySoon();
    if (after !== undefined) repeat(to, after);
  };
  const carryAnswers = (from: Socket, to: Socket): void => {
    let index = 0;
    let isRepeating = false;
    carry(from, to, (bytes) => {
      if (isRepeating) return;
      const altered = altering?.(bytes, index) ?? { bytes };
      index += 1;
      isRepeating = altered.after !== undefined;
      send(to, altered);
    });
  };
  const carry = (from: Socket, to: Socket, pass = (bytes: Buffer): void => void to.write(bytes)): void => {
    sockets.add(from);
    from.on('data', pass);
    if (isFrozen) from.pause();
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    // The test itself causes these errors.
    from.on('error', () => from.destroy());
  };
  let server: Server;
  let port = 0;
  const open = async (): Promise<void> => {
    server = createServer((socket) => {
      const onward = createConnection(target);
      carry(socket, onward);
      carryAnswers(onward, socket);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    port = address.port;
  };
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  await open();
  return {
    host: '127.0.0.1',
    get port() {
      return port;
    },
    cut,
    open,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    alter: (alter) => {
      altering = alter;
      repeatedBytes = 0;
    },
    repeatedBytes: () => repeatedBytes,
    connections: () => sockets.size / 2,
  };
};
