/** The masks of columns: how they are written, which values they suit, and which of two is stricter. */
import type { DatatypeKind } from './datatypes.js';

/** What a mask leaves of a value. NULL stays NULL. docs/reference/policies.md says what each one shows. */
export type Mask = { readonly kind: 'hash' | 'last4' | 'first' | 'year' | 'null' } | BucketMask;
type BucketMask = { readonly kind: 'bucket'; readonly width: number };

/** The masks as text, such as `last4` or `bucket(1000)`. */
export const maskPattern = /^(?:hash|last4|first|year|null|bucket\([1-9][0-9]{0,8}\))$/;
export const maskForms = 'hash, last4, first, year, null or bucket(N), N a whole number from 1 to 999999999';

/** Undefined for a text that is no mask. */
export const readMask = (text: string): Mask | undefined => {
  if (!maskPattern.test(text)) return undefined;
  if (text.startsWith('bucket(')) return { kind: 'bucket', width: Number(text.slice('bucket('.length, -1)) };
  return { kind: text as Exclude<Mask, BucketMask>['kind'] };
};

const greatestWidth = 999_999_999;

const commonDivisor = (one: number, other: number): number => (other === 0 ? one : commonDivisor(other, one % other));

/**
 * The mask that shows what both of them would show, and no more. `null` is the strictest of all. Two buckets give the
 * bucket of their least common multiple. Two other masks that differ have nothing in common, so that the result is
 * `null`. The order of several masks does not matter.
 */
export const stricterMask = (one: string, other: string): string => {
  if (one === other) return one;
  const [left, right] = [readMask(one), readMask(other)];
  if (left?.kind !== 'bucket' || right?.kind !== 'bucket') return 'null';
  const width = (left.width / commonDivisor(left.width, right.width)) * right.width;
  return width > greatestWidth ? 'null' : `bucket(${width})`;
};

/** Whether `mask` shows nothing that `other` does not show. */
export const isAsStrict = (mask: string, other: string): boolean => stricterMask(mask, other) === mask;

const texts: readonly DatatypeKind[] = ['text', 'enum', 'uuid'];

/** The kinds of values that each mask takes; null: any. */
const suits: Readonly<Record<Mask['kind'], readonly DatatypeKind[] | null>> = {
  hash: texts,
  last4: texts,
  first: texts,
  year: ['date'],
  bucket: ['integer', 'number'],
  null: null,
};

/** Whether the mask can be applied to values of the kind; of an unknown kind (undefined), the engine decides. */
export const suitsKind = ({ kind }: Mask, of: DatatypeKind | undefined): boolean =>
  of === undefined || (suits[kind]?.includes(of) ?? true);
