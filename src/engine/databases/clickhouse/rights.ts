import type { ExcessRight, SourceRights } from '../../../model/datamart/source-rights.js';
import type { Ask } from '../../dialect/source-tables.js';

/** Words of `SHOW GRANTS`, which every user may ask about itself, unlike `system.grants`. */
const words: readonly (readonly [ExcessRight, RegExp])[] = [
  ['superuser', /^ALL\b.* ON \*\.\*/],
  ['write', /\b(?:ALL|INSERT|ALTER(?: UPDATE| DELETE| TABLE)?|TRUNCATE)\b/],
  ['create', /\b(?:ALL|CREATE|DROP)\b/],
  ['administer', /\b(?:ALL|ACCESS MANAGEMENT|SYSTEM|WITH GRANT OPTION)\b/],
];

/** The rights of a line, without the names of databases, tables and users, which may be words of rights. */
const rightsIn = (line: string): string => {
  const [, rights = '', option = ''] = /^GRANT (.*?) ON .*? TO .*?( WITH GRANT OPTION)?$/.exec(line) ?? [];
  const where = / ON \*\.\* /.test(line) ? ' ON *.*' : '';
  return rights.replaceAll(/\([^)]*\)/g, '') + where + option;
};

export const readRights = async (ask: Ask): Promise<SourceRights> => {
  const [[version] = []] = await ask('SELECT version()');
  const held = (await ask('SHOW GRANTS')).map(([line]) => rightsIn(String(line ?? '')));
  return {
    version: String(version ?? ''),
    excess: words.flatMap(([right, pattern]) => (held.some((one) => pattern.test(one)) ? [right] : [])),
  };
};
