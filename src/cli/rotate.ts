/** `guestlist rotate`: every secret with its age, and the next step of a rotation that nobody notices. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import type { KeptSecret, Rotated } from '../compose/rotate/rotate.js';
import type { RotatedVariable } from '../compose/rotate/variables.js';
import { readOperatorSettings, rotateConfigured, rotateConfiguredVariable, storeServiceToken } from '../main.js';
import { rotateApiKey } from '../service/keys/contract/api-keys.js';
import { rotateServiceToken } from '../service/keys/contract/service-tokens.js';
import { jsonOption, printAnswer, readCount, serviceUrl } from './kit/declare.js';
import { Exit, WrongCall } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { connectToService } from './service-client.js';

const dayMs = 86_400_000;

const ageOf = ({ since }: KeptSecret, now: Date): string =>
  since === null ? '-' : `${Math.max(0, Math.floor((now.getTime() - since.getTime()) / dayMs))} days`;

const next: Readonly<Record<Rotated['step'], string>> = {
  none: 'Nothing was changed. guestlist rotate --begin begins a rotation of the encryption key.',
  added:
    'A new key was added: it opens, and does not seal yet. Roll the keys out to every process, then run this again. Until then, nothing else changes.',
  first:
    'The new key is the first: processes that start with it seal with it. Roll the keys out to every process, then run this again.',
  resealed: 'Every stored secret is sealed with the new key. Roll it out alone: the rotation has ended.',
  stopped: 'Every stored secret is sealed with the new key. Start Guestlist again: the rotation has ended.',
};

const report = ({ step, resealed, unreadable, next: kept, secrets, now }: Rotated): string =>
  [
    tableText(
      ['secret', 'kept in', 'age', 'how it is rotated'],
      secrets.map((secret) => [secret.what, secret.keptIn, ageOf(secret, now), secret.how]),
    ),
    '',
    ...(resealed === 0 ? [] : [`Sealed anew: ${resealed}.`]),
    ...(unreadable.length === 0
      ? [`${next[step]}${kept === null ? '' : `\nThe keys to start with are in ${kept}.`}`]
      : [
          `Not opened by any of the keys: ${unreadable.length}. Add the key that they were sealed with and run this again, or enter them again. Keep all keys until then.`,
          ...unreadable.slice(0, 20).map((one) => `  ${one}`),
        ]),
  ].join('\n');

type TokenOptions = { readonly graceDays: number; readonly url?: string | undefined };

/** Replaces the service token, and the API key if there is one. What the data folder keeps is replaced there. */
const rotateTokens = async (file: string, { graceDays, url }: TokenOptions): Promise<readonly string[]> => {
  if (existsSync(file)) throw new WrongCall(`${file} exists already: name a new file.`);
  const { apiKey, serviceToken } = readOperatorSettings();
  const expireAt = graceDays * 86_400;
  const lines: string[] = [];
  const done: string[] = [];
  const note = async (line: string): Promise<void> => {
    lines.push(line);
    // Written at once: a key that was made and is not written is lost.
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  };
  const service = await (await connectToService('serviceToken', url))(rotateServiceToken, { expireAt });
  await note(`GUESTLIST_SERVICE_TOKEN=${service.key}`);
  if (serviceToken === null) done.push(`The new service token is in ${await storeServiceToken(service.key)}.`);
  if (apiKey !== null) {
    const app = await (await connectToService('apiKey', url))(rotateApiKey, { expireAt });
    await note(`GUESTLIST_API_KEY=${app.key}`);
  }
  return [
    ...done,
    `${lines.length} new tokens are in ${file}, which you alone can read. The old ones stay valid for ${graceDays} days: give the new ones to their users, and remove the file.`,
  ];
};

const variableWords: Readonly<Record<RotatedVariable['step'], (of: RotatedVariable) => string>> = {
  added: ({ variable, holder }) =>
    `It has the old value and a new one after a space: both hold. Roll it out to every process. Then give the second value to ${holder}. When nothing uses the old value any more, run this again with the variable as it is then: guestlist rotate --secret ${variable} --to FILE.`,
  ended: ({ holder }) =>
    `It has the new value alone. Roll it out only when this uses the new value: ${holder}. The old value is refused from then on.`,
};

/** Writes the next value of a variable into a new file. */
const rotateSecretOf = async (variable: string, to: string | undefined): Promise<readonly string[]> => {
  if (to === undefined) throw new WrongCall('Name a new file for the next value of the variable with --to.');
  if (existsSync(to)) throw new WrongCall(`${to} exists already: name a new file.`);
  const rotated = rotateConfiguredVariable(variable);
  await writeFile(to, `${rotated.next}\n`, { mode: 0o600, flag: 'wx' });
  return [`The next value of ${variable} is in ${to}, which you alone can read.`, variableWords[rotated.step](rotated)];
};

export const rotateCommand = new Command()
  .description(
    `Lists every secret of the installation with its age and how it is rotated, and does the next step of a rotation of the
encryption key. With replicas on PostgreSQL, a rotation is three steps, and after each one the printed keys are rolled out:
requests are answered meanwhile. An embedded database must be stopped; its rotation is one step.

With --tokens, the service token (and the API key in GUESTLIST_API_KEY) is replaced at the running service instead; the old
one stays valid for --grace-days. With --secret, a secret that another party uses too gets a second value, and at the second
run loses the first: both hold meanwhile. The password of a datasource is changed by guestlist datasources set-password. Ends with 1 if a stored secret opens with none of the keys. Every step is in the audit.`,
  )
  .option('--begin', 'begin a rotation of the encryption key, if none is under way')
  .option(
    '--to <file>',
    'new file for the next value of GUESTLIST_ENCRYPTION_KEY, if the keys come from there, or of --secret',
  )
  .option('--tokens <file>', 'replace the service token and the API key, and write the new ones into this new file')
  .option('--secret <variable>', 'do the next step of the rotation of the secret in this variable')
  .option('--grace-days <n>', 'days for which the old tokens stay valid; 7 if left out', readCount)
  .addOption(serviceUrl)
  .addOption(jsonOption)
  .action(async ({ begin = false, to, tokens, secret, graceDays = 7, url, json }) => {
    const done =
      tokens !== undefined
        ? await rotateTokens(tokens, { graceDays, url })
        : secret !== undefined
          ? await rotateSecretOf(secret, to)
          : null;
    if (done !== null) {
      for (const line of done) console.log(line);
      return;
    }
    const rotated = await rotateConfigured({ begins: begin, to });
    printAnswer(json, { json: rotated, text: report(rotated) });
    if (rotated.unreadable.length > 0) throw new Exit();
  });
