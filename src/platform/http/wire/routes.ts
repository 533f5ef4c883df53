import { Refusal } from '../../../model/refusal.js';
import type { Binding, Operation, RequestParts } from '../interface/operation.js';

export type Route = { readonly operation: Operation; readonly binding: Binding<unknown, unknown> };
/** A route and the path's parameters, still percent-encoded. */
export type Match = Route & { readonly params: Readonly<Record<string, string>> };
/** The bindings of one method and path. Those with a condition come first. */
export type Found = { readonly matches: readonly Match[] };
export type Find = (method: string, path: string) => Found | { readonly allowed: readonly string[] } | undefined;

type Pattern = { readonly segments: readonly string[]; readonly routes: readonly Route[] };

const parameterName = (segment: string): string | undefined => /^\{(\w+)\}$/.exec(segment)?.[1];

/** A parameter matches one segment that is not empty; all other segments must be equal. */
const match = (segments: readonly string[], given: readonly string[]): Record<string, string> | undefined => {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    const name = parameterName(segment);
    if (name === undefined ? segment !== value : value === '') return undefined;
    if (name !== undefined) params[name] = value;
  }
  return params;
};

const toPatterns = (operations: readonly Operation[]): readonly Pattern[] => {
  const byPath = new Map<string, Route[]>();
  for (const operation of operations) {
    for (const binding of operation.bindings) {
      byPath.set(binding.path, [...(byPath.get(binding.path) ?? []), { operation, binding }]);
    }
  }
  const patterns = [...byPath].map(([path, routes]) => ({
    segments: path.split('/'),
    // Bindings with a condition come first.
    routes: routes.toSorted((a, b) => Number(a.binding.when === undefined) - Number(b.binding.when === undefined)),
  }));
  // A literal path comes before a path with a parameter at the same position.
  return patterns.toSorted((a, b) => countParameters(a) - countParameters(b));
};

const countParameters = ({ segments }: Pattern): number =>
  segments.filter((segment) => parameterName(segment) !== undefined).length;

/**
 * Finds the bindings of a request; for a known path with another method, the allowed methods. A path may match several
 * patterns (`metrics/preview` and `metrics/{metricId}`): the first one that has the method is used.
 */
export const createRoutes = (operations: readonly Operation[]): Find => {
  const patterns = toPatterns(operations);
  return (method, path) => {
    const given = path.split('/');
    const allowed = new Set<string>();
    for (const { segments, routes } of patterns) {
      const params = segments.length === given.length ? match(segments, given) : undefined;
      if (params === undefined) continue;
      const matches = routes.flatMap((route) => (route.binding.method === method ? [{ ...route, params }] : []));
      if (matches.length > 0) return { matches };
      for (const { binding } of routes) allowed.add(binding.method);
    }
    return allowed.size === 0 ? undefined : { allowed: [...allowed] };
  };
};

/**
 * Returns the binding to authenticate with before the body is read. All bindings of one method and path accept the same
 * credentials; a test verifies that.
 */
export const withoutCondition = ({ matches }: Found): Match => {
  const match = matches.at(-1);
  if (match === undefined) throw new Error('a path was found without a binding');
  return match;
};

/** Returns the first binding whose condition is true. Needs the body. */
export const choose = (found: Found, parts: RequestParts): Match =>
  found.matches.find(({ binding }) => binding.when?.(parts) ?? true) ?? withoutCondition(found);

/** Decodes the path's parameters. Throws INVALID_REQUEST_BODY for an invalid percent-encoding. */
export const decodeParams = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch (cause) {
        throw new Refusal('INVALID_REQUEST_BODY', `${name}: the path is not valid percent-encoding.`, { cause });
      }
    }),
  );
