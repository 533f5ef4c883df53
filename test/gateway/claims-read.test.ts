/** Which claims of an expression a source of claims never gives. */
import { describe, expect, it } from 'vitest';
import { missingClaims } from '../../src/gateway/policy/claims-read.js';

const given = [
  { path: ['org_id'], isOpen: false },
  { path: ['o', 'id'], isOpen: false },
  { path: ['own'], isOpen: true },
];

describe('the claims that are never given', () => {
  it.each([
    ['claims.org_id', []],
    ['claims.region', ['claims.region']],
    ['claims.o.id', []],
    ['claims["o"]["id"]', []],
    ['claims.o', []],
    ['claims.o.rol', ['claims.o.rol']],
    ['claims.own.anything[0]', []],
    ['claims["https://example.com/org"].id', ['claims.https://example.com/org.id']],
    ['claims.region + claims.org_id + claims.level', ['claims.region', 'claims.level']],
    ['has(claims.region) ? claims.region : claims.org_id', []],
    ['has(claims.org_id) ? claims.org_id : claims.region', []],
    ['has(claims.o) ? claims.o.id : claims.org_id', []],
    ['!has(claims.region) ? claims.org_id : claims.region', []],
    ['has(claims.region) ? claims.org_id : claims.states[0]', ['claims.states']],
    ['has(claims.region) && claims.region == "a" ? "a" : claims.org_id', []],
    ['!has(claims.region) || claims.region == "a" ? claims.org_id : "b"', []],
    ['claims.org_id == "a" ? claims.region : "b"', ['claims.region']],
    ['has(claims.own.x) ? claims.region : claims.org_id', ['claims.region']],
    ['claims.states.map(s, s + claims.level)', ['claims.states', 'claims.level']],
    ['["a"].map(x, x + claims.org_id)', []],
  ])('the claims that are never given of %s are %j', (source, missing) => {
    expect(missingClaims(source, given)).toEqual(missing);
  });
});
