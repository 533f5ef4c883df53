/** What checks may use: unique names, and things that are found or created once, at their first use. */
import { randomBytes } from 'node:crypto';
import { settingsFor, tablesOf, tenancyOf } from './bodies.js';
import type { Cleanup, Kind } from './cleanup.js';
import { type Board, findBoard, findSource, findWorkspace } from './discovery.js';
import { Fault, NotTried } from './expect.js';
import type { Options } from './options.js';
import type { Answer, Json, Request, Wire } from './wire.js';
import { isJson } from './wire.js';

export type App = { readonly name: string | null; readonly key: string; readonly isOwn: boolean };
export type CheckContext = {
  readonly send: (request: Request) => Promise<Answer>;
  readonly serviceToken: string;
  readonly clientId: string;
  readonly options: Options;
  /** A name with the run's random prefix; alphanumeric. */
  readonly name: (what: string) => string;
  /** A name for a thing that the check is about to create with this bearer. The run deletes it at the end. */
  readonly toMake: (kind: Kind, what: string, bearer: string) => string;
  /**
   * Registers a created embed, or a dashboard that is about to be created, for deletion. What belongs to the run's own data app
   * is deleted with it.
   */
  readonly keep: (kind: 'embed' | 'dashboard', name: string, bearer: string) => Promise<void>;
  readonly app: () => Promise<App>;
  /** The name of the data app. Throws NotTried if it is unknown. */
  readonly appName: () => Promise<string>;
  readonly workspace: () => Promise<string>;
  readonly board: () => Promise<Board>;
  readonly accessSettings: () => Promise<Json>;
  /** A datamart of the server, with its details. */
  readonly source: () => Promise<Json>;
  /** A copy of `source` that this run has created. */
  readonly datamart: () => Promise<string>;
};

/** Creates a thing at its first use. A failure means that the check was not tried, not that it fails. */
const once = <T>(what: string, make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      if (error instanceof NotTried) throw error;
      throw new NotTried(`needs ${what}, which failed: ${error instanceof Error ? error.message : String(error)}`);
    });
    return made;
  };
};

type Tools = Pick<CheckContext, 'send' | 'name' | 'toMake' | 'serviceToken' | 'options'>;

const openApp = async ({ send, toMake, name, serviceToken, options }: Tools): Promise<App> => {
  const own = toMake('data app', 'app', serviceToken);
  const made = await send({ method: 'POST', path: '/api/v2/data-app', body: { name: own }, bearer: serviceToken });
  if (made.status === 200) {
    const body = { dataAppName: own, name: name('key') };
    const answer = await send({ method: 'POST', path: '/api/v2/data-app/api-tokens', body, bearer: serviceToken });
    if (isJson(answer.body) && typeof answer.body.key === 'string') {
      return { name: own, key: answer.body.key, isOwn: true };
    }
  }
  if (options.apiKey !== null) return { name: options.dataApp, key: options.apiKey, isOwn: false };
  throw new NotTried('needs --api-key: this server made no key for a data app of the run');
};

const copyDatamart = async (tools: Tools, source: Json, what: string): Promise<string> => {
  const { send, toMake, serviceToken } = tools;
  const name = toMake('datamart', what, serviceToken);
  const tenancySettings = tenancyOf(source);
  const body = {
    name,
    datasourceName: isJson(source.companyIntegration) ? source.companyIntegration.name : undefined,
    tableList: tablesOf(source),
    ...(tenancySettings === undefined ? {} : { tenancySettings }),
  };
  const answer = await send({ method: 'POST', path: '/api/v2/data-app/datamarts', body, bearer: serviceToken });
  if (answer.status === 404 || answer.status === 405) {
    throw new NotTried('needs POST /api/v2/data-app/datamarts: a datamart that others use is not changed');
  }
  if (answer.status !== 200) throw new Fault(`POST /api/v2/data-app/datamarts answered ${answer.status}`);
  return name;
};

/** Copies the source datamart once for each name. */
export const copyDatamarts = async (context: CheckContext, names: readonly string[]): Promise<void> => {
  const source = await context.source();
  for (const what of names) await copyDatamart(context, source, what);
};

export const createContext = (wire: Wire, made: Cleanup, options: Options): CheckContext => {
  const { serviceToken, clientId } = options;
  const prefix = `conf${randomBytes(4).toString('hex')}`;
  const name = (what: string): string => `${prefix}${what}`;
  const toMake: CheckContext['toMake'] = (kind, what, bearer) => {
    made.plan({ kind, name: name(what), bearer });
    return name(what);
  };
  const send: CheckContext['send'] = async (request) => {
    const settle = made.sending(request);
    const answer = await wire.send(request);
    settle(answer);
    return answer;
  };
  const tools: Tools = { send, name, toMake, serviceToken, options };
  const app = once('a data app', () => openApp(tools));
  const keep: CheckContext['keep'] = async (kind, id, bearer) => {
    if (!(await app()).isOwn) made[kind === 'embed' ? 'add' : 'plan']({ kind, name: id, bearer });
  };
  const source = once('a datamart', () => findSource(tools));
  const workspace = once('a workspace', async () => findWorkspace(tools, (await app()).key));
  const board = once('an embed of a dashboard', async () => {
    const { key } = await app();
    const found = await findBoard(tools, key, await workspace());
    await keep('embed', found.embedId, key);
    return found;
  });
  return {
    ...tools,
    clientId,
    keep,
    app,
    appName: async () => {
      const found = await app();
      if (found.name === null) throw new NotTried('needs --data-app, the name of the data app of --api-key');
      return found.name;
    },
    workspace,
    board,
    accessSettings: async () => settingsFor((await board()).datamartName),
    source,
    datamart: once('a datamart of its own', async () => copyDatamart(tools, await source(), 'mart')),
  };
};
