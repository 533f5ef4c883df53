/** `guestlist operator-key`: keys with which assistants of operators call `/studio/mcp`. */
import { Command } from '@commander-js/extra-typings';
import { createOperatorKey, endOperatorKey, listOperatorKeys } from '../studio/operator-keys.js';
import { gatewayUrl, readCount, readNames } from './kit/declare.js';
import { callGateway } from './operator.js';

const create = new Command('create')
  .summary('create a key and print it; it is not shown again')
  .argument('<name>', 'whom the audit names: the assistant or its owner')
  .requiredOption(
    '--roles <roles>',
    'author, publisher, support or auditor (auditor only reads); several with commas between them',
    readNames,
  )
  .option('--days <n>', 'the days until the key ends; 30 if left out', readCount)
  .addOption(gatewayUrl)
  .action(async (name, { roles, days, url }) => {
    const { key, expiresAt } = await callGateway(createOperatorKey, { name, roles, days }, url);
    console.log(key);
    console.error(`Ends at ${expiresAt}. It is not shown again.`);
  });

const list = new Command('list')
  .summary('list the keys, without the keys themselves')
  .addOption(gatewayUrl)
  .action(async ({ url }) => {
    const { keys } = await callGateway(listOperatorKeys, {}, url);
    for (const { name, roles, usedAt, expiresAt } of keys)
      console.log(`${name}  ${roles.join(',')}  used ${usedAt}  ends ${expiresAt}`);
    if (keys.length === 0) console.log('There are no keys.');
  });

const end = new Command('end')
  .summary('end a key at once')
  .argument('<name>')
  .addOption(gatewayUrl)
  .action(async (name, { url }) => {
    await callGateway(endOperatorKey, { name }, url);
    console.log(`The key ${name} is ended.`);
  });

export const operatorKeyCommand = new Command()
  .description("Keys with which an operator's assistant calls /studio/mcp. A key has the roles that you give it.")
  .addCommand(create)
  .addCommand(list)
  .addCommand(end);
