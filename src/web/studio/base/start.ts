/** The way from the URL of a database to an embedded dashboard. Its address names what was made so far. */
import type { OperationAnswer } from './api.js';
import type { TemplateData } from './content.js';
import type { PolicyFacts, Viewer } from './viewer.js';

export const steps = [
  { name: 'connect', title: 'Connect' },
  { name: 'tables', title: 'Tables' },
  { name: 'dashboard', title: 'Dashboard' },
  { name: 'access', title: 'Access' },
  { name: 'embed', title: 'Publish and embed' },
] as const;
export type Step = (typeof steps)[number]['name'];

/** What was made so far, by the parts of the address. */
export const placeInStart = ([source, model, dashboard, last]: readonly string[]) => {
  const step: Step =
    source === undefined
      ? 'connect'
      : model === undefined
        ? 'tables'
        : dashboard === undefined
          ? 'dashboard'
          : last === 'embed'
            ? 'embed'
            : 'access';
  return { step, source: source ?? '', model: model ?? '', dashboard: dashboard ?? '' };
};

/** A first dashboard, with answers where the person may see them. */
export type Drafted = Omit<OperationAnswer<'draftDashboardContent'>, 'error' | 'data'> & {
  readonly data: TemplateData;
};
export type DraftedRestriction = Drafted['restrictions'][number];

/** The name, or one like it that is free. */
export const freeName = (name: string, taken: readonly string[]): string => {
  let free = name;
  for (let count = 2; taken.includes(free); count += 1) free = `${name}-${count}`;
  return free;
};

/** The content without some metrics. The cards that are left of a row fill it, and rows move up. */
export const withoutMetrics = (data: TemplateData, left: ReadonlySet<string>): TemplateData => {
  const metrics = data.metrics.filter(({ metricId }) => !left.has(metricId));
  const kept = data.layout.filter(({ metricId }) => !left.has(metricId));
  const rowOf = (y: number, cards: TemplateData['layout']) => cards.filter((card) => card.y === y);
  let top = 0;
  const layout = [...new Set(kept.map(({ y }) => y))].flatMap((y) => {
    const cards = rowOf(y, kept);
    const isWhole = cards.length === rowOf(y, data.layout).length;
    const w = Math.floor(12 / cards.length);
    const placed = cards.map((card, at) => ({ ...card, y: top, ...(isWhole ? {} : { x: at * w, w }) }));
    top += Math.max(...cards.map(({ h }) => h));
    return placed;
  });
  return { ...data, metrics, layout };
};

/** Which roles see the dashboard, and by which filter they are restricted. */
export type RoleAccess = {
  /** Null: every user of a tenant. */
  readonly role: string | null;
  /** The name of a filter. Null: all rows of the tenant. */
  readonly filter: string | null;
};

/** Everybody sees all rows of the own tenant, and a role the part of them that is proposed first. */
export const firstAccess = (restrictions: readonly DraftedRestriction[]): readonly RoleAccess[] => {
  const [best] = restrictions;
  return [
    { role: null, filter: null },
    ...(best === undefined ? [] : [{ role: 'restricted', filter: best.filter.name }]),
  ];
};

type Claim = { readonly filter: string; readonly claim: string };
type Seen = { readonly label: string; readonly viewer: Viewer };

/** Users that a dashboard can be looked at as, without typing their claims: of each tenant a plain one, then restricted ones. */
export const viewersOf = (
  { tenantClaim, roles }: PolicyFacts,
  { tenants, restrictions }: Pick<Drafted, 'tenants' | 'restrictions'>,
  access: readonly RoleAccess[],
  claims: readonly Claim[],
): readonly Seen[] => {
  const rolesClaim = /\bclaims\.(\w+)/.exec(roles)?.[1];
  const asUser = (clientId: string, role: string | null, more: Readonly<Record<string, unknown>>): Viewer => ({
    clientId,
    claims: {
      sub: 'someone',
      ...(tenantClaim === null ? {} : { [tenantClaim]: clientId }),
      ...(rolesClaim === undefined ? {} : { [rolesClaim]: role === null ? [] : [role] }),
      ...more,
    },
  });
  const plain = access.find(({ filter }) => filter === null);
  const [largest] = tenants;
  return [
    ...tenants.flatMap(({ clientId, name }) =>
      plain === undefined ? [] : [{ label: name ?? clientId, viewer: asUser(clientId, plain.role, {}) }],
    ),
    ...access.flatMap(({ role, filter }) => {
      const claim = claims.find((one) => one.filter === filter)?.claim;
      const [value] = restrictions.find((one) => one.filter.name === filter)?.values ?? [];
      if (largest === undefined || claim === undefined || value === undefined) return [];
      const label = `${largest.name ?? largest.clientId}, ${role ?? 'everybody'}: ${value}`;
      return [{ label, viewer: asUser(largest.clientId, role, { [claim]: value }) }];
    }),
  ];
};
