/** `guestlist mail try`: one test message with the configured mail server, without a running server. */
import { Command } from '@commander-js/extra-typings';
import type { ConfiguredTrial } from '../compose/try-mail.js';
import { tryMailConfigured } from '../main.js';
import { readAddress } from '../model/schedule/address.js';
import { jsonOption, printAnswer } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { withFaults } from './kit/with-faults.js';

const notSetUp =
  'no mail server is set up: set mail.from, gateway.publicOrigin and GUESTLIST_SMTP_URL (docs/how-to/reports.md)';

const words = ({ server, from, isAllowed, isSent, steps, fault }: ConfiguredTrial): string => {
  const tls = server.isTlsRequired ? 'required' : 'used where the server offers it';
  return [
    `server: ${server.host}, TLS ${tls}, ${server.hasLogin ? 'with a login' : 'without a login'}`,
    `sender: ${from}`,
    tableText(
      ['STATE', 'STEP'],
      steps.map(({ state, step }) => [state, step]),
    ),
    ...(fault === null
      ? []
      : [
          `${fault.reason}: ${fault.cause}${fault.status === null ? '' : ` (status ${fault.status})`}`,
          `${fault.setting === null ? 'to do' : `change ${fault.setting}`}: ${fault.mend}`,
        ]),
    ...(isSent ? ['The mail server has taken the message.'] : []),
    ...(isAllowed ? [] : ['Reports do not go to this address: its domain is not in mail.allowedDomains.']),
  ].join('\n');
};

const tryCommand = new Command('try')
  .summary('send one test message with the configured mail server')
  .description(
    `Sends one test message with the configured mail server, and says how far it came. On failure, it names the cause and the
setting to change, and ends with 1.`,
  )
  .argument('<address>', 'the recipient')
  .option('--tenant <id>', 'from the sender that the tenant has of its own')
  .addOption(jsonOption);

export const mailCommand = new Command().description('The mail server of reports and alerts.').addCommand(
  tryCommand.action(async (to, { tenant, json }) => {
    if (readAddress(to, [to.slice(to.lastIndexOf('@') + 1)]) === undefined)
      throw new WrongCall(`${JSON.stringify(to)} is no address of e-mail, such as ann@example.com`);
    await withFaults(async () => {
      const trial = await tryMailConfigured({ to, tenant });
      if (trial === undefined) throw new WrongCall(notSetUp);
      printAnswer(json, { json: trial, text: words(trial) });
      if (!trial.isSent) throw new Exit();
    });
  }),
);
