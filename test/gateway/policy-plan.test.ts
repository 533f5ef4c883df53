import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { isStopped, pairPolicies, planPolicies, writePlan } from '../../src/gateway/policy-tools/plan.js';
import { readSample, type SampleUser } from '../../src/gateway/policy-tools/sample.js';
import { policyOf } from './policies.js';
import {
  bodyOf,
  type Condition,
  changedPolicy,
  claimsOf,
  columns,
  documentOf,
  expiries,
  filterNames,
  metrics,
  type PolicyModel,
  permissions,
  regions,
  templates,
  type UserModel,
  user,
  type Value,
} from './policy-models.js';

const now = new Date('2026-03-04T05:06:07Z');
const load = (model: PolicyModel): Policy => loadPolicy(JSON.stringify(documentOf(model)), 'p.yaml');

/** Everything that a user may do, one key for each permission; or the reason of the denial. */
type Seen = { readonly may: ReadonlyMap<string, ReadonlySet<string>>; readonly timezone: string | null };
type Outcome = Seen | { readonly denied: string };

const holds = (when: Condition, who: UserModel, tenant: string): boolean | 'undecided' => {
  if (when.by === 'always') return true;
  if (when.by === 'role') return who.roles.includes(when.role);
  if (when.by === 'tenant') return when.tenant === tenant;
  return who.region === null ? 'undecided' : who.region === when.region;
};

/** Asks for each permission whether this user has it. */
const bruteForce = (policy: PolicyModel, who: UserModel): Outcome => {
  const tenant = policy.tenant === 'ATL' ? 'ATL' : who.org;
  const undecided = { denied: 'POLICY_UNDECIDED' };
  const isUndecided = ({ when }: { readonly when: Condition }) => holds(when, who, tenant) === 'undecided';
  const applies = ({ when }: { readonly when: Condition }) => holds(when, who, tenant) === true;
  if (policy.rules.some(isUndecided)) return undecided;
  const rules = policy.rules.filter(applies);
  if (rules.length === 0) return { denied: 'NO_POLICY' };
  if (policy.restrictions.some(isUndecided)) return undecided;
  const restrictions = policy.restrictions.filter(applies);

  const may = new Map<string, ReadonlySet<string>>();
  const universe = [...regions, 'elsewhere'];
  const admits = (value: Value | undefined, place: string): boolean =>
    value === undefined || (value === 'the region' ? who.region === place : value.list.includes(place));
  for (const field of ['dashboardFilters', 'rls', 'appFilters'] as const) {
    for (const name of filterNames) {
      const own = restrictions.map((restriction) => restriction[field][name]);
      if (own.includes('the region') && who.region === null) return undecided;
      const left = universe.filter((place) => own.every((value) => admits(value, place)));
      if (left.length === 0) return undecided;
      may.set(`${field}.${name}`, new Set(left));
    }
  }
  const granted = templates.filter((name) => rules.some((rule) => rule.templates.includes(name)));
  const asked = who.embeds ?? granted;
  if (asked.some((name) => !granted.includes(name))) return { denied: 'EMBED_NOT_GRANTED' };
  may.set('tenant', new Set([tenant]));
  may.set('embeds', new Set(asked.map((name) => `${name} of ${tenant}`)));
  may.set('permissions', new Set(permissions.filter((name) => rules.some((rule) => rule.permissions.includes(name)))));
  const open = columns.filter((name) => rules.some((rule) => rule.columns.includes(name)));
  may.set('accessPermissions', new Set(open.length === 0 ? [] : ['filter', ...open]));
  const shortest = (minutes: number) => rules.every((rule) => minutes <= (rule.expiryMinutes ?? policy.expiryMinutes));
  may.set('expiryMinutes', new Set(expiries.filter(shortest).map(String)));
  const shown = filterNames.filter((name) => !restrictions.some((each) => each.hideDashboardFilters.includes(name)));
  may.set('hideDashboardFilters', new Set(shown));
  for (const template of asked) {
    const seen = metrics.filter((name) => !restrictions.some((each) => each.hideMetrics[template]?.includes(name)));
    may.set(`hideMetrics.${template}`, new Set(seen));
  }
  const isOpen = !restrictions.some((each) => each.isDisableMetricCreation);
  may.set('isDisableMetricCreation', new Set(isOpen ? ['make metrics'] : []));
  return { may, timezone: rules.find((rule) => rule.timezone !== null)?.timezone ?? null };
};

