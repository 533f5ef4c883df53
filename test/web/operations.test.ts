/** The browser calls operations by tables of its own, which hold no code of the declarations. Both say the same. */
import { expect, test } from 'vitest';
import { operations } from '../../src/service/operations.js';
import * as guestOperations from '../../src/web/base/guest-operations.js';
import { requestOf } from '../../src/web/base/operations.js';
import { routes } from '../../src/web/studio/base/operations.js';

type Name = keyof typeof operations;
const names = Object.keys(routes) as (keyof typeof routes)[];

/** The bindings of an operation, each as a table has it, with the place of its fields. */
const declared = (name: Name, below: string): readonly (readonly [string, boolean])[] =>
  operations[name].bindings
    .filter(({ isLegacy }) => isLegacy !== true)
    .map(({ method, path, from }) => [`${method} ${path.replace(below, '')}`, from === 'body']);

const expected = (route: string) => [route, /^(?:POST|PUT) /.test(route)];

test.each(names)('Studio calls %s by a binding of its declaration', (name) => {
  expect(declared(name, '/api/v2/')).toContainEqual(expected(routes[name]));
});

test.each(Object.entries(guestOperations))('elements call %s by a binding of its declaration', (name, route) => {
  expect(declared(name as Name, '/api/v2/guest/')).toContainEqual(expected(route));
});

test.each(names)('Studio has a role that may call %s', (name) => {
  expect(operations[name].roles).not.toEqual([]);
  expect(operations[name].roles).toBeDefined();
});

test('fields of a path are not sent a second time', () => {
  const given = { metricId: 'a/b', name: 'Flights', digest: undefined };
  expect(requestOf('PUT metrics/{metricId}', given)).toEqual({
    path: 'metrics/a%2Fb',
    init: { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"name":"Flights"}' },
  });
});

test('a request without a body has its fields in the query', () => {
  const given = { id: 'x', viewId: 'a&b', isWhole: false, left: undefined };
  expect(requestOf('DELETE boards/{id}/views', given)).toEqual({
    path: 'boards/x/views?viewId=a%26b&isWhole=false',
    init: { method: 'DELETE' },
  });
});
