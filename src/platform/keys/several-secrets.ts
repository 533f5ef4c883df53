import { minimumSecretLength } from './jwt-keys.js';

/**
 * The secrets in one setting: one, or several with spaces between them while one replaces another. Each of them is
 * accepted. A passphrase is one secret, since its words are shorter than a secret may be.
 */
export const severalSecrets = (text: string): readonly string[] => {
  const parts = text.split(/\s+/).filter((part) => part !== '');
  return parts.length > 1 && parts.every(({ length }) => length >= minimumSecretLength) ? parts : [text];
};
