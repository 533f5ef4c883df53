/** `guestlist studio-link`: a link that logs in to Studio, once. */
import { createLink } from '../studio/login-links.js';
import { parseOptions } from './kit/options.js';
import { callGateway } from './operator.js';
import { WrongCall } from './wrong-call.js';

const usage = `guestlist studio-link [--url URL]

Prints a link that logs in to Studio as owner. It works once, for 12 hours, until the server restarts.
  --url URL   the gateway; left out: where the configuration says that it listens`;

/** Rejects with OperatorError or WrongCall, whose messages are for the terminal. */
export const runStudioLink = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { url: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    console.log(usage);
    return;
  }
  if (positionals.length > 0) throw new WrongCall(`there is too much: ${positionals.join(' ')}\n\n${usage}`);
  console.log((await callGateway(createLink, {}, values.url)).url);
};
