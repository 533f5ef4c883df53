/** Holds a socket lock until it is killed. Prints `held` or the error. */
import { lockSocket } from '../../src/platform/files/lock-socket.js';

try {
  await lockSocket(process.argv[2] ?? '');
  console.log('held');
  setInterval(() => {}, 60_000);
} catch (error) {
  console.log(error instanceof Error ? error.name : String(error));
}
