/** `guestlist hold`: keeps what is of a tenant beyond its time. */
import { Command, Option } from '@commander-js/extra-typings';
import { addHold, listHolds, removeHold } from '../gateway/retention/commands.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import { gatewayCommand, printAnswer } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { callGateway } from './operator.js';

type Hold = AnswerOf<typeof listHolds>['holds'][number];

const whose = ({ clientId }: Pick<Hold, 'clientId'>): string =>
  clientId === null ? 'all tenants' : `tenant ${clientId}`;

/** What a person must know beside the answer. Printed where scripts do not read. */
const warn = (text: string): void => console.error(`guestlist: ${text}`);

const warnOfService = (service: AnswerOf<typeof listHolds>['service']): void => {
  if (service === 'unreachable')
    warn('the service does not know it yet, and may delete what is old enough; the gateway goes on telling it');
  if (service === 'unsupported')
    warn('the service behind this gateway takes no holds: what it keeps (tokens, deliveries, usage) is not held');
};

const reasonOption = new Option(
  '--reason <text>',
  'why; the audit keeps it for ever, so name no person',
).makeOptionMandatory();

const add = gatewayCommand('add')
  .summary('hold a tenant, or all')
  .description(
    `From now on no sweep deletes what is of the tenant: entries of the audit, explanations, tokens, deliveries and usage.
An erasure of the tenant goes on, and ends the hold.`,
  )
  .addOption(new Option('--tenant <id>', 'the tenant').conflicts('all'))
  .option('--all', 'all tenants, and what belongs to none')
  .addOption(reasonOption)
  .action(async ({ tenant, all, reason, json, url }) => {
    if (tenant === undefined && all === undefined) throw new WrongCall('say whom: --tenant ID, or --all');
    const hold = await callGateway(addHold, { clientId: tenant ?? null, reason }, url);
    if (!hold.isKnown) warn(`the audit knows no tenant "${tenant}" so far: is the id right?`);
    warnOfService(hold.service);
    printAnswer(json, { json: hold, text: `${whose(hold)} is held: ${hold.id}` });
  });

const list = gatewayCommand('list')
  .summary('list the holds')
  .description('Lists the holds that are in force.')
  .action(async ({ json, url }) => {
    const answer = await callGateway(listHolds, {}, url);
    warnOfService(answer.service);
    const rows = answer.holds.map((hold) => [hold.id, whose(hold), hold.placedAt, hold.placedBy ?? '-', hold.reason]);
    printAnswer(json, {
      json: answer,
      text: tableText(['ID', 'HOLDS', 'SINCE', 'BY', 'REASON'], rows, 'Nobody is held.'),
    });
  });

const remove = gatewayCommand('remove')
  .argument('<id>', 'the id of the hold, as hold list prints it')
  .summary('end a hold')
  .description('Ends a hold. The next sweep deletes what is old enough and under no other hold.')
  .addOption(reasonOption)
  .action(async (id, { reason, json, url }) => {
    const hold = await callGateway(removeHold, { id, reason }, url);
    warnOfService(hold.service);
    printAnswer(json, { json: hold, text: `the hold ${hold.id} of ${whose(hold)} has ended` });
  });

export const holdCommand = new Command()
  .description('Holds: what is of a held tenant is not deleted when it is old enough.')
  .addCommand(add)
  .addCommand(list)
  .addCommand(remove);
