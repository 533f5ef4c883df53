/** A TCP proxy to a server that a test can cut, to simulate a restart or a failover. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';

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
  readonly connections: () => number;
};

export const startRelay = async (target: { readonly host: string; readonly port: number }): Promise<Relay> => {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
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
      carry(onward, socket);
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
    connections: () => sockets.size / 2,
  };
};
