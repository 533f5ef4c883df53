/** A way to a server that a test may cut: what goes through it ends as it does in a restart or a failover. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';

export type Relay = {
  readonly host: string;
  readonly port: number;
  /** Ends all connections at once, without a word. New ones are taken. */
  readonly cut: () => void;
  /** Refuses new connections, too. */
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
  readonly connections: () => number;
};

export const startRelay = async (target: { readonly host: string; readonly port: number }): Promise<Relay> => {
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.pipe(to);
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    // What broke is what the test did.
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
    connections: () => sockets.size / 2,
  };
};
