/** What `model sync` prints: each change, what it shows, and what it breaks. Pure. */
import { nameOfChange } from '../../model/datamart/source-changes.js';
import { printable } from '../kit/terminal.js';
import type { Break, Change, Offer } from './target.js';

const kinds: Readonly<Record<Break['what'], string>> = {
  metric: 'metric',
  filter: 'filter',
  policy: 'policy',
  relationship: 'relationship',
  tenancy: 'tenancy of',
  customColumn: 'custom column',
};

export const breakLine = ({ what, name, where, why }: Break): string => {
  const named = what === 'metric' || what === 'filter' ? JSON.stringify(name) : name;
  return printable(`breaks ${kinds[what]} ${named}${where === null ? '' : ` of ${where}`}: ${why}`);
};

const whose = ({ kind, clientColumn, path }: NonNullable<Offer['ownership']>): string => {
  const column = clientColumn === null ? '' : `${clientColumn.table}.${clientColumn.column}`;
  if (kind === 'path') return `one tenant each, in ${column}, by ${path.join(', then ')}`;
  if (kind === 'column' || kind === 'master') return `one tenant each, in ${column}`;
  return kind === 'database' ? 'the tenant whose database it is' : '';
};

const whatOf = (change: Change): string => {
  const { kind, newName, before, after, columnName } = change;
  const name = `${columnName === null ? 'table ' : ''}${nameOfChange(change)}`;
  if (kind === 'renamed') return `${name}, now probably ${newName}`;
  if (kind === 'retyped') return `${name}: ${before}, now ${after}`;
  return after === null ? name : `${name} (${after})`;
};

const noteOf = ({ change: { columnName }, ownership, caution }: Offer): readonly string[] => {
  if (ownership === null && caution === null) return [];
  const shown = columnName === null && ownership !== null ? whose(ownership) : '';
  return [
    ...(shown === '' ? [] : [`its rows: ${shown}`]),
    ...(caution === null
      ? []
      : [`only with --add: ${caution}${ownership?.message == null ? '' : ` (${ownership.message})`}`]),
  ];
};

export const offerLines = (offer: Offer): readonly string[] => [
  printable(`${offer.change.kind.padEnd(8)} ${whatOf(offer.change)}`),
  ...noteOf(offer).map((line) => printable(`  ${line}`)),
  ...(offer.change.kind === 'new' ? [] : offer.breaks.map((one) => `  ${breakLine(one)}`)),
];

export const offerJson = ({ change, ownership, caution, breaks }: Offer) => ({
  ...{ kind: change.kind, name: nameOfChange(change), newName: change.newName },
  ...{ before: change.before, after: change.after, isSafe: change.kind === 'new' && caution === null, caution },
  ownership: ownership?.kind ?? null,
  breaks,
});
