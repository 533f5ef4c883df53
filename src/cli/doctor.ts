/** `guestlist doctor`: what is wrong with an installation, and how it is mended. */
import { writeFile } from 'node:fs/promises';
import { Command, Option } from '@commander-js/extra-typings';
import { type Finding, levels } from '../compose/doctor/finding.js';
import type { Ready } from '../compose/doctor/machine.js';
import { examineConfigured, readOperatorSettings } from '../main.js';
import { jsonOption, printAnswer } from './kit/declare.js';
import { Exit } from './kit/exit.js';
import { paint, printable, withProgress } from './kit/terminal.js';
import { addressOf, OperatorError, storedToken } from './operator.js';

const styles = { good: 'green', note: 'bold', warning: 'yellow', fault: 'red' } as const;

const lines = ({ level, area, text, subject, mend }: Finding): string =>
  [
    `${paint(styles[level], level.padEnd(7))}  ${area}: ${text}`,
    ...(subject === undefined ? [] : [`         ${printable(subject).replaceAll('\n', '\n         ')}`]),
    ...(mend === undefined ? [] : [`         mend: ${mend}`]),
  ].join('\n');

const words = (findings: readonly Finding[]): string => {
  const count = (level: Finding['level']): number => findings.filter((one) => one.level === level).length;
  const ordered = levels.toReversed().flatMap((level) => findings.filter((one) => one.level === level));
  return `${ordered.map(lines).join('\n')}\n\n${count('fault')} faults, ${count('warning')} warnings, ${count('good')} good.`;
};

const gatewayTokenOf = async ({ gatewayToken, dataDir }: ReturnType<typeof readOperatorSettings>) => {
  try {
    return gatewayToken ?? (await storedToken(dataDir, 'gateway'));
  } catch (error) {
    // Without a token, the process says whether it is ready, and not why.
    if (error instanceof OperatorError) return null;
    throw error;
  }
};

/** Reads `/readyz` of the process that the configuration describes; null: nothing answers there. */
const readReady = async (): Promise<Ready | null> => {
  const token = await gatewayTokenOf(readOperatorSettings());
  try {
    const answer = await fetch(`${addressOf('gateway', undefined)}/readyz`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      redirect: 'error',
    });
    return (await answer.json()) as Ready;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    // No process, or another one than ours.
    return null;
  }
};

export const doctorCommand = new Command()
  .description(
    `Looks at the configuration, the policy, the metadata database and its user, the rights of each datasource's user, TLS,
clocks, versions, pending migrations, keys and their age, Redis, Chromium, the mail server and the records of its sender in
DNS, the running process, and stuck work. Changes nothing. Says for each fault how it is mended, and ends with 1 if there is a fault.
Works where the data folder is; an embedded database may be in use.`,
  )
  .addOption(jsonOption)
  .addOption(new Option('--only <half>', 'look at what a gateway alone has').choices(['gateway']))
  .option('--bundle <file>', 'write a file for support: without secrets, names and values of rows')
  .action(async ({ json, only, bundle: file }) => {
    const { findings, bundle } = await withProgress((say) =>
      examineConfigured({ service: only !== 'gateway', say, readReady }),
    );
    if (file !== undefined) await writeFile(file, bundle, { mode: 0o600 });
    printAnswer(json, { json: findings, text: words(findings) });
    if (file !== undefined) console.error(`guestlist: ${file} is for support. Read it before you send it.`);
    if (findings.some(({ level }) => level === 'fault')) throw new Exit();
  });
