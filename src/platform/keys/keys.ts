/** Creates and hashes credentials. Credentials are random, and only their SHA-256 is stored. */
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { HashedToken } from '../../model/brand.js';

/** Returns the SHA-256 of the token's UTF-8 bytes in lower-case hex. */
export const hashToken = (token: string): HashedToken => hash('sha256', token, 'hex') as HashedToken;

/** Returns a new credential: a random UUID (version 4, 122 random bits). */
export const createToken = (): string => randomUUID();

/** Compares two hashes in constant time, so that the duration does not reveal where they differ. */
export const isSameHash = (a: HashedToken, b: HashedToken): boolean => {
  const [left, right] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')];
  return left.length === right.length && timingSafeEqual(left, right);
};
