/** Converts between the JSON of an event and the values of CEL. Pure. */
import { isRecord } from '../../../model/is-record.js';
import { maxClaimList } from '../../policy/expression-cost.js';

/**
 * Returns a JSON value in CEL's types: whole numbers are integers. A number that JSON may have rounded, and a list or an
 * object of more entries than a claim may have, become null, so that reading them fails.
 */
export const celOf = (value: unknown): unknown => {
  if (typeof value === 'number' && Number.isInteger(value)) return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (Array.isArray(value)) return value.length > maxClaimList ? null : value.map(celOf);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return entries.length > maxClaimList ? null : Object.fromEntries(entries.map(([name, one]) => [name, celOf(one)]));
};

/** Returns the value of an expression as JSON. Undefined for a type that JSON does not have. */
export const jsonOf = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, one]) => [String(name), jsonOf(one)]));
  if (Array.isArray(value)) return value.map(jsonOf);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, jsonOf(one)]));
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
};
