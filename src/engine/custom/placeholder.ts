/**
 * `{{DATABASE_NAME}}`, which no grammar knows, stands for a client's own database. For the parsers it is a name like any other; which database it means is
 * decided where tables are looked up, so that nothing of a client's gets into a text.
 */
const placeholder = '{{DATABASE_NAME}}';

export const databaseMark = 'guestlist_database_name';

export const withoutPlaceholder = (text: string): string => text.replaceAll(placeholder, databaseMark);

export const withPlaceholder = (text: string): string => text.replaceAll(databaseMark, placeholder);
