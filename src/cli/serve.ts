/** `guestlist serve`: runs the gateway, the service, or both. */
import { Command, Option } from '@commander-js/extra-typings';

/** Ends when the servers are up. */
export const serveCommand = new Command()
  .description('Runs gateway and service in one process.')
  .addOption(new Option('--only <half>', 'run one of them').choices(['gateway', 'service']))
  .option(
    '--accept-loss',
    'start although the embedded database lost acknowledged writes; use it only after a start said so',
  )
  .option(
    '--accept-empty',
    'start on an empty DATABASE_URL although the data folder has metadata, which is then not used; see guestlist move',
  )
  .action(async ({ only, acceptLoss = false, acceptEmpty = false }) => {
    const { serve } = await import('../main.js');
    const accepts = { acceptsLoss: acceptLoss, acceptsEmpty: acceptEmpty };
    await serve({ gateway: only !== 'service', service: only !== 'gateway', ...accepts });
  });
