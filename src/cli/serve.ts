/** `guestlist serve`: runs the gateway, the service, or both. */

import { parseOptions } from './kit/options.js';
import { WrongCall } from './wrong-call.js';

const usage = `guestlist serve [--only gateway|service] [--accept-loss]

Runs gateway and service in one process.
  --only gateway|service   run one of them
  --accept-loss            start although the embedded database lost acknowledged writes; use it only after a start
                           said so`;

/** Resolves when the servers are up. Throws WrongCall. */
export const runServe = async (args: readonly string[]): Promise<number> => {
  const { values } = parseOptions({
    args: [...args],
    options: { only: { type: 'string' }, 'accept-loss': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  const { only } = values;
  if (only !== undefined && only !== 'gateway' && only !== 'service') {
    throw new WrongCall(`--only must be "gateway" or "service", not "${only}"\n\n${usage}`);
  }
  const { serve } = await import('../main.js');
  await serve({
    gateway: only !== 'service',
    service: only !== 'gateway',
    acceptsLoss: values['accept-loss'] ?? false,
  });
  return 0;
};