const effectOf = (gains: boolean, loses: boolean): string | null => {
  if (gains) return loses ? 'both' : 'gain';
  return loses ? 'loss' : null;
};

const nothing: ReadonlySet<string> = new Set();
const isMore = (more: ReadonlySet<string> = nothing, than: ReadonlySet<string> = nothing) =>
  [...more].some((thing) => !than.has(thing));

/** Returns, for each field, who gained and who lost something. */
const wantedFields = (old: Seen, after: Seen): Record<string, string> => {
  const fields = [...new Set([...old.may.keys(), ...after.may.keys()])]
    // A template that only one side has is gained or lost as a whole.
    .filter((field) => !field.startsWith('hideMetrics.') || (old.may.has(field) && after.may.has(field)));
  const effects = fields.flatMap((field): [string, string][] => {
    const [was, is] = [old.may.get(field), after.may.get(field)];
    const effect = effectOf(isMore(is, was), isMore(was, is));
    return effect === null ? [] : [[field, effect]];
  });
  return Object.fromEntries(old.timezone === after.timezone ? effects : [...effects, ['timezone', 'other']]);
};

const has = (fields: Record<string, string>, wanted: string): boolean =>
  Object.values(fields).some((effect) => effect === wanted || effect === 'both');

const wantedOf = (old: Outcome, after: Outcome): { effect: string; fields: Record<string, string> } | null => {
  if ('denied' in old && 'denied' in after) {
    return old.denied === after.denied ? null : { effect: 'other', fields: { access: 'other' } };
  }
  if ('denied' in old || 'denied' in after) {
    const [effect, seen] = 'denied' in old ? ['gain', after as Seen] : ['loss', old as Seen];
    const sets = ['embeds', 'permissions', 'accessPermissions'].filter((field) => (seen.may.get(field)?.size ?? 0) > 0);
    return { effect, fields: Object.fromEntries(['access', ...sets].map((field) => [field, effect])) };
  }
  const fields = wantedFields(old, after);
  if (Object.keys(fields).length === 0) return null;
  return { effect: effectOf(has(fields, 'gain'), has(fields, 'loss')) ?? 'other', fields };
};

const sampleOf = (all: readonly UserModel[]): readonly SampleUser[] =>
  all.map((each, index) => ({ line: index + 1, user: 'ann', claims: claimsOf(each), body: bodyOf(each), now }));

describe('a plan', () => {
  it('equals the result of brute force, for any two policies and any users', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(changedPolicy, fc.array(user, { minLength: 1, maxLength: 4 }), async ([old, after], users) => {
        const plan = await planPolicies([{ name: 'p', old: load(old), new: load(after) }], sampleOf(users));
        users.forEach((who, index) => {
          const before = bruteForce(old, who);
          const wanted = wantedOf(before, bruteForce(after, who));
          const planned = plan.changed.find(({ line }) => line === index + 1);
          seen.set(wanted?.effect ?? 'none', (seen.get(wanted?.effect ?? 'none') ?? 0) + 1);
          if (wanted === null) {
            // A filter value and a list of this one value select the same rows, but the requests differ.
            expect(planned?.effect ?? 'other').toBe('other');
            expect(
              (planned?.changes ?? []).every(({ field }) => /^(dashboardFilters|rls|appFilters)\./.test(field)),
            ).toBe(true);
            return;
          }
          expect(planned?.effect).toBe(wanted.effect);
          const isDenied = Object.hasOwn(wanted.fields, 'access');
          const told = (planned?.changes ?? []).filter(
            ({ field, effect }) => effect !== 'other' || (isDenied ? field === 'access' : field === 'timezone'),
          );
          expect(Object.fromEntries(told.map(({ field, effect }) => [field, effect]))).toEqual(wanted.fields);
        });
        expect(plan.counts.users).toBe(users.length);
        expect(plan.counts.unchanged + plan.changed.length).toBe(users.length);
      }),
      { seed: 20_261_121, numRuns: 120 },
    );
    // Asserts that each kind of change occurred often enough.
    for (const effect of ['none', 'gain', 'loss', 'both', 'other'])
      expect(seen.get(effect), effect).toBeGreaterThan(10);
  });
});

