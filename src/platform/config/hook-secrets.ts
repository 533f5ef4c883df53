/** Secrets of signed hooks in the format of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */

/** Says how to create a valid hook secret. Used in messages. */
export const hookSecretMend = 'make one by `echo "whsec_$(openssl rand -base64 32)"`';

const pattern = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Whether the text is a well-formed hook secret. */
export const isHookSecret = (text: string): boolean => {
  const [, base64 = ''] = pattern.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 && bytes.length >= 24 && bytes.length <= 64;
};

/** Reads one or more secrets, separated by spaces or commas. Several are used while one replaces another. */
export const readHookSecrets = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== '');
