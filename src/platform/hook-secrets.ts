/** Secrets of signed hooks, as Standard Webhooks writes them: `whsec_` and 24 to 64 bytes in base64. */

/** What such a secret is, for those who have to make one. */
export const hookSecretMend = 'make one by `echo "whsec_$(openssl rand -base64 32)"`';

const pattern = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Whether it can be one. */
export const isHookSecret = (text: string): boolean => {
  const [, base64 = ''] = pattern.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 && bytes.length >= 24 && bytes.length <= 64;
};

/** Several while one takes another's place, between spaces or commas. */
export const readHookSecrets = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== '');
