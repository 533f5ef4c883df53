/** Access that Studio writes into the text of a policy: what it grants, what it restricts, and what it leaves alone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { policyAccessCommand } from '../../src/gateway/policy-tools/access-command.js';
import type { Refusal } from '../../src/model/refusal.js';

const starter = `# Who sees what.
version: 1
dataApp: shop
workspace: none # until there is one
datamart: none
session:
  claims: { org: string, roles: list<string> }
  tenant: claims.org
  roles: claims.roles
templates: {}
rules: [] # every rule adds
`;
const access = {
  ...{ template: 'overview', name: 'Overview', workspace: 'help desk', datamart: 'help desk' },
  viewers: [
    { role: null, restriction: null },
    { role: 'head', restriction: { filter: 'Department', hidden: ['Revenue: all', "It's"] } },
  ],
};
const load = (text: string) => loadPolicy(text, '/p/policy.yaml');
type Written = {
  readonly text: string;
  readonly claims: readonly { readonly filter: string; readonly claim: string }[];
};
const written = async (text: string, given: object = access): Promise<Written> =>
  (await policyAccessCommand({ current: () => load(text) }).run(given)) as Written;
const sessionOf = (claims: Record<string, unknown>): Session => ({
  ...{ issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null },
  claims: { org: 'LAX', roles: [], ...claims },
});
/** What the user may open, and what the user is restricted to. */
const decide = (text: string, claims: Record<string, unknown>) => {
  const grant = createPolicyStep({ now: () => new Date(0) })(load(text), sessionOf(claims), 'LAX', {});
  const { dashboardFilters, hideMetrics } = grant.restriction;
  return {
    templates: grant.templates.map(({ template }) => template),
    filters: Object.fromEntries(dashboardFilters),
    hidden: Object.fromEntries(hideMetrics),
  };
};
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Refusal).code;
  }
  return 'OK';
};

