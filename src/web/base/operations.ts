/** Operations of the service, as the browser calls them: with the types of their declaration, by a table of routes. */
import type { OperationAnswer, OperationInput, Operations } from '../../compose/operations.js';

export type { OperationAnswer, OperationInput };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Where operations are, below the path that all of them have. A test compares each with its declaration. */
export type Routes = { readonly [Name in keyof Operations]?: `${Method} ${string}` };

/** The request of an input: its fields are in the path, and the others in the body or, without one, in the query. */
export const requestOf = (route: string, input: object): { readonly path: string; readonly init: RequestInit } => {
  const [method = '', template = ''] = route.split(' ');
  const fields = new Map<string, unknown>(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(fields.get(name));
    fields.delete(name);
    return encodeURIComponent(value);
  });
  if (method === 'POST' || method === 'PUT') {
    const headers = { 'content-type': 'application/json' };
    return { path, init: { method, headers, body: JSON.stringify(Object.fromEntries(fields)) } };
  }
  const search = new URLSearchParams(Array.from(fields, ([name, value]) => [name, String(value)] as [string, string]));
  return { path: search.size === 0 ? path : `${path}?${search}`, init: { method } };
};
