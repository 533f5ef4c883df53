import { z } from 'zod';

/**
 * Pattern of a tenant id. It excludes control characters and lone surrogates, so that two ids never have the same
 * encoding.
 */
const pattern = /^[^\p{Cc}\p{Cs}]+$/u;

/** Description of a valid tenant id, for messages. */
export const tenantIdShape = 'text of 1 to 255 characters without control characters';

/** A clientId. Ids are compared character by character, not by appearance. */
export const tenantId = z.string().regex(pattern, tenantIdShape).max(255, tenantIdShape);

/** Whether the value is a valid clientId. */
export const isTenantId = (value: unknown): value is string => tenantId.safeParse(value).success;
