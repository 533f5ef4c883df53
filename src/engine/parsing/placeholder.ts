/**
 * `{{DATABASE_NAME}}`, which no grammar knows, stands for a client's own database. For the parsers it is a name like any other; which database it means is
 * decided where tables are looked up, so that nothing of a client's gets into a text.
 */
import type { Path } from './sql-parser.js';

export const databasePlaceholder = '{{DATABASE_NAME}}';

const mark = 'guestlist_database_name';

export const withoutPlaceholder = (text: string): string => text.replaceAll(databasePlaceholder, mark);

export const withPlaceholder = (text: string): string => text.replaceAll(mark, databasePlaceholder);

/** Names of tables as they were written. */
export const writtenPath = (path: Path): Path => path.map((part) => (part === mark ? databasePlaceholder : part));
