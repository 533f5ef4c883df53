/** What a user reads of the tenants to choose from. */
import type { Choice } from '../base/options.js';
import type { OwnTenant } from '../token/keeper.js';

/** What stands beside a name of the other direction must not be turned around. */
const isolated = (text: string): string => `\u2068${text}\u2069`;

/** In the order of names. The id stands beside names that several tenants have, and alone where there is no name. */
export const tenantChoices = (tenants: readonly OwnTenant[], language: string): readonly Choice[] => {
  const counts = new Map<string, number>();
  for (const { name } of tenants) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  const label = ({ id, name }: OwnTenant): string => {
    // A label begins with its first letter, which users type to find it.
    if (name === undefined) return id;
    return (counts.get(name) ?? 0) > 1 ? `${name} ${isolated(`(${id})`)}` : name;
  };
  const { compare } = new Intl.Collator(language, { numeric: true });
  return tenants
    .map((tenant): Choice => [tenant.id, label(tenant)])
    .toSorted(([, one], [, other]) => compare(one, other));
};
