/** Rules that every answer must fulfil, whatever the request. */

import type { Binding, Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';

export type Answered = {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly durationInMs: number;
};

/** The routes of a method and a path; several if bindings share them. */
type Route = { readonly operation: Operation; readonly binding: Binding<unknown, unknown> };

const routes: readonly Route[] = Object.values<Operation>(operations).flatMap((operation) =>
  operation.bindings.map((binding) => ({ operation, binding })),
);

const matches = (pattern: string, path: string): boolean => {
  const [given, wanted] = [path.split('/'), pattern.split('/')];
  return (
    given.length === wanted.length &&
    wanted.every((segment, index) => segment === given[index] || (segment.startsWith('{') && given[index] !== ''))
  );
};

const routesOf = (method: string, path: string): readonly Route[] =>
  routes.filter(({ binding }) => binding.method === method && matches(binding.path, path));

const slowestInMs = 10_000;

/** Codes of the router itself. */
const routerCodes: Readonly<Record<number, string>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'INVALID_REQUEST_BODY',
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const judgeSuccess = ({ contentType, text }: Answered, found: readonly Route[]): string | undefined => {
  const isFitting = found.some(({ operation, binding }) => {
    if (!contentType.startsWith(operation.contentType)) return false;
    const body = operation.contentType.includes('json') ? parse(text) : text;
    return (binding.output ?? operation.output).safeParse(body).success;
  });
  return isFitting ? undefined : `a 200 of another shape: ${text.slice(0, 300)}`;
};

const judgeRefusal = ({ status, text }: Answered, found: readonly Route[]): string | undefined => {
  const body = parse(text);
  const error = isObject(body) && isObject(body.error) ? body.error : undefined;
  const { code, message } = error ?? {};
  if (typeof code !== 'string' || typeof message !== 'string' || message === '' || error?.status !== status) {
    return `no envelope: ${text.slice(0, 300)}`;
  }
  if (Object.keys(error).length !== 3 || Object.keys(body ?? {}).length !== 1)
    return `more than the envelope: ${text.slice(0, 300)}`;
  // The body is read before the path is routed.
  if (found.length === 0 && status === 400 && code === 'INVALID_REQUEST_BODY') return undefined;
  if (routerCodes[status] === code && (status !== 404 || found.length === 0)) return undefined;
  const isDeclared = found.some(({ operation }) =>
    Object.entries(operation.errors).some(([name, at]) => name === code && at === status),
  );
  return isDeclared ? undefined : `${status} ${code} is not declared`;
};

/** What is wrong with an answer, or undefined. `path` is as sent, without the query. */
export const judge = (
  method: string,
  path: string,
  answer: Answered,
  secrets: Iterable<string>,
): string | undefined => {
  const { status, text, durationInMs } = answer;
  if (status >= 500) return `a failure of ours: ${status} ${text.slice(0, 300)}`;
  if (durationInMs > slowestInMs) return `it took ${Math.round(durationInMs)} ms`;
  const found = routesOf(method, path);
  // The answer to a preflight has no body.
  if (method === 'OPTIONS' && status === 204) return undefined;
  if (status === 200) return judgeSuccess(answer, found);
  for (const secret of secrets) if (text.includes(secret)) return `the error shows a secret: ${text.slice(0, 300)}`;
  return judgeRefusal(answer, found);
};
