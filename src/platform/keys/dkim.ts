/** The key that signs messages (DKIM, RFC 6376), from a file or from the environment. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type DkimSetting = { readonly domain: string; readonly selector: string; readonly keyFile: string | null };

/** As nodemailer takes it. `privateKey` is never logged. */
export type Dkim = {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKey: string;
  readonly headerFieldNames: string;
};

/** RFC 8058 wants both headers of the unsubscription signed; nodemailer leaves out the second one. */
const signedHeaders =
  'from:sender:reply-to:subject:date:message-id:to:mime-version:content-type:content-transfer-encoding:list-unsubscribe:list-unsubscribe-post';

/** RFC 8301: shorter keys are not to be trusted. */
const leastBits = 1024;

const isUsable = (pem: string): boolean => {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= leastBits;
  } catch {
    // Whatever is no key is unusable. The text is not shown.
    return false;
  }
};

const readKey = (file: string, folder: string): string | undefined => {
  try {
    return readFileSync(resolve(folder, file), 'latin1');
  } catch {
    // The fault names the setting.
    return undefined;
  }
};

type Loaded = {
  readonly dkim: Dkim | null;
  readonly faults: readonly { readonly path: string; readonly mend: string }[];
};
const faulty = (path: string, mend: string): Loaded => ({ dkim: null, faults: [{ path, mend }] });

/** `key`: that of the environment, where line breaks can be written as `\n`. */
export const loadDkim = (setting: DkimSetting | null, key: string | null, folder: string): Loaded => {
  if (setting === null) return { dkim: null, faults: [] };
  const { domain, selector, keyFile } = setting;
  const pem = keyFile === null ? key?.replaceAll('\\n', '\n') : readKey(keyFile, folder);
  if (pem === undefined) {
    return keyFile === null
      ? faulty('mail.dkim', 'needs a key: set GUESTLIST_DKIM_KEY, or name a file by keyFile')
      : faulty('mail.dkim.keyFile', 'cannot be read');
  }
  if (!isUsable(pem)) {
    return faulty(
      'mail.dkim',
      `has a key that is no RSA key in PEM of at least ${leastBits} bits: make one by \`openssl genrsa 2048\``,
    );
  }
  const names = { domainName: domain, keySelector: selector, headerFieldNames: signedHeaders };
  return { dkim: { ...names, privateKey: pem }, faults: [] };
};
