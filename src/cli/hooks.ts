/** `guestlist hooks`: tries a captured event of a provider, without effect. */
import { Command, Option } from '@commander-js/extra-typings';
import { loadPolicyFile } from '../gateway/policy/load.js';
import { readInput } from '../gateway/policy-tools/files.js';
import { tryEvent, writeTried } from '../gateway/policy-tools/try-event.js';
import { configuredHooks } from '../main.js';
import { isRecord } from '../model/is-record.js';
import { type HookProvider, hookProviderKinds, usualHookProvider } from '../platform/config/hook-providers.js';
import { systemClock } from '../platform/work/time.js';
import { collect, jsonOption, printAnswer } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { withFaults } from './kit/with-faults.js';

type Delivery = { readonly text: string; readonly headers: Readonly<Record<string, string>> };

const lowerCased = (headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));

/**
 * A request as tools dump it: perhaps a request line, then headers, an empty line and the body. An editor may have added
 * the last line end.
 */
const readDump = (text: string): Delivery | undefined => {
  const [, head = '', body = ''] = /^((?:[^\r\n]+\r?\n)+)\r?\n([\s\S]*)$/.exec(text) ?? [];
  const lines = head.split(/\r?\n/).filter((line) => line !== '' && !/^[A-Z]+ \S+(?: HTTP\/[\d.]+)?$/.test(line));
  const pairs = lines.map((line) => /^([\w-]+): *(.*)$/.exec(line));
  if (pairs.length === 0 || pairs.includes(null)) return undefined;
  return {
    headers: lowerCased(Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))),
    text: body.replace(/\r?\n$/, ''),
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Reads a body alone, `{"headers", "body"}`, or a dump of the request. */
const readDelivery = (content: string): Delivery => {
  const value = parse(content);
  if (isRecord(value) && isRecord(value.headers) && 'body' in value) {
    const { headers, body } = value;
    return { headers: lowerCased(headers), text: typeof body === 'string' ? body : JSON.stringify(body) };
  }
  return (value === undefined ? readDump(content) : undefined) ?? { headers: {}, text: content };
};

/** Throws WrongCall if there is neither a configured provider of that name nor such a kind. */
const findProvider = (name: string, configured: readonly HookProvider[]): HookProvider => {
  const found = configured.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const setting = usualHookProvider(name);
  if (setting !== undefined)
    return { name, setting, secrets: [], at: () => `the kind ${name} without a configuration` };
  const names = configured.map((provider) => provider.name);
  throw new WrongCall(
    `gateway.hooks.providers has no "${name}"${names.length === 0 ? '' : ` (it has ${names.join(', ')})`}; without a configuration, name one of the kinds ${hookProviderKinds.filter((kind) => kind !== 'custom').join(', ')}`,
  );
};

const findPolicy = (configured: string | undefined): string => {
  if (configured !== undefined) return configured;
  throw new WrongCall(
    'this folder has no guestlist.yaml, and GUESTLIST_CONFIG names no other: name a policy by --policy',
  );
};

const tryCommand = new Command('try')
  .summary('say what a captured event of a provider would do')
  .description(
    `Runs a captured event through the adapter of its provider, the configured claims and the policy, without effect. It
needs no secret: the signature is checked if the file has headers and the secret is set. Ends with 1 if the event would be
refused.`,
  )
  .argument('<file>', 'the body, {"headers", "body"} as JSON, or a dump of the request; - is standard input')
  .requiredOption('--provider <name>', 'a name of gateway.hooks.providers, or a kind such as clerk')
  .option('--policy <file>', 'left out: the configured one')
  .addOption(
    new Option(
      '--lookup <tenant>',
      'what the host answers, where the policy asks it for tenants; may be given several times',
    ).argParser(collect),
  )
  .addOption(jsonOption)
  .action((file, { provider: name, policy, lookup, json }) =>
    withFaults(async () => {
      const configured = configuredHooks();
      const provider = findProvider(name, configured?.providers ?? []);
      const loaded = loadPolicyFile(policy ?? findPolicy(configured?.policy));
      const delivery = readDelivery(readInput(file));
      const tried = await tryEvent({ provider, policy: loaded, delivery, now: systemClock.now(), lookup });
      printAnswer(json, { json: tried, text: writeTried(tried) });
      if (tried.outcome === 'refused') throw new Exit();
    }),
  );

export const hooksCommand = new Command()
  .description('Webhooks of login and billing providers, as gateway.hooks.providers configures them.')
  .addCommand(tryCommand);
