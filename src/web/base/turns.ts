/** Gives long pieces of work a turn of the event loop each, so that the page paints and answers its reader between them. */

const waiting: (() => void)[] = [];
// Timers wait a second each in a page that is not in view.
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => {
  waiting.shift()?.();
  if (waiting.length > 0) port2.postMessage(null);
};

/** Resolves when it is the caller's turn. What follows within microtasks is done before the next caller's turn. */
export const ownTurn = (): Promise<void> =>
  new Promise((done) => {
    waiting.push(done);
    if (waiting.length === 1) port2.postMessage(null);
  });
