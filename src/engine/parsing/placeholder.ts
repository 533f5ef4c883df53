/**
 * `{{DATABASE_NAME}}` stands for the client's database. The parsers read it as an ordinary name; it is resolved when
 * tables are looked up, so no client's name enters a cached text.
 */
import type { Path } from './sql-parser.js';

export const databasePlaceholder = '{{DATABASE_NAME}}';

const mark = 'guestlist_database_name';

export const withoutPlaceholder = (text: string): string => text.replaceAll(databasePlaceholder, mark);

export const withPlaceholder = (text: string): string => text.replaceAll(mark, databasePlaceholder);

/** Table names as the author wrote them. */
export const writtenPath = (path: Path): Path => path.map((part) => (part === mark ? databasePlaceholder : part));
