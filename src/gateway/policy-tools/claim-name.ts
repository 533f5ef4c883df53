/** The name of the claim by which a restriction knows what a user may see of a category. Pure. */

/** Names that are no claim of one tenant's user: claims with another meaning, and words of CEL. */
const takenNames: ReadonlySet<string> = new Set(
  `roles iss sub aud exp nbf iat jti true false null in as break const continue else for function if import let loop
package namespace return var void while`.split(/\s+/),
);

/** Whether sessions may hold the tenant, or what a user is restricted to, in a claim of this name. */
export const isFreeClaim = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !takenNames.has(name);

/** `category_name` for a filter of that name, or one like it that is free. A name without a Latin letter gives `category`. */
export const claimNameFor = (filter: string, taken: readonly string[]): string => {
  const isFree = (one: string): boolean => isFreeClaim(one) && !taken.includes(one);
  const letters = filter.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  const plain = /[a-z]/.test(letters) ? letters : 'category';
  const usual = [plain, `user_${plain}`, `own_${plain}`].find(isFree);
  if (usual !== undefined) return usual;
  let number = 2;
  while (!isFree(`own_${plain}_${number}`)) number += 1;
  return `own_${plain}_${number}`;
};
