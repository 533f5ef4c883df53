/** `guestlist operator-key`: keys with which assistants of operators call `/studio/mcp`. */
import { createOperatorKey, endOperatorKey, listOperatorKeys } from '../studio/operator-keys.js';
import { parseOptions } from './kit/options.js';
import { callGateway } from './operator.js';
import { readCount, unknownSubcommand, WrongCall } from './wrong-call.js';

const usage = `guestlist operator-key create NAME --roles ROLE[,ROLE...] [--days N]
guestlist operator-key list
guestlist operator-key end NAME

Keys with which an operator's assistant calls /studio/mcp. A key has the roles that you give it: author, publisher, support
or auditor (auditor only reads). It is printed once, and ends after --days (30).
  --url URL   the gateway; left out: where the configuration says that it listens`;

const common = { url: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
const ofCreate = { roles: { type: 'string' }, days: { type: 'string' }, ...common } as const;

type Values = { readonly url?: string | undefined };
type CreateValues = Values & { readonly roles?: string | undefined; readonly days?: string | undefined };

const refuse = (message: string): never => {
  throw new WrongCall(`${message}\n\n${usage}`);
};

const create = async (name: string, { roles, days, url }: CreateValues): Promise<void> => {
  const wanted = (roles ?? refuse('give --roles')).split(',').map((role) => role.trim());
  const life = days === undefined ? {} : { days: readCount('--days', days) };
  const { key, expiresAt } = await callGateway(createOperatorKey, { name, roles: wanted, ...life }, url);
  console.log(key);
  console.error(`Ends at ${expiresAt}. It is not shown again.`);
};

const list = async ({ url }: Values): Promise<void> => {
  const { keys } = await callGateway(listOperatorKeys, {}, url);
  for (const { name, roles, usedAt, expiresAt } of keys)
    console.log(`${name}  ${roles.join(',')}  used ${usedAt}  ends ${expiresAt}`);
  if (keys.length === 0) console.log('There are no keys.');
};

const end = async (name: string, { url }: Values): Promise<void> => {
  await callGateway(endOperatorKey, { name }, url);
  console.log(`The key ${name} is ended.`);
};

/** Rejects with OperatorError or WrongCall, whose messages are for the terminal. */
export const runOperatorKey = async ([subcommand, ...args]: readonly string[]): Promise<void> => {
  if (subcommand === '--help' || subcommand === '-h') return console.log(usage);
  const known = ['create', 'list', 'end'] as const;
  if (!known.some((name) => name === subcommand))
    throw unknownSubcommand('operator-key', subcommand ?? '', known, usage);
  const options = subcommand === 'create' ? ofCreate : common;
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options });
  if (values.help === true) return console.log(usage);
  const [name, ...others] = positionals;
  if (others.length > 0) refuse(`there is too much: ${others.join(' ')}`);
  if (subcommand === 'list') return list(values);
  const named = name ?? refuse('name the key');
  return subcommand === 'create' ? create(named, values) : end(named, values);
};
