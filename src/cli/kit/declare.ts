/** What the declarations of commands have in common: options, and how the values of options are read. */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';

const listens = 'left out: where the configuration says that it listens';
export const gatewayUrl = new Option('--url <url>', `the gateway; ${listens}`);
export const serviceUrl = new Option('--url <url>', `the service; ${listens}`);
export const jsonOption = new Option('--json', 'print the answer as JSON');
export const yesOption = new Option('--yes', 'confirms what cannot be undone; without it, nothing is done');

/** A command of the gateway that answers JSON too. */
export const gatewayCommand = (name: string) => new Command(name).addOption(jsonOption).addOption(gatewayUrl);

/** Reads an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Reads names with commas between them. */
export const readNames = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Reads a whole number. Throws InvalidArgumentError. */
export const readCount = (text: string): number => {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError(`Give a whole number, not "${text}".`);
};

/** What a command answers: for machines, and for people. */
export type Answer = { readonly json: unknown; readonly text: string };

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

export const printAnswer = (isJson: true | undefined, { json, text }: Answer): void =>
  isJson ? printJson(json) : console.log(text);
