/** What tests of the grammar share: templates whose holes are filled as the engine fills them. */
import type { SelectHole, SqlParser, Template } from '../../src/engine/parsing/sql-parser.js';

/**
 * Renames each CTE to `cte_N`, which a statement may contain. The grammar's own names start with `gl_`, which it
 * refuses.
 */
export const said = (text: string): string => text.replaceAll(/`gl_(cte|rows)_(\d+)`/g, '`$1_$2`');

export const fill = <Hole extends object>(template: Template<Hole>, write: (hole: Hole) => string): string =>
  template.map((part) => (typeof part === 'string' ? part : write(part))).join('');

/** Returns a SELECT as a text that the parser accepts again. */
export const saidAgain = async (parser: SqlParser, text: string): Promise<string> => {
  const { template, tables } = await parser.select(text);
  const path = (table: number): string => (tables[table] ?? []).map((part) => `\`${part}\``).join('.');
  return said(
    fill<SelectHole>(template, (hole) => {
      if (hole.kind === 'table') return `${path(hole.table)} AS \`${hole.alias}\``;
      return hole.kind === 'variable' ? `${hole.name}_variable` : '';
    }),
  );
};

/** Returns the template as one line, with its holes in angle brackets. */
export const shown = async (parser: SqlParser, text: string): Promise<string> => {
  const { template, tables } = await parser.select(text);
  return fill<SelectHole>(template, (hole) => {
    if (hole.kind === 'table') return `<${tables[hole.table]?.join('.')} ${hole.alias}>`;
    return hole.kind === 'variable' ? `<${hole.name}${hole.isItem ? ' item' : ''}>` : '<conditions>';
  });
};
