/** Random policies that name sources, users, and which source each of them reads, by brute force. */
import fc from 'fast-check';

export const clients = ['a', 'b', 'A'] as const;
const templates = ['one', 'two'] as const;
type Template = (typeof templates)[number];

/** The datamarts and their datasources. The databases are of three kinds; `post2` is a second datamart on one. */
export const sourceOfMart = { duck: 'ducks', post: 'posts', post2: 'posts', maria: 'marias' } as const;
export type Mart = keyof typeof sourceOfMart;
const marts = Object.keys(sourceOfMart) as Mart[];
/** What a policy names: some of it does not exist. */
const martNames = [...marts, 'nowhere'];
const datasources = ['ducks', 'posts', 'marias', 'nowhere'];
/** The datamart of the policy, which copies read where nothing names another one. */
export const usualMart: Mart = 'duck';

type Name =
  | { readonly is: 'plain'; readonly name: string }
  | { readonly is: 'of tenant'; readonly names: readonly string[] }
  | { readonly is: 'of user' };
type Names = { readonly datamart?: Name | undefined; readonly datasource?: Name | undefined };
type When = 'always' | 'boss' | 'a';
type Said = { readonly when: When; readonly names: Names };
export type SourceCase = {
  readonly isMulti: boolean;
  readonly rules: readonly (Said & { readonly templates: readonly Template[] })[];
  readonly restrictions: readonly Said[];
  readonly templates: Readonly<Record<Template, Names>>;
  readonly overrides: readonly { readonly clientId: string; readonly names: Names }[];
  readonly users: readonly {
    readonly clientId: string;
    readonly isBoss: boolean;
    /** The claim with a name; null: the session has none. */
    readonly place: string | null;
    readonly embeds: readonly Template[] | null;
  }[];
};
export type SourceUser = SourceCase['users'][number];

const nameIn = (all: readonly string[]): fc.Arbitrary<Name> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...all).map((name) => ({ is: 'plain' as const, name })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(...clients.map(() => fc.constantFrom(...all)))
        .map((names) => ({ is: 'of tenant' as const, names })),
    },
    { weight: 1, arbitrary: fc.constant({ is: 'of user' as const }) },
  );
const maybe = (name: fc.Arbitrary<Name>, weight: number): fc.Arbitrary<Name | undefined> =>
  fc.oneof({ weight, arbitrary: name }, { weight: 10 - weight, arbitrary: fc.constant(undefined) });

/** Most statements of one policy name the same source, so that many of them agree. */
const namesAbout = (mart: Mart): fc.Arbitrary<Names> =>
  fc.record({
    datamart: maybe(nameIn([...Array<string>(8).fill(mart), ...martNames]), 4),
    datasource: maybe(nameIn([...Array<string>(8).fill(sourceOfMart[mart]), ...datasources]), 1),
  });
const when = fc.constantFrom<When>('always', 'boss', 'a');

