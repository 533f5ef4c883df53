import type { Path } from '../sql-parser.js';
import { nameOf } from './block.js';
import { type Ctes, findCte, type Known } from './scope.js';
import type { Item, Joined } from './tree.js';
import type { Around } from './write-expression.js';

type Place = Pick<Around, 'grammar' | 'refuse'> & {
  readonly ctes: Ctes | null;
  readonly addTable: (path: Path) => number;
  readonly count: () => number;
};

const greatestWidth = 1000;

/** Names of the result are read from outside. */
export const assertNames = ({ grammar, refuse }: Place, items: readonly Item[]): void => {
  const seen: string[] = [];
  if (items.length > greatestWidth) refuse(`more than ${greatestWidth} columns in its result`, 'sql-too-long', 0);
  for (const item of items) {
    const name = nameOf(item);
    if (name === undefined) continue;
    if (seen.some((other) => grammar.isSameName(other, name)))
      refuse('two columns of one name in its result; give one another by AS', 'sql-columns-differ', item.location);
    seen.push(name);
  }
};

/** What a FROM names. */
export const knownOf = (place: Place, from: readonly Joined[]): readonly Known[] => {
  const { grammar, refuse } = place;
  const known: Known[] = [];
  for (const { source } of from) {
    const { of, location } = source;
    const cte = findCte(source, place.ctes, grammar, refuse);
    const alias = source.alias?.text ?? (of.kind === 'name' ? (of.path.at(-1) ?? '') : `gl_rows_${place.count()}`);
    if (known.some((other) => grammar.isSameName(other.alias, alias)))
      refuse('a second table of one name in a FROM; give it an alias', 'sql-name', location);
    if (of.kind === 'query') known.push({ alias, path: null, of });
    else {
      const number = cte ?? place.addTable(of.path);
      const kind = cte === undefined ? 'table' : 'cte';
      known.push({ alias, path: source.alias === null && kind === 'table' ? of.path : null, of: { kind, number } });
    }
  }
  return known;
};
