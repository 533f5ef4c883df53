import type { ExcessRight, SourceRights } from '../../../model/datamart/source-rights.js';
import type { Ask } from '../../dialect/source-tables.js';

/** Words of `SHOW GRANTS`. Those of roles that are not active are not listed. */
const words: readonly (readonly [ExcessRight, RegExp])[] = [
  ['superuser', /\bSUPER\b|\bALL PRIVILEGES ON `?\*`?\.\*/],
  ['write', /\b(?:INSERT|UPDATE|DELETE|ALL PRIVILEGES)\b/],
  ['create', /\b(?:CREATE|DROP|ALTER|ALL PRIVILEGES)\b/],
  ['administer', /\b(?:FILE|PROCESS|SHUTDOWN|CREATE USER)\b|\bALL PRIVILEGES ON `?\*`?\.\*/],
];

export const readRights = async (ask: Ask): Promise<SourceRights> => {
  const [[version] = []] = await ask('SELECT VERSION()');
  // A name in quotes may be the word of a right.
  const grants = (await ask('SHOW GRANTS')).map(([text]) => String(text ?? '').split(' TO ')[0] ?? '');
  const texts = grants.map((text) => text.replace(/`[^`*]*`/g, '``'));
  return {
    version: String(version ?? ''),
    excess: words.flatMap(([right, pattern]) => (texts.some((text) => pattern.test(text)) ? [right] : [])),
  };
};
