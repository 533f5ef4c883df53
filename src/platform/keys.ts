/** Credentials are random, and are known at rest by their SHA-256 alone. */
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { HashedToken } from '../domain/brand.js';

/** The SHA-256 of the token's UTF-8 bytes in lower-case hex. */
export const hashToken = (token: string): HashedToken => hash('sha256', token, 'hex') as HashedToken;

/** A new credential: a random UUID (version 4, 122 random bits). */
export const createToken = (): string => randomUUID();

/** Compares them in constant time: how long it takes tells nothing of where they differ. */
export const isSameHash = (a: HashedToken, b: HashedToken): boolean => {
  const [left, right] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')];
  return left.length === right.length && timingSafeEqual(left, right);
};
