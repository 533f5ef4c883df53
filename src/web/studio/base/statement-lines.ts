/** A statement of the engine in lines that people read, and where it keeps to the rows of one tenant. Pure. */

export type ShownStatement = {
  readonly text: string;
  /** Lines, from 1, whose conditions are the tenant's scope. */
  readonly scopes: readonly number[];
};

const token =
  /--[^\n]*\n?|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|[(),]|\b(?:WITH|SELECT|FROM|WHERE|GROUP\s+BY|HAVING|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|EXCEPT|INTERSECT|(?:(?:LEFT|RIGHT|FULL|INNER|CROSS)\s+)?(?:OUTER\s+)?JOIN)\b|\s+|[^\s'"`(),]+/gi;
const clause =
  /^(?:WITH|SELECT|FROM|WHERE|GROUP\s+BY|HAVING|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|EXCEPT|INTERSECT|(?:\w+\s+)*JOIN)$/i;
/** The engine's names of the parts that read one table each, and of everything that it names. */
const leafName = /^["`]gl_(?:leaf|sql)_\d+/;
const ownName = /^["`]gl_/;

/** `readsTable`: its FROM names a table of the database. */
type Frame = { readonly isQuery: boolean; readonly name: string; isWith: boolean; readsTable: boolean };

class Writer {
  readonly #frames: Frame[] = [{ isQuery: true, name: '', isWith: false, readsTable: false }];
  readonly #scopes: number[] = [];
  #text = '';
  #line = 1;
  #name = '';
  #before = '';

  write(part: string, next: string): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    if (part === '(') this.#open(next);
    else if (part === ')') this.#close();
    else if (frame.isQuery && clause.test(part)) this.#clause(frame, part);
    else this.#word(frame, part);
    if (part.trim() !== '') this.#before = part;
  }

  get shown(): ShownStatement {
    return { text: this.#text.trim(), scopes: this.#scopes };
  }

  get #depth(): number {
    return this.#frames.filter(({ isQuery }) => isQuery).length - 1;
  }

  #break(depth: number): void {
    this.#text = `${this.#text.trimEnd()}${this.#text === '' ? '' : '\n'}${'  '.repeat(depth)}`;
    this.#line = this.#text.split('\n').length;
  }

  #open(next: string): void {
    const isQuery = /^(?:SELECT|WITH)$/i.test(next);
    this.#text += '(';
    this.#frames.push({ isQuery, name: isQuery ? this.#name : '', isWith: false, readsTable: false });
  }

  #close(): void {
    const closed = this.#frames.length > 1 ? this.#frames.pop() : undefined;
    if (closed?.isQuery === true) this.#break(this.#depth);
    this.#text += ')';
  }

  #clause(frame: Frame, part: string): void {
    frame.isWith = /^WITH$/i.test(part);
    this.#break(this.#depth);
    if (/^WHERE$/i.test(part) && frame.readsTable && leafName.test(frame.name)) this.#scopes.push(this.#line);
    this.#text += part.replaceAll(/\s+/g, ' ');
  }

  #word(frame: Frame, part: string): void {
    const isName = /^["`]/.test(part);
    if (isName) this.#name = part;
    if (/^FROM$/i.test(this.#before) && part.trim() !== '') frame.readsTable = !ownName.test(part);
    this.#text += part.trim() === '' ? ' ' : part;
    if (part === ',' && frame.isWith) this.#break(this.#depth);
  }
}

export const shownStatement = (sql: string): ShownStatement => {
  const parts = sql.match(token) ?? [];
  const writer = new Writer();
  parts.forEach((part, at) => {
    writer.write(part, parts.slice(at + 1, at + 3).find((next) => next.trim() !== '') ?? '');
  });
  return writer.shown;
};
