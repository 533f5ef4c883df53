/** The command `cards-check`: before a dashboard is published, which of its cards whom the policy tells apart cannot see. */
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import { type AdminCommand, adminCommand, declareCommand, readBy } from '../common/admin-command.js';
import { copyIdOf } from '../common/dashboard-id.js';
import { combineRestrictions } from '../policy/combine.js';
import { restrictionWithoutValues } from '../policy/decide.js';
import type { Policies } from '../policy/policies.js';
import type { Policy } from '../policy/policy.js';
import { templateName } from '../policy/schema.js';
import { viewAsInput } from '../view-as.js';
import { type CheckCards, type DashboardCards, dashboardCards } from './cards.js';
import { evaluateCase } from './dry-run.js';
import { type Profile, profilesOf } from './profiles.js';

const input = z.strictObject({
  template: templateName,
  /** A user of a tenant, whose restrictions and dashboard are looked at too. */
  viewer: viewAsInput.omit({ embeds: true }).optional(),
});

const profile = z.object({
  /** Empty: users of any role to whom the restrictions apply. */
  roles: z.array(z.string()),
  /** The restrictions that apply, with the place of each. */
  restrictions: z.array(z.object({ name: z.string(), at: z.string() })),
  cards: dashboardCards,
});

const askers = ['author', 'publisher', 'policyAdmin', 'support', 'auditor'] as const;

// What a viewer loses depends on claims.
export const checkCardsCommand = declareCommand(
  'cards-check',
  input,
  z.object({
    template: z.string(),
    /** Null: the service cannot say it, or does not have the template. */
    profiles: z.array(profile).nullable(),
    /** Null: none was asked for, or what is asked cannot be said. */
    viewer: z.union([dashboardCards, z.object({ denied: z.string() })]).nullable(),
  }),
  {
    ...readBy(...askers),
    narrower: { field: 'viewer', roles: askers, reads: 'rows' },
  },
  {
    title: 'Check the cards of a dashboard',
    description: 'Says which cards of a template users cannot see, by role and restriction of the policy, and why.',
  },
);

type Options = { readonly policies: Policies; readonly checkCards: CheckCards; readonly clock: Clock };
type Viewer = NonNullable<z.output<typeof input>['viewer']>;

const combined = ({ restrictions }: Profile) =>
  combineRestrictions(restrictions.map((rule) => ({ rule, restriction: restrictionWithoutValues(rule) })));

const checkProfiles = async ({ checkCards }: Options, policy: Policy, template: string) => {
  const found = [];
  const known = new Map<string, DashboardCards>();
  for (const one of profilesOf(policy, template)) {
    const key = JSON.stringify(one.restrictions.map(({ when }) => when.at));
    const cards = known.get(key) ?? (await checkCards({ policy, source: template, restrictions: combined(one) }));
    if (cards === undefined) return null;
    known.set(key, cards);
    const restrictions = one.restrictions.map(({ name, when: { at } }) => ({ name, at }));
    found.push({ roles: [...one.roles], restrictions, cards });
  }
  return found;
};

const checkViewer = async ({ checkCards, clock }: Options, base: Policy, template: string, viewer: Viewer) => {
  const { clientId, claims, at } = viewer;
  const now = at === undefined ? clock.now() : new Date(at);
  const decided = await evaluateCase(base, { claims, body: {}, now }, () => clientId);
  if (!decided.isGranted) return { denied: decided.refusal.message };
  const { grant, decision, policy } = decided;
  if (!grant.templates.some((one) => one.template === template))
    return { denied: 'The policy does not grant this dashboard to the user.' };
  const ofTenant = { clientId, dashboardId: copyIdOf(template, clientId) };
  const names = grant.source;
  return (await checkCards({ policy, source: template, ofTenant, names, restrictions: decision.restrictions })) ?? null;
};

export const createCardsCommand = (options: Options): AdminCommand =>
  adminCommand(checkCardsCommand, async ({ template, viewer }) => {
    const policy = options.policies.current();
    return {
      template,
      profiles: await checkProfiles(options, policy, template),
      viewer: viewer === undefined ? null : await checkViewer(options, policy, template, viewer),
    };
  });
