/** The HTTP agent of one connection: a malformed or endless answer ends its socket. */
import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { guardSocket } from '../../../platform/addresses/answer-guard.js';

/** What the driver has read of an answer. `note` is called for each piece. */
export type Progress = { readonly note: () => void; readonly count: () => number };

export const createProgress = (): Progress => {
  let pieces = 0;
  return {
    note: () => {
      pieces += 1;
    },
    count: () => pieces,
  };
};

const options: AgentOptions = { keepAlive: true, maxSockets: 1 };

/** The driver uses the sockets of this agent alone. */
export const createGuardedAgent = (isSsl: boolean, { count }: Progress): Agent => {
  const agent = isSsl ? new TlsAgent(options) : new Agent(options);
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    const socket = create(...args);
    if (socket instanceof Object) guardSocket(socket as Duplex, count);
    return socket;
  };
  return agent;
};
