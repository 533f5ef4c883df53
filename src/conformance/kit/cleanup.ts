/** Records what a run creates on the server, and deletes it at the end. */

import { rowsOf } from './expect.js';
import { type Answer, isJson, type Request, type Wire } from './wire.js';

export type Kind = 'data app' | 'datamart' | 'workspace' | 'embed' | 'dashboard';
export type Thing = { readonly kind: Kind; readonly name: string; readonly bearer: string };

/** Everything that this run may have created, in order of creation. */
export type Cleanup = {
  /** Call before the request that creates the thing: an interrupted request may have created it. */
  readonly plan: (thing: Thing) => void;
  /** Call for a thing that certainly exists. */
  readonly add: (thing: Thing) => void;
  /** Call before each request; call the returned function with the answer. Tells which planned things now exist. */
  readonly sending: (request: Request) => (answer: Answer) => void;
  /** Deletes everything, the latest first. Returns what could not be deleted. */
  readonly remove: (wire: Wire) => Promise<readonly Thing[]>;
};

const codeOf = ({ body }: Answer): unknown => (isJson(body) && isJson(body.error) ? body.error.code : undefined);

const isListed = async (wire: Wire, { name, bearer }: Thing): Promise<boolean> => {
  const path = '/api/v2/data-app/datamarts';
  const answer = await wire.send({ method: 'GET', path, bearer, query: { expandDetails: 'false' } });
  return answer.status !== 200 || !isJson(answer.body) || rowsOf(answer.body).some((row) => row.name === name);
};

const removers: Readonly<Record<Kind, (wire: Wire, thing: Thing) => Promise<boolean>>> = {
  'data app': async (wire, { name, bearer }) => {
    const answer = await wire.send({ method: 'DELETE', path: '/api/v2/data-app', query: { name }, bearer });
    return answer.status === 200 || codeOf(answer) === 'DATA_APP_NOT_FOUND';
  },
  datamart: async (wire, thing) => {
    const { name, bearer } = thing;
    const path = '/api/v2/dataApp/datamart/delete';
    const answer = await wire.send({ method: 'POST', path, body: { datamartName: name }, bearer });
    return answer.status === 200 || !(await isListed(wire, thing));
  },
  embed: async (wire, { name, bearer }) => {
    const path = '/api/v2/data-app/embeds';
    const answer = await wire.send({ method: 'DELETE', path, query: { embedId: name }, bearer });
    // The specification answers INVALID_REQUEST_BODY for an unknown embed.
    return answer.status === 200 || codeOf(answer) === 'INVALID_REQUEST_BODY';
  },
  dashboard: async (wire, { name, bearer }) => {
    const path = '/api/v2/data-app/dashboards';
    const answer = await wire.send({ method: 'DELETE', path, query: { dashboardId: name }, bearer });
    return answer.status === 200 || codeOf(answer) === 'INVALID_DASHBOARD_ID';
  },
  // No operation of the interface deletes a workspace.
  workspace: async () => false,
};

const tryRemove = async (wire: Wire, thing: Thing): Promise<boolean> => {
  try {
    return await removers[thing.kind](wire, thing);
  } catch {
    return false;
  }
};

type State = 'planned' | 'sent' | 'made';

const valuesOf = ({ body, form }: Request): ReadonlySet<unknown> =>
  new Set([...(isJson(body) ? Object.values(body) : []), ...(form === undefined ? [] : form.values())]);

export const createCleanup = (): Cleanup => {
  const things = new Map<string, { readonly thing: Thing; state: State }>();
  const enter = (thing: Thing, state: State): void => {
    const key = `${thing.kind} ${thing.name}`;
    const known = things.get(key);
    if (known === undefined || known.state === 'planned') things.set(key, { thing, state });
  };
  const sending: Cleanup['sending'] = (request) => {
    const values = valuesOf(request);
    const named = [...things.values()].filter(({ thing, state }) => state === 'planned' && values.has(thing.name));
    for (const entry of named) entry.state = 'sent';
    return ({ status }) => {
      for (const entry of named) {
        if (entry.state === 'sent' && status < 500) entry.state = status < 300 ? 'made' : 'planned';
      }
    };
  };
  return {
    plan: (thing) => enter(thing, 'planned'),
    add: (thing) => enter(thing, 'made'),
    sending,
    remove: async (wire) => {
      const left: Thing[] = [];
      for (const { thing, state } of [...things.values()].toReversed()) {
        if (state !== 'planned' && !(await tryRemove(wire, thing))) left.push(thing);
      }
      return left;
    },
  };
};
