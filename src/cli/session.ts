/** `guestlist session check`: what a session of the host is worth here, without a running server. */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { loadPolicyFile } from '../gateway/policy/load.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { checkAsk, writeAskCheck } from '../gateway/policy-tools/ask-check.js';
import { readInput } from '../gateway/policy-tools/files.js';
import { checkSession, writeSessionCheck } from '../gateway/policy-tools/session-check.js';
import { readVariable, sessionSources } from '../main.js';
import { ConfigError } from '../platform/config/config.js';
import { hookSecretMend, isHookSecret } from '../platform/config/hook-secrets.js';
import { systemClock } from '../platform/work/time.js';
import { collect, jsonOption, printAnswer } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';

const readPair =
  (separator: string) =>
  (text: string, before: readonly (readonly [string, string])[] = []) => {
    const at = text.indexOf(separator);
    if (at < 1) throw new InvalidArgumentError(`Give NAME${separator}VALUE.`);
    return [...before, [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const];
  };

const secretOf = (name: string | undefined): string => {
  if (name === undefined)
    throw new WrongCall('--ask needs --secret-variable: the variable of the secret that signs the question');
  const secret = readVariable(name) ?? '';
  if (isHookSecret(secret)) return secret;
  throw new WrongCall(`the variable ${name} holds no secret of Standard Webhooks: ${hookSecretMend}`);
};

const checkCommand = new Command('check')
  .summary('what a token or an opaque session says, and what is wrong with it')
  .description(
    `Says by which issuer and key of the configuration a session token is verified, what it claims, which tenant and roles it
has, and what the policy decides. With --ask, asks the host's endpoint for opaque sessions as the gateway does, and in
ways that it must refuse. Ends with 1 if the session is not accepted, or the endpoint has a fault.`,
  )
  .argument('[token]', 'the token of a session; - reads it from standard input')
  .addOption(new Option('--policy <file>', 'left out: the configured one'))
  .option('--tenant <id>', "the tenant of the request's body, for a session of several")
  .option(
    '--lookup <tenant>',
    'what the host answers, where the policy asks it for tenants; may be given several times',
    collect,
  )
  .option('--ask <url>', "the host's endpoint for opaque sessions")
  .option('--secret-variable <name>', 'with --ask: the variable of the secret that signs the question')
  .addOption(
    new Option(
      '--cookie <name=value>',
      'with --ask: a cookie of a logged-in user; may be given several times',
    ).argParser(readPair('=')),
  )
  .addOption(
    new Option(
      '--header <name:value>',
      'with --ask: a header of a logged-in user; may be given several times',
    ).argParser(readPair(':')),
  )
  .addOption(jsonOption);

type Values = ReturnType<typeof checkCommand.opts>;

const runAsk = async (url: string, { secretVariable, cookie = [], header = [] }: Values) => {
  const headers = {
    ...Object.fromEntries(header),
    ...(cookie.length === 0 ? {} : { cookie: cookie.map((pair) => pair.join('=')).join('; ') }),
  };
  if (Object.keys(headers).length === 0)
    throw new WrongCall('--ask needs the session of a logged-in user: give --cookie NAME=VALUE or --header NAME:VALUE');
  if (!URL.canParse(url)) throw new WrongCall(`--ask takes a URL, not ${JSON.stringify(url)}`);
  const check = await checkAsk({ url, secret: secretOf(secretVariable), headers, now: systemClock.now() });
  return { json: check, text: writeAskCheck(check), isAccepted: check.questions.every(({ fault }) => fault === null) };
};

const runToken = async (token: string, { policy, tenant, lookup }: Values) => {
  const sources = sessionSources();
  const path = policy ?? sources.policies;
  if (path === undefined)
    throw new WrongCall(
      'this folder has no guestlist.yaml, and GUESTLIST_CONFIG names no other: name a policy by --policy',
    );
  const of = { body: tenant === undefined ? {} : { tenant }, now: systemClock.now(), lookup };
  const text = (token === '-' ? readInput('-') : token).trim().replace(/^bearer +/i, '');
  const check = await checkSession({ token: text, issuers: sources.issuers, policy: loadPolicyFile(path), of });
  const isAccepted = check.isVerified && check.explanation?.denial === null;
  return { json: check, text: writeSessionCheck(check), isAccepted };
};

const run = async (token: string | undefined, values: Values) => {
  if (values.ask !== undefined) return runAsk(values.ask, values);
  if (token === undefined) throw new WrongCall('give a token, or --ask with the address of an endpoint');
  try {
    return await runToken(token, values);
  } catch (cause) {
    if (cause instanceof PolicyFaults || cause instanceof ConfigError)
      throw new WrongCall(`${cause.faults.length} fault(s):\n${cause.message}`, { cause });
    throw cause;
  }
};

export const sessionCommand = new Command().description('Says what a session of the host is worth here.').addCommand(
  checkCommand.action(async (token, values) => {
    const { isAccepted, ...answer } = await run(token, values);
    printAnswer(values.json, answer);
    if (!isAccepted) throw new Exit();
  }),
);
