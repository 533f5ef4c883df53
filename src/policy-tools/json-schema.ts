/** The format of policy files as JSON Schema, so that editors complete and describe fields. */
import { z } from 'zod';
import { policySchema, tenantFileSchema } from '../gateway/policy/schema.js';

const encode = (schema: z.ZodType, title: string) => ({
  title,
  ...z.toJSONSchema(schema, { io: 'input', reused: 'inline', override: ({ jsonSchema }) => void delete jsonSchema.id }),
});

/** The schema of a policy file. */
export const policyJsonSchema = () => encode(policySchema, 'Guestlist policy');

/** The schema of a file that the policy's `tenantFiles` name. */
export const tenantFileJsonSchema = () => encode(tenantFileSchema, 'Guestlist overrides for tenants');

/** The text of the schema files in `config`. */
export const writeJsonSchema = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;
