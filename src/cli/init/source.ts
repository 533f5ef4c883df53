/** Reads the URL of a customer's database at the command line. */
import { isAbsolute, resolve } from 'node:path';
import { readSourceUrl, UnreadableUrl } from '../../model/datamart/source-url.js';
import { type DatasourceConnection, isFile } from '../../model/organization.js';
import { WrongCall } from '../kit/exit.js';

/** Throws WrongCall, without the URL's text: it may hold a password. */
export const readDatabaseUrl = (text: string): DatasourceConnection => {
  try {
    const connection = readSourceUrl(text);
    if (!isFile(connection) || isAbsolute(connection.path)) return connection;
    return { ...connection, path: resolve(connection.path) };
  } catch (error) {
    throw error instanceof UnreadableUrl ? new WrongCall(error.message) : error;
  }
};