const grant = (...names: string[]) => ({ templates: names });
const rules = (...list: object[]) => ({
  rules: list.map((rule, index) => ({ name: `rule ${index}`, when: 'true', grant: grant('delays'), ...rule })),
});
const restrict = (...list: object[]) => ({
  restrictions: list.map((restriction, index) => ({
    name: `restriction ${index}`,
    when: 'true',
    restrict: restriction,
  })),
});
const ann: SampleUser = { line: 1, user: 'ann', claims: { sub: 'ann', org_id: 'LAX' }, body: {}, now };
const planOf = (old: object, after: object, of: readonly SampleUser[] = [ann]) =>
  planPolicies([{ name: 'p', old: policyOf(old), new: policyOf(after) }], of);
const fieldsOf = async (old: object, after: object) =>
  (await planOf(old, after)).changed.flatMap(({ changes }) => changes.map((change) => Object.values(change)));

describe('what a user gains and loses', () => {
  it('is everything, for a user who becomes denied', async () => {
    const plan = await planOf(
      rules({ grant: { ...grant('delays', 'routes'), permissions: ['isShowSideBar'] } }),
      rules({ when: 'false' }),
    );
    expect(plan.changed).toMatchObject([{ line: 1, user: 'ann', tenant: 'LAX', effect: 'loss' }]);
    expect(plan.changed[0]?.changes).toEqual([
      { field: 'access', effect: 'loss', old: 'granted', new: 'denied NO_POLICY' },
      { field: 'embeds', effect: 'loss', old: 'delays--LAX, routes--LAX', new: 'none' },
      { field: 'permissions', effect: 'loss', old: 'isShowSideBar', new: 'none' },
    ]);
  });

  it.each([
    ['a filter that goes missing', { rls: { v: '"a"' } }, undefined, 'gain'],
    ['a filter that is new', undefined, { rls: { v: '"a"' } }, 'loss'],
    ['a value more', { rls: { v: '["a"]' } }, { rls: { v: '["a", "b"]' } }, 'gain'],
    ['a value less', { rls: { v: '["a", "b"]' } }, { rls: { v: '["b"]' } }, 'loss'],
    ['another value', { rls: { v: '"a"' } }, { rls: { v: '"b"' } }, 'both'],
    ['the text of a number', { rls: { v: '1' } }, { rls: { v: '"1"' } }, 'both'],
    ['the same value as a list', { rls: { v: '"a"' } }, { rls: { v: '["a"]' } }, 'other'],
    ['a filter that is hidden', { hideDashboardFilters: ['a'] }, { hideDashboardFilters: ['a', 'b'] }, 'loss'],
    [
      'a metric that is shown again',
      { hideMetrics: { delays: ['m', 'n'] } },
      { hideMetrics: { delays: ['m'] } },
      'gain',
    ],
    ['a metric of a template that nobody has', undefined, { hideMetrics: { routes: ['m'] } }, null],
    ['a name in other letters', { appFilters: { State: '"a"' } }, { appFilters: { state: '"a"' } }, null],
    ['an RLS variable in other letters', { rls: { State: '"a"' } }, { rls: { state: '"a"' } }, 'both'],
  ])('what a user gains or loses is told for %s', async (_, old, after, effect) => {
    const policy = (part: object | undefined) => ({ ...rules({}), ...(part === undefined ? {} : restrict(part)) });
    expect((await planOf(policy(old), policy(after))).changed.map((one) => one.effect)).toEqual(
      effect === null ? [] : [effect],
    );
  });

  it('includes a shorter expiry, another timezone and another tenant', async () => {
    expect(await fieldsOf(rules({}), { ...rules({}), expiryMinutes: 30 })).toEqual([
      ['expiryMinutes', 'loss', '60', '30'],
    ]);
    const zone = rules({ grant: { ...grant('delays'), timezone: '"UTC"' } });
    expect(await fieldsOf(rules({}), zone)).toEqual([['timezone', 'other', 'none', 'UTC']]);
    const session = { claims: { org_id: 'string' }, tenant: '"ATL"', roles: '[]' };
    expect(await fieldsOf(rules({}), { ...rules({}), session })).toEqual([
      ['tenant', 'both', 'LAX', 'ATL'],
      ['embeds', 'both', 'delays--LAX', 'delays--ATL'],
    ]);
  });

  it('is nothing for two equal policies, which names users that both deny', async () => {
    const plan = await planOf(rules({ when: '"a" in user.roles' }), rules({ when: '"a" in user.roles' }));
    expect(plan.changed).toEqual([]);
    expect(plan.counts).toMatchObject({ users: 1, unchanged: 1, denied: { NO_POLICY: 1 } });
    expect(writePlan(plan)).toBe('1 user: 1 unchanged; denied before and after: 1 NO_POLICY');
  });

  it('notes changes that are no grant: how templates are created', async () => {
    const after = { ...rules({}), templates: { delays: { name: 'Other' } }, datamart: 'other' };
    expect((await planOf(rules({}), after)).notes).toEqual([
      'p: datamart is "other", not "flights", for new dashboards.',
      'p: template "delays" has other settings, for new dashboards.',
    ]);
  });

  it('stops a review at the configured kinds of change', async () => {
    const stops = async (old: object, after: object) => {
      const plan = await planOf(old, after);
      return (['loss', 'gain', 'any'] as const).filter((failOn) => isStopped(plan, failOn));
    };
    const [less, more] = [rules({}), rules({ grant: grant('delays', 'routes') })];
    expect(await stops(less, more)).toEqual(['gain', 'any']);
    expect(await stops(more, less)).toEqual(['loss', 'any']);
    expect(await stops(less, rules({ grant: grant('routes') }))).toEqual(['loss', 'gain', 'any']);
    expect(await stops(less, rules({ grant: { ...grant('delays'), timezone: '"UTC"' } }))).toEqual(['any']);
    expect(await stops(less, less)).toEqual([]);
  });
});

