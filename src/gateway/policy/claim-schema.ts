/** The schema of `session.claims`: what a declaration may be in the file. It is kept as the text of its type. */
import { z } from 'zod';
import { identifier } from '../../platform/http/interface/fields.js';
import {
  ClaimTypeFault,
  countMembers,
  maxClaimMembers,
  plainClaimTypes,
  readClaimType,
  writeClaimType,
} from './claim-type.js';

type Declared = string | readonly Declared[] | { readonly [member: string]: Declared };

const declared: z.ZodType<Declared> = z.lazy(() =>
  z.union(
    [
      z.string().meta({
        description: 'Such as list<{ id: string }> or map<string, { id?: string }>.',
        anyOf: [{ enum: [...plainClaimTypes] }, { pattern: '[<{|]' }],
      }),
      z.tuple([declared]).describe('A list of this.'),
      z.record(z.string(), declared).describe('An object with these members. A name that ends in ? is optional.'),
    ],
    'is no type of a claim: expected a text such as string, an object of types, or a list of one type',
  ),
);

const claimType = declared.transform((value, context) => {
  try {
    const type = readClaimType(value);
    return { text: writeClaimType(type), members: countMembers(type) };
  } catch (error) {
    if (!(error instanceof ClaimTypeFault)) throw error;
    context.addIssue({ code: 'custom', message: error.message, path: [...error.path] });
    return z.NEVER;
  }
});

export const claimDeclarations = z.record(identifier, claimType).transform((claims, context) => {
  const all = Object.entries(claims);
  const members = all.reduce((count, [, type]) => count + type.members, 0);
  if (members > maxClaimMembers)
    context.addIssue(`objects in claims have ${members} members together, and may have ${maxClaimMembers}`);
  for (const [name] of all)
    if (name.endsWith('?'))
      context.addIssue({
        code: 'custom',
        message: 'every claim may be missing: write its name without ?',
        path: [name],
      });
  return Object.fromEntries(all.map(([name, type]) => [name, type.text]));
});
