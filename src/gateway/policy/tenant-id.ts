/** 1 to 255 characters without control characters and halves of characters: two ids are never written alike. */
const pattern = /^[^\p{Cc}\p{Cs}]+$/u;
const maxLength = 255;

/** What such an id is, in words. */
export const tenantIdShape = 'text of 1 to 255 characters without control characters';

/** Whether it can be a clientId. Ids are compared character by character, never by what they look like. */
export const isTenantId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxLength && pattern.test(value);
