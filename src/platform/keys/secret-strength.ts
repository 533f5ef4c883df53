/**
 * Estimates whether a secret is strong enough for production. Finds secrets that are short, repetitive, sequential or
 * copied from documentation.
 */
import { minimumSecretLength } from './jwt-keys.js';

/** Minimum estimated bits. Fewer bits can be broken by brute force within years. */
const minimumBits = 70;

/** Secrets that appear in documentation and tutorials, including ours. Compared without regard to case. */
const published: ReadonlySet<string> = new Set([
  'the secret that your sessions are signed with',
  'a-string-secret-at-least-256-bits-long',
  'your-256-bit-secret',
  'whsec_mfkq9r8gkyqrtwjupd8ilpzio2lalasw',
  'whsec_c2fvsbqihrscchlqimv+b5sssypob7od',
  '123e4567-e89b-12d3-a456-426614174000',
  '550e8400-e29b-41d4-a716-446655440000',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
]);

/** Words that mark placeholders. They are long enough not to appear in random text by chance. */
const placeholders =
  /change.?me|password|passw0rd|placeholder|example|your.?(?:secret|token|api.?key|key)|my.?secret|secret.?key|super.?secret|keyboard.?cat|insecure|qwerty|letmein|replace.?(?:me|this)|guestlist.?(?:secret|token|key)/i;

/** Whether the character continues the sequence of the two characters before it: `aaa`, `abc`, `321`. */
const isRun = (text: string, at: number): boolean => {
  const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
  return at >= 2 && Math.abs(step) <= 1 && step === text.charCodeAt(at - 1) - text.charCodeAt(at - 2);
};

/** Returns how many characters from `at` on also appear together earlier. Returns 0 for fewer than three. */
const repeatedAt = (text: string, at: number): number => {
  let length = 0;
  while (at + length < text.length && text.slice(0, at + length).includes(text.slice(at, at + length + 1))) length += 1;
  return length >= 3 ? length : 0;
};

/** Estimates from the first 200 characters. Later characters cannot make a secret weak. */
const estimateBits = (secret: string): number => {
  const text = secret.slice(0, 200);
  let surprising = 0;
  for (let at = 0; at < text.length; ) {
    const repeated = repeatedAt(text, at);
    if (repeated > 0 || !isRun(text, at)) surprising += 1;
    at += Math.max(1, repeated);
  }
  return surprising * Math.log2(Math.max(1, new Set(text).size));
};

/** Returns why the secret is weak, or undefined if it is not. The text does not contain the secret. */
export const weaknessOf = (secret: string): string | undefined => {
  if (secret.length < minimumSecretLength) {
    return `has ${secret.length} characters, and at least ${minimumSecretLength} are needed in production`;
  }
  if (published.has(secret.toLowerCase()) || placeholders.test(secret)) {
    return 'is an example or a placeholder that anybody can look up';
  }
  return estimateBits(secret) < minimumBits
    ? 'is too easy to guess: it repeats or counts up a few characters'
    : undefined;
};

/** Like `weaknessOf`, for bytes in base64, whose length is checked elsewhere. */
export const weaknessOfBytes = (secret: string): string | undefined => {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').toString('latin1');
  if (published.has(secret.toLowerCase()) || placeholders.test(bytes)) {
    return 'is an example or a placeholder that anybody can look up';
  }
  return estimateBits(bytes) < minimumBits ? 'is too easy to guess: it repeats or counts up a few bytes' : undefined;
};