const caseAbout = (names: fc.Arbitrary<Names>): fc.Arbitrary<SourceCase> =>
  fc.record({
    isMulti: fc.nat(7).map((one) => one > 0),
    rules: fc.array(fc.record({ when, names, templates: fc.subarray([...templates], { minLength: 1 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    restrictions: fc.array(fc.record({ when, names }), { maxLength: 1 }),
    templates: fc.record({ one: names, two: names }),
    overrides: fc.array(fc.record({ clientId: fc.constantFrom(...clients), names }), { maxLength: 1 }),
    users: fc.array(
      fc.record({
        clientId: fc.constantFrom(...clients),
        isBoss: fc.boolean(),
        place: fc.option(fc.constantFrom(...martNames), { freq: 4 }),
        embeds: fc.option(fc.subarray([...templates], { minLength: 1 }), { freq: 2 }),
      }),
      { minLength: 4, maxLength: 4 },
    ),
  });

export const sourceCase: fc.Arbitrary<SourceCase> = fc
  .constantFrom(...marts)
  .chain((mart) => caseAbout(namesAbout(mart)));

const written = (name: Name): unknown => {
  if (name.is === 'plain') return name.name;
  if (name.is === 'of user') return { expression: 'user.claims.place' };
  const [first, second, third] = name.names.map((one) => JSON.stringify(one));
  return { expression: `tenant.id == "a" ? ${first} : tenant.id == "b" ? ${second} : ${third}` };
};
const writtenNames = ({ datamart, datasource }: Names): object => ({
  ...(datamart === undefined ? {} : { datamart: written(datamart) }),
  ...(datasource === undefined ? {} : { datasource: written(datasource) }),
});
const conditions = { always: 'true', boss: '"boss" in user.roles', a: 'tenant.id == "a"' } as const;
const isEmpty = ({ datamart, datasource }: Names): boolean => datamart === undefined && datasource === undefined;

/** The parts of a policy file. */
export const documentOf = (drawn: SourceCase): object => ({
  templates: Object.fromEntries(
    templates.map((template) => [template, { name: template, ...writtenNames(drawn.templates[template]) }]),
  ),
  rules: drawn.rules.map((rule, at) => ({
    ...{ name: `rule ${at}`, when: conditions[rule.when] },
    grant: { templates: rule.templates, ...writtenNames(rule.names) },
  })),
  restrictions: drawn.restrictions
    .filter((one) => !isEmpty(one.names))
    .map((one, at) => ({
      ...{ name: `restriction ${at}`, when: conditions[one.when], restrict: writtenNames(one.names) },
    })),
  tenants: drawn.overrides
    .filter((one) => !isEmpty(one.names))
    .map(({ clientId, names: said }, at) => ({
      ...{ name: `override ${at}`, clientIds: [clientId], ...writtenNames(said) },
    })),
});

const applies = (condition: When, { clientId, isBoss }: SourceUser): boolean =>
  condition === 'always' || (condition === 'boss' ? isBoss : clientId === 'a');

const nameFor = (name: Name, { clientId, place }: SourceUser): string | null => {
  if (name.is === 'plain') return name.name;
  return name.is === 'of user' ? place : (name.names[clients.indexOf(clientId as (typeof clients)[number])] ?? null);
};

/** Undefined: nothing is named. Null: it is not known which. */
const agreed = (
  all: readonly { readonly names: Names; readonly isTemplate: boolean }[],
  field: keyof Names,
  user: SourceUser,
  opened: number,
): string | null | undefined => {
  const said = all.flatMap(({ names: own, isTemplate }) => {
    const name = own[field];
    return name === undefined ? [] : [{ value: nameFor(name, user), isTemplate }];
  });
  const values = new Set(said.map(({ value }) => value));
  if (values.size === 0) return undefined;
  if (values.size > 1 || (said.every(({ isTemplate }) => isTemplate) && said.length < opened)) return null;
  return [...values][0];
};

const martOf = (isMulti: boolean, datamart: string | undefined, datasource: string | undefined): Mart | null => {
  const fits = marts.filter(
    (mart) =>
      (datamart === undefined || mart === datamart) &&
      (datasource === undefined || sourceOfMart[mart] === datasource) &&
      (isMulti || mart === usualMart),
  );
  const [only] = fits;
  return fits.includes(usualMart) ? usualMart : fits.length === 1 && only !== undefined ? only : null;
};

/** What the user is to get: which templates, from which datamart; or a denial. */
export const expected = (
  drawn: SourceCase,
  user: SourceUser,
): { readonly mart: Mart; readonly opened: readonly Template[] } | 'denied' => {
  const matching = drawn.rules.filter((rule) => applies(rule.when, user));
  const granted = templates.filter((one) => matching.some((rule) => rule.templates.includes(one)));
  const opened = user.embeds === null ? granted : granted.filter((one) => user.embeds?.includes(one));
  if (opened.length === 0 || opened.length < (user.embeds?.length ?? 0)) return 'denied';
  const all = [
    ...[...matching, ...drawn.restrictions.filter((one) => applies(one.when, user))],
    ...drawn.overrides.filter(({ clientId }) => clientId === user.clientId),
  ].map(({ names: own }) => ({ names: own, isTemplate: false }));
  const statements = [...all, ...opened.map((one) => ({ names: drawn.templates[one], isTemplate: true }))];
  const datamart = agreed(statements, 'datamart', user, opened.length);
  const datasource = agreed(statements, 'datasource', user, opened.length);
  const mart = datamart === null || datasource === null ? null : martOf(drawn.isMulti, datamart, datasource);
  return mart === null ? 'denied' : { mart, opened };
};
