/** The `session` of a policy with what it takes from a preset. Each part knows the file that it is from. */
import type { ClaimSchema } from './claim-values.js';
import type { PolicyDocument, PresetDocument, TenantDocument } from './schema.js';

/** `from`: the place that faults of the part name. */
type From<Value, Place> = { readonly value: Value; readonly from: Place };

export type ResolvedSession<Place> = {
  readonly claims: ClaimSchema;
  readonly tenant: From<TenantDocument, Place>;
  readonly roles: From<string, Place>;
};

/** Takes what the policy gives itself, and the rest from the preset. The schema has checked that nothing is missing. */
export const resolveSession = <Place>(
  { session }: Pick<PolicyDocument, 'session'>,
  own: Place,
  preset: PresetDocument | null,
  presetPlace: Place,
): ResolvedSession<Place> => {
  const taken = preset?.session;
  const part = <Value>(given: Value | undefined, other: Value | undefined): From<Value, Place> => {
    if (given !== undefined) return { value: given, from: own };
    if (other === undefined) throw new Error('a policy without a preset gives its whole session');
    return { value: other, from: presetPlace };
  };
  return {
    claims: { ...taken?.claims, ...session.claims },
    tenant: part<TenantDocument>(session.tenant, taken?.tenant),
    roles: part(session.roles, taken?.roles),
  };
};
