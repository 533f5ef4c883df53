/** The two ends of a move: where metadata is, as it is named in messages. A name never holds a user or a password. */
import { isAbsolute, resolve } from 'node:path';
import { databaseUrlMend, isDatabaseUrl, placeOf } from '../../addresses/database-url.js';

/** A data folder, or a PostgreSQL server. */
export type Place =
  | { readonly kind: 'folder'; readonly dataDir: string }
  | { readonly kind: 'server'; readonly databaseUrl: string };

/** The name that is stored and shown: the path of the folder, or `host:port/database`. */
export const nameOf = (place: Place): string => (place.kind === 'folder' ? place.dataDir : placeOf(place.databaseUrl));

/** Whether the name is that of a data folder. */
export const isFolderName = (name: string): boolean => isAbsolute(name);

const backup = 'backup of ';

/** The name of a backup that was made at this time. */
export const nameOfBackup = (at: string): string => `${backup}${at}`;

/** Whether the name is that of a backup. */
export const isBackupName = (name: string): boolean => name.startsWith(backup);

/** A stored name as `--from` and `--to` take it. */
export const argumentOf = (name: string): string => (isFolderName(name) ? name : `postgres://USER:PASSWORD@${name}`);

/** Reads a URL, or the path of a data folder. Throws an Error, without the URL, if it cannot be one. */
export const placeIn = (text: string): Place => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'folder', dataDir: resolve(text) };
  if (!isDatabaseUrl(text))
    throw new Error(`A URL of the metadata ${databaseUrlMend}; anything else is a data folder.`);
  return { kind: 'server', databaseUrl: text };
};
