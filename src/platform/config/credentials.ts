import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { fileFault } from '../files/file-faults.js';
import { isMissing } from '../files/missing.js';
import { createSealingKey, type KeyRing, readKeyRing } from '../keys/sealing.js';

const stored = z.strictObject({
  serviceToken: z.string().min(1),
  demoApiKey: z.string().min(1),
  demoJwtSecret: z.string().min(1),
  encryptionKey: z.string().refine((keys) => readKeyRing(keys) !== undefined),
  gatewayToken: z.string().min(1),
});

/** Files of earlier releases lack these two fields. They are created on load, and the other fields are kept. */
const storedEarlier = stored.partial({ encryptionKey: true, gatewayToken: true });

/** The credentials that the first start creates if the environment does not set them. */
export type Credentials = Omit<Stored, 'encryptionKey'> & {
  readonly keyRing: KeyRing;
  /** Where the keys of the ring come from, for messages. */
  readonly keySource: string;
};

type Stored = z.output<typeof stored>;
type Given = { readonly [Name in keyof Stored]: string | null };

const readStored = async (file: string): Promise<z.output<typeof storedEarlier> | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw await fileFault(file, 'read', error);
  }
  const checked = storedEarlier.safeParse(parse(text));
  if (!checked.success) {
    throw new Error(
      `${file} is damaged: mend it, or remove it to have new credentials made (unless GUESTLIST_ENCRYPTION_KEY is given, start once with --accept-loss then, and enter datasources again)`,
    );
  }
  return checked.data;
};

/** Returns undefined if the text is not JSON. The parser's own error is dropped because it quotes the text, which is secret. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Writes the file atomically. Only its owner can read it at any time. */
const write = async (file: string, credentials: Stored): Promise<void> => {
  const unfinished = `${file}.${process.pid}.part`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(unfinished, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
    await chmod(unfinished, 0o600);
    await rename(unfinished, file);
  } catch (cause) {
    throw await fileFault(dirname(file), 'written', cause);
  }
};

/** Stores these credentials for the next start, and returns the path of the file. Throws if there is no file. */
export const storeCredentials = async (
  dataDir: string,
  changed: Partial<Pick<Stored, 'encryptionKey' | 'serviceToken'>>,
): Promise<string> => {
  const file = join(dataDir, 'credentials.json');
  const there = stored.safeParse(await readStored(file));
  if (!there.success) throw new Error(`${file} is missing or not whole: start Guestlist once on this data folder.`);
  await write(file, { ...there.data, ...changed });
  return file;
};

const ringOf = (file: string, given: string | null, kept: string): Pick<Credentials, 'keyRing' | 'keySource'> => {
  const keySource = given === null ? `encryptionKey of ${file}` : 'GUESTLIST_ENCRYPTION_KEY';
  const keyRing = readKeyRing(given ?? kept);
  if (keyRing === undefined) throw new Error(`${keySource} is not 32 bytes in base64`);
  return { keyRing, keySource };
};

/**
 * Loads the credentials of this installation. A credential in `given` has priority, then `credentials.json` in the data
 * folder. Missing ones are created and written to that file with mode 0600. Given credentials are never written.
 */
export const loadCredentials = async (
  dataDir: string,
  given: Given,
): Promise<Credentials & { readonly file: string }> => {
  const file = join(dataDir, 'credentials.json');
  const there = await readStored(file);
  const kept: Stored = {
    serviceToken: there?.serviceToken ?? randomUUID(),
    demoApiKey: there?.demoApiKey ?? randomUUID(),
    demoJwtSecret: there?.demoJwtSecret ?? randomBytes(48).toString('base64url'),
    encryptionKey: there?.encryptionKey ?? createSealingKey(),
    gatewayToken: there?.gatewayToken ?? randomUUID(),
  };
  if (there?.encryptionKey === undefined || there.gatewayToken === undefined) {
    await write(file, kept);
  }
  return {
    serviceToken: given.serviceToken ?? kept.serviceToken,
    demoApiKey: given.demoApiKey ?? kept.demoApiKey,
    demoJwtSecret: given.demoJwtSecret ?? kept.demoJwtSecret,
    ...ringOf(file, given.encryptionKey, kept.encryptionKey),
    gatewayToken: given.gatewayToken ?? kept.gatewayToken,
    file,
  };
};