describe('the two policies of a plan', () => {
  const [a, b] = [policyOf(), policyOf({ dataApp: 'other' })];
  it('are paired by name, or directly if two single files are given', () => {
    expect(pairPolicies(new Map([['x', a]]), new Map([['y', b]]))).toEqual([{ name: 'y', old: a, new: b }]);
    const folder = new Map([
      ['x', a],
      ['y', b],
    ]);
    expect(pairPolicies(folder, new Map([['y', a]]))).toEqual([
      { name: 'x', old: a, new: undefined },
      { name: 'y', old: b, new: a },
    ]);
  });

  it('may be missing on one side: its users lose what it granted', async () => {
    const plan = await planPolicies([{ name: 'x', old: a, new: undefined }], [ann]);
    expect(plan.changed).toMatchObject([{ effect: 'loss' }]);
    expect(plan.notes).toEqual(['x is gone: its users lose what it granted.']);
  });
});

describe('the sample of users', () => {
  it('contains claims, or claims with a body, an answer of the lookup and a time', () => {
    const text =
      '{"sub": "a"}\n\n{"claims": {"sub": "b"}, "body": {"tenant": "T"}, "lookup": ["T"], "now": "2026-01-01T00:00:00Z"}\n';
    expect(readSample(text, 's', now)).toEqual([
      { line: 1, at: 's:1:1', user: 'a', claims: { sub: 'a' }, body: {}, now },
      {
        line: 3,
        at: 's:3:1',
        user: 'b',
        claims: { sub: 'b' },
        body: { tenant: 'T' },
        lookup: ['T'],
        now: new Date('2026-01-01T00:00:00Z'),
      },
    ]);
  });

  it('reports every faulty line at once, and must not be empty', () => {
    const faults = (text: string) => {
      try {
        readSample(text, 's', now);
      } catch (error) {
        return error instanceof PolicyFaults ? error.faults : error;
      }
      return 'read';
    };
    expect(faults('{"sub": "a"}\nnonsense\n{"org": 1}\n[]\n{"claims": {"sub": "a"}, "boddy": {}}')).toEqual([
      { at: 's:2:1', message: expect.stringContaining('is no JSON') },
      { at: 's:3:1', message: expect.stringContaining('names no user') },
      { at: 's:4:1', message: expect.stringContaining('expected object') },
      { at: 's:5:1', message: expect.stringContaining('boddy') },
    ]);
    expect(faults('\n')).toEqual([{ at: 's:1:1', message: expect.stringContaining('has no user') }]);
  });
});
