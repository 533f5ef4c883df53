/** How Studio's form of a user takes the claims that the policy declares. */
import { expect, it } from 'vitest';
import { claimOf, textOfClaim } from '../../src/web/studio/base/typed-claim.js';

it.each([
  ['LAX', 'string', 'LAX'],
  [' 7 ', 'int', 7],
  ['true', 'bool', true],
  ['a, b,', 'list<string>', ['a', 'b']],
  ['a, b', 'string | list<string>', ['a', 'b']],
  ['{"id":"org_1","rol":"admin"}', '{ id: string, rol: string }', { id: 'org_1', rol: 'admin' }],
  ['{"acme":{}}', 'map<string, {}>', { acme: {} }],
  ['[{"id":"a"}]', 'list<{ id: string }>', [{ id: 'a' }]],
  ['[1,2]', 'list<int>', [1, 2]],
  ['  ', '{ id: string }', undefined],
])('the text %j of a claim of type %s is a value, and the value is shown as a text again', (text, type, value) => {
  expect(claimOf(text, type)).toEqual(value);
  expect(claimOf(textOfClaim(value, type), type)).toEqual(value);
});

it('a text that is no JSON is told, where the type needs JSON', () => {
  expect(() => claimOf('org_1', '{ id: string }')).toThrow(SyntaxError);
});
