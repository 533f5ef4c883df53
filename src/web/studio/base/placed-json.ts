/** Reads JSON and says where each value begins, or where the text stops being JSON. */

export type PlacedJson =
  /** `places`: offsets by path, such as `measures[0].name`. The whole text has the empty path. */
  | { readonly value: unknown; readonly places: ReadonlyMap<string, number> }
  | { readonly fault: { readonly offset: number; readonly message: string } };

class Stop extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

const patterns = {
  space: /[ \t\r\n]*/y,
  text: /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy,
  scalar: /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y,
} as const;

class Reader {
  readonly places = new Map<string, number>();
  #at = 0;

  constructor(readonly text: string) {}

  get rest(): string {
    return this.text.slice(this.#at);
  }

  read(): unknown {
    const value = this.#value('');
    if (this.rest !== '') throw new Stop(this.#at, 'The definition ends here. Remove what follows.');
    return value;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #is(sign: string): boolean {
    this.#take(patterns.space);
    if (this.text[this.#at] !== sign) return false;
    this.#at += 1;
    this.#take(patterns.space);
    return true;
  }

  #expect(sign: string, what: string): void {
    if (!this.#is(sign)) throw new Stop(this.#at, `Expected ${what}.`);
  }

  #value(path: string): unknown {
    this.#take(patterns.space);
    this.places.set(path, this.#at);
    if (this.#is('{')) return this.#object(path);
    if (this.#is('[')) return this.#list(path);
    const scalar = this.#take(patterns.text) ?? this.#take(patterns.scalar);
    if (scalar === undefined)
      throw new Stop(this.#at, 'Expected a value: text in double quotes, a number, {…} or […].');
    this.#take(patterns.space);
    return JSON.parse(scalar);
  }

  #object(path: string): object {
    const parts: (readonly [string, unknown])[] = [];
    if (this.#is('}')) return {};
    do {
      const at = this.#at;
      const name = this.#take(patterns.text);
      if (name === undefined) throw new Stop(this.#at, 'Expected a name in double quotes.');
      const key: string = JSON.parse(name);
      if (parts.some(([other]) => other === key)) throw new Stop(at, `The name ${name} stands here twice.`);
      this.#expect(':', 'a colon after the name');
      parts.push([key, this.#value(path === '' ? key : `${path}.${key}`)]);
    } while (this.#is(','));
    this.#expect('}', 'a comma or }');
    return Object.fromEntries(parts);
  }

  #list(path: string): unknown[] {
    const items: unknown[] = [];
    if (this.#is(']')) return items;
    do items.push(this.#value(`${path}[${items.length}]`));
    while (this.#is(','));
    this.#expect(']', 'a comma or ]');
    return items;
  }
}

export const readPlacedJson = (text: string): PlacedJson => {
  const reader = new Reader(text);
  try {
    return { value: reader.read(), places: reader.places };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { fault: { offset: error.offset, message: error.message } };
  }
};

/** The offset of the longest part of the path that the text has. */
export const placeOfPath = (places: ReadonlyMap<string, number>, path: string): number => {
  for (let part = path; part !== ''; part = part.replace(/(?:^|\.)[^.[\]]*$|\[\d*\]$/, '')) {
    const found = places.get(part);
    if (found !== undefined) return found;
  }
  return places.get('') ?? 0;
};
