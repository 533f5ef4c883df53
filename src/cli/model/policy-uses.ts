/** The columns that the files of a policy name: what restrictions hide and mask, and what rules and templates give. Pure. */
import {
  type ColumnUse,
  type PlacedUse,
  usesOfRestriction,
  usesOfRule,
  usesOfTemplate,
} from '../../gateway/policy/column-uses.js';
import { policySchema, tenantFileSchema } from '../../gateway/policy/schema.js';
import type { PolicyText } from '../files/policies.js';
import { WrongCall } from '../kit/exit.js';

type Rules = NonNullable<ReturnType<typeof policySchema.safeParse>['data']>;

const ruleUses = ({ rules, restrictions }: Pick<Rules, 'rules' | 'restrictions'>): readonly ColumnUse[] => [
  ...rules.map(usesOfRule),
  ...restrictions.map(usesOfRestriction),
];

/** Throws WrongCall for a file of a policy that no gateway would read. */
const usesIn = ({ file, content }: PolicyText): readonly ColumnUse[] => {
  const ofTenants = tenantFileSchema.safeParse(content).data;
  if (ofTenants !== undefined) return ofTenants.tenants.flatMap(ruleUses);
  const policy = policySchema.safeParse(content).data;
  if (policy === undefined)
    throw new WrongCall(`${file} is no policy that a gateway reads, so what it restricts is not known: mend it first`);
  const templates = Object.entries(policy.templates).map(([name, { accessSettings }]) =>
    usesOfTemplate(name, accessSettings),
  );
  return [...templates, ...ruleUses(policy), ...policy.tenants.flatMap(ruleUses)];
};

export const policyUses = (text: PolicyText): readonly PlacedUse[] =>
  usesIn(text).map((use) => ({ ...use, where: text.file }));
