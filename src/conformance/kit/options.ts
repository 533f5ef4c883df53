import { parseArgs } from 'node:util';
import { findOperations, type OperationId, operations } from './operations.js';

export type Options = {
  readonly baseUrl: string;
  readonly serviceToken: string;
  readonly apiKey: string | null;
  readonly dataApp: string | null;
  readonly datamart: string | null;
  readonly workspace: string | null;
  readonly template: string | null;
  readonly clientId: string;
  readonly isJson: boolean;
  readonly isOurs: boolean;
  readonly makesWorkspaces: boolean;
  /** The operations to check; null means all. */
  readonly only: readonly OperationId[] | null;
};

export const conformanceUsage = `guestlist conformance: checks a server against the interface specification

  guestlist conformance --base-url URL --service-token T --api-key K [options]

  --base-url URL       the server, without /api/v2
  --service-token T    an organization's service token
  --api-key K          a data app's key; used if the server creates no key for a data app of the run
  --data-app NAME      the data app of that key
  --datamart NAME      a datamart to copy and to embed with; default: the first one found
  --workspace NAME     a workspace with dashboards; default: the first one found
  --template ID        a dashboard of that workspace; default: its first
  --client ID          a client that exists in the data; default: 1
  --only OPERATION     an operation, or the number of its section; may be given several times
  --ours               also check what Guestlist adds to the interface, and its choices where the interface is open
  --make-workspaces    also run the checks that create workspaces, which no operation can delete
  --json               print the outcome as JSON

Exit code: 0 all checks hold, 1 a check fails, 2 wrong arguments. The run deletes everything that it creates.`;

/** What it takes, also for the command line around it. */
export const flags = {
  'base-url': { type: 'string' },
  'service-token': { type: 'string' },
  'api-key': { type: 'string' },
  'data-app': { type: 'string' },
  datamart: { type: 'string' },
  workspace: { type: 'string' },
  template: { type: 'string' },
  client: { type: 'string' },
  only: { type: 'string', multiple: true },
  ours: { type: 'boolean' },
  'make-workspaces': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const readOnly = (given: readonly string[] | undefined): Options['only'] | string => {
  if (given === undefined) return null;
  const unknown = given.find((wanted) => findOperations(wanted).length === 0);
  if (unknown !== undefined) {
    return `no operation "${unknown}"; known operations: ${Object.keys(operations).join(', ')}`;
  }
  return given.flatMap(findOperations);
};

const isAddress = (text: string): boolean => {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
};

/** Reads the arguments. Returns a message if they are wrong, undefined for `--help`. */
export const readOptions = (args: readonly string[]): Options | string | undefined => {
  const { values } = parseArgs({ args: [...args], options: flags });
  if (values.help === true) return undefined;
  const only = readOnly(values.only);
  if (typeof only === 'string') return only;
  const { 'base-url': baseUrl, 'service-token': serviceToken } = values;
  if (baseUrl === undefined || !isAddress(baseUrl)) return '--base-url is required: the http(s) address of a server';
  if (serviceToken === undefined) return '--service-token is required: the run creates its own data app';
  return {
    baseUrl,
    serviceToken,
    apiKey: values['api-key'] ?? null,
    dataApp: values['data-app'] ?? null,
    datamart: values.datamart ?? null,
    workspace: values.workspace ?? null,
    template: values.template ?? null,
    clientId: values.client ?? '1',
    isJson: values.json === true,
    isOurs: values.ours === true,
    makesWorkspaces: values['make-workspaces'] === true,
    only,
  };
};
