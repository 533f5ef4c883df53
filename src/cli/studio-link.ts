/** `guestlist studio-link`: a link that logs in to Studio, once. */
import { Command } from '@commander-js/extra-typings';
import { createLink } from '../studio/login-links.js';
import { gatewayUrl } from './kit/declare.js';
import { callGateway } from './operator.js';

export const studioLinkCommand = new Command()
  .description('Prints a link that logs in to Studio as owner. It works once, for 12 hours, until the server restarts.')
  .addOption(gatewayUrl)
  .action(async ({ url }) => console.log((await callGateway(createLink, {}, url)).url));
