import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';
import { guardSocket } from '../addresses/answer-guard.js';

/** The parts of a client that its types leave out. */
type Wire = {
  readonly stream: Duplex;
  readonly commandQueue: { readonly peekFront: () => unknown };
  readonly connector: { connect: (...args: readonly unknown[]) => Promise<Duplex> };
};

/**
 * The client listens for the first error of a connection alone. Over TLS a second one may follow, such as a reset after a
 * damaged handshake, and an error that nobody listens for ends the process.
 */
const hearAllErrors = ({ connector }: Wire): void => {
  const connect = connector.connect.bind(connector);
  connector.connect = async (...args) => (await connect(...args)).on('error', () => undefined);
};

/** A malformed answer ends the client's connection, and fails its commands. The client then connects again. */
const guard = (redis: Redis): void => {
  const wire = redis as unknown as Wire;
  hearAllErrors(wire);
  let completed = 0;
  let awaited: unknown;
  redis.on('messageBuffer', () => {
    completed += 1;
  });
  const progressOf = (): number => {
    const first = wire.commandQueue.peekFront();
    if (first !== awaited) completed += 1;
    awaited = first;
    return completed;
  };
  // Emitted before the client listens to the socket.
  redis.on('connect', () => guardSocket(wire.stream, progressOf));
};

/**
 * Guards every client that connects from now on. The driver itself creates clients for sentinels, nodes of a cluster and
 * subscriptions, so the guard is part of the class.
 */
export const guardRedis = (): void => {
  const guarded = new WeakSet<Redis>();
  const { connect } = Redis.prototype;
  Redis.prototype.connect = function (...args) {
    if (!guarded.has(this)) guard(this);
    guarded.add(this);
    return connect.apply(this, args);
  };
};
