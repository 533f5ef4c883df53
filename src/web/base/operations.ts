/** Operations of the service, as the browser calls them: with the types of their declaration, by a table of routes. */
import type { OperationAnswer, OperationInput, Operations } from '../../service/operations.js';

export type { OperationAnswer, OperationInput };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Where operations are, below the path that all of them have. A test compares each with its declaration. */
export type Routes = { readonly [Name in keyof Operations]?: `${Method} ${string}` };

type GuestRoutes = typeof import('./guest-operations.js');
export type GuestRoute = GuestRoutes[keyof GuestRoutes];
type Named<Route> = { [Name in keyof GuestRoutes]: GuestRoutes[Name] extends Route ? Name : never }[keyof GuestRoutes];
/** Elements build these of what the service offered, in types of the domain, which are wider. The service checks them. */
type Built = 'definition' | 'dashboardFilter' | 'turns';
export type GuestInput<Route, Input = OperationInput<Named<Route>>> = {
  readonly [Field in keyof Input]: Field extends Built ? unknown : Input[Field];
};
export type GuestData<Route> = OperationAnswer<Named<Route>> extends { readonly data: infer Data } ? Data : never;

/** Calls an operation as the guest. Returns the answer's `data`. */
export type CallAsGuest = <Route extends GuestRoute>(
  route: Route,
  input: GuestInput<Route>,
  signal: AbortSignal,
) => Promise<GuestData<Route>>;
/** Calls an operation of one dashboard. */
export type CallOnDashboard = <Route extends GuestRoute>(
  route: Route,
  input: Omit<GuestInput<Route>, 'dashboardId'>,
  signal: AbortSignal,
) => Promise<GuestData<Route>>;

type Request = { readonly method: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** The request of an input: its fields are in the path, and the others in the body or, without one, in the query. */
export const requestOf = (route: string, input: object): { readonly path: string; readonly init: Request } => {
  const [method = '', template = ''] = route.split(' ');
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields.get(name);
    fields.delete(name);
    return encodeURIComponent(value);
  });
  const rest = Object.fromEntries(fields);
  if (method.startsWith('P'))
    return { path, init: { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(rest) } };
  return { path: fields.size === 0 ? path : `${path}?${new URLSearchParams(rest)}`, init: { method } };
};
