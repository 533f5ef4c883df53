/** `guestlist datasources`, `datamarts`, `dashboards`, `keys` and others: reads the call, runs the action, prints its answer. */
import { parseOptions } from './kit/options.js';
import { type ResourceName, resourceWords } from './resource-names.js';
import { type Action, type Resource, resources } from './resource-table.js';
import { connectToService } from './service-client.js';
import { unknownSubcommand, WrongCall } from './wrong-call.js';

const usageLine = (resource: string, name: string, { names, flags = [], isFinal, summary }: Action): string => {
  const words = [...names, ...flags.map((flag) => `[--${flag} ID]`), ...(isFinal === true ? ['--yes'] : [])];
  return `  guestlist ${[resource, name, ...words].join(' ').padEnd(46)}  ${summary}`;
};

/** The text of `guestlist <resource> --help`. */
export const resourceUsage = (resource: ResourceName, { actions }: Resource): string => {
  const all = Object.entries(actions);
  const credentials = new Set(all.map(([, { credential }]) => credential));
  const credential = credentials.has('apiKey')
    ? 'GUESTLIST_API_KEY'
    : 'GUESTLIST_SERVICE_TOKEN, or the token in the data folder';
  return `guestlist ${resource}: ${resourceWords[resource].summary}

${all.map(([name, action]) => usageLine(resource, name, action)).join('\n')}

${resource === 'keys' ? '  guestlist keys reseal                           see guestlist keys reseal --help\n' : ''}
  --json      print the answer as JSON
  --url URL   the service; left out: where the configuration says that it listens
${all.some(([, { isFinal }]) => isFinal === true) ? '  --yes       confirms what cannot be undone; without it, nothing is done\n' : ''}
It asks the running service with ${credential}. Exit codes: 0 for success, 1 if the
service refused or did not answer, 2 if the command was called wrongly.`;
};

const findAction = (name: ResourceName, resource: Resource, wordName: string): Action => {
  const found = Object.hasOwn(resource.actions, wordName) ? resource.actions[wordName] : undefined;
  if (found !== undefined) return found;
  throw unknownSubcommand(name, wordName, Object.keys(resource.actions), resourceUsage(name, resource));
};

/** The words of the call by their names. Throws WrongCall. */
const readWords = (called: string, { names }: Action, words: readonly string[]): Readonly<Record<string, string>> => {
  const missing = names[words.length];
  if (missing !== undefined) {
    throw new WrongCall(`"guestlist ${called}" takes ${names.join(' ')}: ${missing} is missing`);
  }
  if (words.length > names.length) {
    const takes = names.length === 0 ? 'takes no words' : `takes ${names.join(' ')}`;
    throw new WrongCall(`"guestlist ${called}" ${takes}: "${words.slice(names.length).join(' ')}" is too much`);
  }
  return Object.fromEntries(names.map((each, at) => [each, words[at] ?? '']));
};

/** Runs a command of the resource `name`. Answers the exit code; throws WrongCall and OperatorError. */
export const runResource = async (name: ResourceName, args: readonly string[]): Promise<number> => {
  const resource = resources[name];
  if (args.includes('--help') || args.includes('-h')) {
    console.log(resourceUsage(name, resource));
    return 0;
  }
  const [wordName = '', ...others] = args;
  const action = findAction(name, resource, wordName);
  const flags = Object.fromEntries((action.flags ?? []).map((flag) => [flag, { type: 'string' }] as const));
  const { values, positionals } = parseOptions({
    args: others,
    allowPositionals: true,
    options: { ...flags, yes: { type: 'boolean' }, json: { type: 'boolean' }, url: { type: 'string' } },
  });
  const called = `${name} ${wordName}`;
  const words = readWords(called, action, positionals);
  if (action.isFinal === true && values.yes !== true) {
    throw new WrongCall(`"guestlist ${called}" cannot be undone, and nothing was done. To do it, add --yes`);
  }
  const given = Object.entries(values).flatMap(([key, value]) => (key in flags ? [[key, String(value)]] : []));
  const call = await connectToService(action.credential, values.url);
  const { json, text } = await action.run(call, { ...words, ...Object.fromEntries(given) });
  console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
  return 0;
};
