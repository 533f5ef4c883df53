/** Finds things on the server that checks may use without changing them. */
import { settingsFor } from './bodies.js';
import { Fault, NotTried, rowsOf } from './expect.js';
import type { Options } from './options.js';
import { type Answer, isJson, type Json, type Request } from './wire.js';

/** An existing dashboard, an embed of it, and a datamart that embeds of its workspace accept. */
export type Board = {
  readonly workspaceName: string;
  readonly dashboardId: string;
  readonly datamartName: string;
  readonly embedId: string;
};

type Tools = {
  readonly send: (request: Request) => Promise<Answer>;
  readonly serviceToken: string;
  readonly options: Options;
  readonly name: (what: string) => string;
};

const rows = ({ status, body }: Answer): readonly Json[] => (status === 200 && isJson(body) ? rowsOf(body) : []);

const textsOf = (found: readonly Json[], member: string): readonly string[] =>
  found.map((row) => row[member]).filter((value): value is string => typeof value === 'string');

const listDatamarts = async ({ send, serviceToken, name }: Tools): Promise<readonly Json[]> => {
  const answer = await send({ method: 'GET', path: '/api/v2/data-app/datamarts', bearer: serviceToken });
  if (answer.status !== 200) throw new NotTried(`needs the datamart listing, which answered ${answer.status}`);
  const own = name('');
  return rows(answer).filter((row) => typeof row.name === 'string' && !row.name.startsWith(own));
};

/** The datamart of `--datamart`, otherwise the first listed one. */
export const findSource = async (tools: Tools): Promise<Json> => {
  const wanted = tools.options.datamart;
  const found = (await listDatamarts(tools)).find(({ name }) => wanted === null || name === wanted);
  if (found !== undefined) return found;
  throw new NotTried(wanted === null ? 'needs a datamart, and none is listed' : `no datamart ${wanted} is listed`);
};

const listDashboards = async ({ send }: Tools, key: string, workspaceName: string): Promise<readonly string[]> => {
  const path = '/api/v2/workspace/dashboards';
  return textsOf(
    rows(await send({ method: 'POST', path, body: { workspaceName }, bearer: key })),
    'externalDashboardId',
  );
};

/** The workspace of `--workspace`, otherwise the first one with dashboards. */
export const findWorkspace = async (tools: Tools, key: string): Promise<string> => {
  const { options, send, serviceToken } = tools;
  if (options.workspace !== null) return options.workspace;
  const listed = textsOf(rows(await send({ method: 'GET', path: '/api/v2/workspace', bearer: serviceToken })), 'name');
  // If the server does not list workspaces: a workspace often has the name of its datamart or data app.
  const guesses = listed.length > 0 ? listed : textsOf(await listDatamarts(tools).catch(() => []), 'name');
  for (const name of [...guesses, ...(options.dataApp === null ? [] : [options.dataApp])]) {
    if ((await listDashboards(tools, key, name)).length > 0) return name;
  }
  throw new NotTried('needs --workspace: none with a dashboard was found');
};

const candidates = async (tools: Tools, workspaceName: string): Promise<readonly string[]> => {
  if (tools.options.datamart !== null) return [tools.options.datamart];
  const names = textsOf(await listDatamarts(tools).catch(() => []), 'name');
  return [...new Set([workspaceName, ...names])].slice(0, 20);
};

/** Creates an embed of a dashboard of the workspace, with the first datamart that the server accepts. */
export const findBoard = async (tools: Tools, key: string, workspaceName: string): Promise<Board> => {
  const { options, send } = tools;
  const dashboardId = options.template ?? (await listDashboards(tools, key, workspaceName))[0];
  if (dashboardId === undefined) throw new NotTried(`needs --template: workspace ${workspaceName} has no dashboard`);
  let last = '';
  for (const datamartName of await candidates(tools, workspaceName)) {
    const body = { dashboardId, workspaceName, embedType: 'dashboard', accessSettings: settingsFor(datamartName) };
    const answer = await send({ method: 'POST', path: '/api/v2/data-app/embeds', body, bearer: key });
    if (answer.status === 200 && isJson(answer.body) && typeof answer.body.id === 'string') {
      return { workspaceName, dashboardId, datamartName, embedId: answer.body.id };
    }
    last = `create embed answered ${answer.status}`;
  }
  throw new Fault(last === '' ? 'no datamart to embed with' : last);
};
