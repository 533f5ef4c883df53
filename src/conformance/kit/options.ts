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
  /** Null: all. */
  readonly only: readonly OperationId[] | null;
};

export const conformanceUsage = `guestlist conformance: does a server keep to the interface specification?

  guestlist conformance --base-url URL --service-token T --api-key K [options]

  --base-url URL       the server, without /api/v2
  --service-token T    an organization's service token
  --api-key K          a data app's key; used where the server makes no key for a data app of the run
  --data-app NAME      the data app of that key
  --datamart NAME      a datamart to copy and to embed with; otherwise one is looked for
  --workspace NAME     a workspace with dashboards; otherwise one is looked for
  --template ID        a dashboard of that workspace; otherwise its first
  --client ID          a client that exists in the data; otherwise 1
  --only OPERATION     an operation, or the number of its section; may be given several times
  --ours               also what Guestlist adds to the interface and chooses where it is silent
  --make-workspaces    also the checks that make workspaces, which no operation can delete
  --json               the outcome as JSON

Ends with 0 where everything holds, 1 where something does not, 2 where it was called wrongly. It removes what it makes.`;

const flags = {
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
    return `there is no operation "${unknown}"; there are ${Object.keys(operations).join(', ')}`;
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

/** The options of a call; a text where it was wrong, undefined where the usage was asked for. */
export const readOptions = (args: readonly string[]): Options | string | undefined => {
  const { values } = parseArgs({ args: [...args], options: flags });
  if (values.help === true) return undefined;
  const only = readOnly(values.only);
  if (typeof only === 'string') return only;
  const { 'base-url': baseUrl, 'service-token': serviceToken } = values;
  if (baseUrl === undefined || !isAddress(baseUrl)) return '--base-url takes the address of a server';
  if (serviceToken === undefined) return '--service-token is needed: the run makes a data app of its own';
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