describe('access that is written into a policy', () => {
  test('each filter has a claim of its own, whatever its letters, and keeps it in a second draft', async () => {
    const viewer = (filter: string) => ({ role: 'head', restriction: { filter, hidden: [] } });
    const given = { ...access, viewers: ['Регион', '部門', 'Region', 'region!'].map(viewer) };
    const first = await written(starter, given);
    const names = first.claims.map(({ claim }) => claim);
    expect(new Set(names).size).toBe(4);
    expect(names).toContain('region');
    const claims = { roles: ['head'], ...Object.fromEntries(names.map((name) => [name, name.toUpperCase()])) };
    const { filters } = decide(first.text, claims);
    expect(filters).toEqual(Object.fromEntries(first.claims.map(({ filter, claim }) => [filter, claim.toUpperCase()])));
    expect((await written(first.text, given)).claims).toEqual(first.claims);
    expect((await written(first.text, { ...given, viewers: [viewer('Отдел')] })).claims).not.toContainEqual(
      expect.objectContaining({ claim: first.claims[0]?.claim }),
    );
  });

  test('users see the dashboard, and a restricted role the rows of its department alone', async () => {
    const { text, claims } = await written(starter);
    expect(claims).toEqual([{ filter: 'Department', claim: 'department' }]);
    expect(decide(text, {})).toEqual({ templates: ['overview'], filters: {}, hidden: {} });
    expect(decide(text, { roles: ['head'], department: 'Billing' })).toEqual({
      templates: ['overview'],
      filters: { Department: 'Billing' },
      hidden: { overview: ["It's", 'Revenue: all'] },
    });
    expect(codeOf(() => decide(text, { roles: ['head'] }))).toBe('POLICY_UNDECIDED');
  });

  test('without everybody, only the named roles see the dashboard', async () => {
    const viewers = ['head', 'clerk'].map((role) => ({ role, restriction: null }));
    const { text } = await written(starter, { ...access, viewers });
    expect(decide(text, { roles: ['clerk'] }).templates).toEqual(['overview']);
    expect(codeOf(() => decide(text, { roles: ['other'] }))).not.toBe('OK');
  });

  test('comments stay, and a second draft of the same access changes nothing', async () => {
    const { text } = await written(starter);
    for (const note of ['# Who sees what.', '# until there is one', '# every rule adds']) expect(text).toContain(note);
    expect((await written(text)).text).toBe(text);
  });

  test('rules and restrictions that are there stay, for whatever roles and names are added', async () => {
    const first = (await written(starter)).text;
    const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 :#{}'&*!|>%@-]{0,20}[A-Za-z0-9]$/);
    await fc.assert(
      fc.asyncProperty(word, word, fc.array(word, { maxLength: 3 }), async (role, filter, hidden) => {
        const viewers = [{ role, restriction: { filter, hidden } }];
        const { text, claims } = await written(first, { ...access, template: 'second', name: filter, viewers });
        const [before, after] = [load(first), load(text)];
        expect([...after.templates.keys()]).toEqual(['overview', 'second']);
        for (const list of ['rules', 'restrictions'] as const) {
          const names = after[list].map((one) => one.name);
          expect(names).toEqual(expect.arrayContaining(before[list].map((one) => one.name)));
        }
        const session = { roles: [role], department: 'D', [claims[0]?.claim ?? '']: 'mine' };
        expect(decide(text, session).filters).toMatchObject({ [filter]: 'mine' });
      }),
      { numRuns: 60 },
    );
  });

  test('cards that are hidden from a restricted role stay hidden when a second dashboard is opened to it', async () => {
    const cards = fc.uniqueArray(fc.constantFrom('Revenue', 'Payments', 'Visits'), { maxLength: 3 });
    const role = fc.constantFrom('head', null);
    await fc.assert(
      fc.asyncProperty(role, cards, cards, cards, async (of, first, second, more) => {
        const viewerOf = (hidden: readonly string[]) => ({ role: of, restriction: { filter: 'Department', hidden } });
        const { text } = await written(starter, { ...access, viewers: [viewerOf(first)] });
        const beside = { ...access, template: 'second', viewers: [viewerOf(second), viewerOf(more)] };
        const { hidden } = decide((await written(text, beside)).text, { roles: ['head'], department: 'Billing' });
        const both = [...new Set([...second, ...more])];
        expect(hidden).toEqual({
          ...(first.length === 0 ? {} : { overview: first.toSorted() }),
          ...(both.length === 0 ? {} : { second: both.toSorted() }),
        });
      }),
      { numRuns: 60 },
    );
  });

  test('what somebody added to a restriction stays when a second dashboard is opened to its role', async () => {
    const first = (await written(starter)).text;
    const viewers = [{ role: 'head', restriction: { filter: 'Department', hidden: [] } }];
    const second = { ...access, template: 'second', viewers };
    const whenHead = /when: .?"head" in user.roles.*$/m;
    const wider = first.replace(whenHead, `when: '"head" in user.roles || "deputy" in user.roles'`);
    const deputy = decide((await written(wider, second)).text, { roles: ['deputy'], department: 'Billing' });
    expect(deputy.filters).toEqual({ Department: 'Billing' });
    const narrower = first.replace(whenHead, `when: '"head" in user.roles && "deputy" in user.roles'`);
    const head = decide((await written(narrower, second)).text, { roles: ['head'], department: 'Billing' });
    expect(head.filters).toEqual({ Department: 'Billing' });
    const masked = first.replace(/( +)dashboardFilters:/, '$1hideColumns: [main.people.salary]\n$&');
    const after = (await written(masked, second)).text;
    expect(load(after).restrictions.flatMap(({ restrict }) => restrict.hideColumns)).toEqual(['main.people.salary']);
    expect(decide(after, { roles: ['head'], department: 'Billing' }).filters).toEqual({ Department: 'Billing' });
  });

  test('the claim of the tenant and of the roles is never what a restriction compares with', async () => {
    const viewers = [{ role: 'head', restriction: { filter: 'Org', hidden: [] } }];
    expect((await written(starter, { ...access, viewers })).claims).toEqual([{ filter: 'Org', claim: 'user_org' }]);
  });

  test('a policy with dashboards of another workspace is left alone, and the refusal names it', async () => {
    const { text } = await written(starter);
    const elsewhere = { ...access, workspace: 'fleet' };
    const message = expect.stringContaining('"help desk"');
    await expect(written(text, elsewhere)).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message });
  });
});
