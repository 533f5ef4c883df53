/** Why a user sees what it sees, in the sentences of Studio; and what became of reports, in words. */
import { expect, test } from 'vitest';
import { outcomesText, outcomeWords } from '../../src/web/studio/base/delivery-reasons.js';
import { type Explanation, policySentences } from '../../src/web/studio/base/policy-words.js';

const at = (line: number): string => `/srv/config/flights.yaml:${line}:11`;
const examined = { when: '', fault: null, terms: [] };
const from = (name: string) => [{ name, at: at(1), says: null, counts: true }];

const explanation: Explanation = {
  ...{ answer: null, now: '', user: 'marcus', notes: [], denial: null, request: null, metrics: 'not needed' },
  policy: { file: 'flights.yaml', digest: '' },
  tenant: { clientId: 'LAX', expression: 'claims.org_id', at: at(36) },
  roles: ['manager'],
  rolesFrom: { expression: 'claims.roles', at: at(37) },
  rules: [
    { ...examined, name: 'managers see delays', at: at(55), result: 'matches' },
    { ...examined, name: 'heads see routes', at: at(60), result: 'does not match' },
  ],
  restrictions: [{ ...examined, name: 'own state', at: at(70), result: 'matches' }],
  fields: [
    { field: 'templates', value: 'delays', from: from('managers see delays') },
    { field: 'dashboardFilters.State', value: ['CA', 'NV'], from: from('own state') },
    { field: 'hideMetrics', value: 'Costs', from: from('own state') },
  ],
  cards: [],
};
const marcus = {
  name: 'Marcus',
  claims: { sub: 'marcus', org_id: 'LAX', roles: ['manager'] },
  tenant: 'Los Angeles (LAX)',
};

test('the sentences say what the user sees, and name the claim and the line of each reason', () => {
  expect(policySentences(explanation, marcus)).toEqual([
    'Marcus sees “delays”.',
    'Marcus belongs to Los Angeles (LAX) because the claim “org_id” is “LAX” (flights.yaml, line 36).',
    'Marcus has the role “manager” because the claim “roles” has “manager” (flights.yaml, line 37).',
    '“managers see delays” opens “delays” (flights.yaml, line 55).',
    '“own state” shows only rows whose “State” is “CA” and “NV” and hides “Costs” (flights.yaml, line 70).',
  ]);
});

test('a role of a single claim is said as its value, and one that no claim has as what the policy reads', () => {
  const single = { ...marcus, claims: { ...marcus.claims, roles: 'manager' } };
  expect(policySentences(explanation, single)[2]).toContain('the claim “roles” is “manager”');
  const computed = { ...marcus, claims: { sub: 'marcus', org_id: 'SFO' } };
  expect(policySentences(explanation, computed).slice(1, 3)).toEqual([
    'Marcus belongs to Los Angeles (LAX) by the policy’s rule for tenants (flights.yaml, line 36).',
    'Marcus has the role “manager” as the policy reads roles (flights.yaml, line 37).',
  ]);
});

test('a user who is denied sees nothing, and the sentence has the reason', () => {
  const denial = { code: 'NO_POLICY', message: 'No rule grants anything.', reason: '', fault: null };
  const nothing = { ...explanation, denial, fields: [], rules: [], restrictions: [], roles: [] };
  expect(policySentences(nothing, marcus)).toEqual([
    'Marcus sees nothing. No rule grants anything.',
    expect.stringContaining('belongs to'),
    'Marcus has no role (flights.yaml, line 37).',
  ]);
  const answer = { code: 'TENANT_SUSPENDED', meaning: 'The tenant is suspended.', fix: 'Resume it.' };
  expect(policySentences({ ...explanation, answer }, marcus)[0]).toBe(
    'Marcus sees nothing. The tenant is suspended. Resume it.',
  );
});

test('a restriction that cannot be decided closes all, and is said so', () => {
  const restrictions = [{ ...examined, name: 'own state', at: at(70), result: 'undecided' as const }];
  expect(policySentences({ ...explanation, restrictions }, marcus).at(-1)).toBe(
    '“own state” cannot be decided for this user (flights.yaml, line 70), so nothing is shown.',
  );
});

test('outcomes of reports are said in words, and those of one meaning are added up', () => {
  expect(outcomesText({ sent: 40, shared: 1, skipped: 2, failed: 1 })).toBe('41 sent, 2 left out, 1 not sent');
  expect(outcomesText({})).toBe('');
  expect(outcomeWords('unheard')).toEqual(['unheard', 'plain']);
});
