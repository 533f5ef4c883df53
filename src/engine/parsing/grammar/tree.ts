/** The syntax tree. Names keep their spelling; `location` is an offset in characters. */
export type Name = { readonly text: string; readonly location: number };

export type Column = { readonly kind: 'column'; readonly path: readonly string[]; readonly location: number };

export type Expression =
  | Column
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'word'; readonly word: 'NULL' | 'TRUE' | 'FALSE' }
  /** `DATE '2024-01-01'`. */
  | { readonly kind: 'moment'; readonly type: 'DATE' | 'TIMESTAMP'; readonly value: string }
  | { readonly kind: 'row'; readonly items: readonly Expression[] }
  | { readonly kind: 'prefix'; readonly operator: 'NOT' | '-'; readonly of: Expression }
  /** Operators of one precedence, from left to right. */
  | { readonly kind: 'chain'; readonly first: Expression; readonly rest: readonly Link[] }
  | { readonly kind: 'compare'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  /** `IS NOT NULL` and similar tests. */
  | { readonly kind: 'is'; readonly of: Expression; readonly test: string }
  | {
      readonly kind: 'between';
      readonly of: Expression;
      readonly isNot: boolean;
      readonly low: Expression;
      readonly high: Expression;
    }
  | {
      readonly kind: 'like';
      readonly operator: string;
      readonly of: Expression;
      readonly pattern: Expression;
      readonly escapedBy: string | null;
    }
  | {
      readonly kind: 'in';
      readonly of: Expression;
      readonly isNot: boolean;
      readonly among: readonly Expression[] | Query;
    }
  | { readonly kind: 'exists'; readonly query: Query }
  | { readonly kind: 'subquery'; readonly query: Query }
  | {
      readonly kind: 'case';
      readonly of: Expression | null;
      readonly branches: readonly { readonly when: Expression; readonly value: Expression }[];
      readonly otherwise: Expression | null;
    }
  | { readonly kind: 'cast'; readonly of: Expression; readonly type: string }
  | { readonly kind: 'extract'; readonly unit: string; readonly of: Expression }
  | { readonly kind: 'interval'; readonly value: Expression; readonly unit: string }
  | { readonly kind: 'collate'; readonly of: Expression; readonly collation: string }
  | { readonly kind: 'trim'; readonly side: string; readonly what: Expression | null; readonly of: Expression }
  | Call;

export type Link = { readonly operator: string; readonly operand: Expression };

export type Call = {
  readonly kind: 'call';
  /** As written in the SQL. */
  readonly name: string;
  readonly isAggregate: boolean;
  readonly isDistinct: boolean;
  readonly unit: string | null;
  /** `quantile(0.5)(x)`: the 0.5. */
  readonly levels: readonly string[];
  /** `all`: COUNT(*). */
  readonly args: readonly Expression[] | 'all';
  readonly order: readonly Order[];
  readonly separator: string | null;
  readonly window: Window | null;
};

export type Window = {
  readonly partition: readonly Expression[];
  readonly order: readonly Order[];
  /** `ROWS BETWEEN 6 PRECEDING AND CURRENT ROW`: keywords and numbers only. */
  readonly frame: string | null;
};

export type Order = {
  readonly by: Expression;
  readonly direction: 'ASC' | 'DESC';
  readonly nulls: 'FIRST' | 'LAST' | null;
};

export type Query = {
  readonly kind: 'query';
  readonly ctes: readonly Cte[];
  readonly body: Body;
  readonly order: readonly Order[];
  readonly limit: string | null;
  readonly offset: string | null;
};

export type Cte = { readonly name: Name; readonly query: Query };

export type Body =
  | Select
  | Query
  | { readonly kind: 'set'; readonly operator: string; readonly items: readonly Body[] };

export type Select = {
  readonly kind: 'select';
  readonly isDistinct: boolean;
  readonly items: readonly Item[];
  readonly from: readonly Joined[];
  readonly where: Expression | null;
  readonly group: readonly Expression[];
  readonly isRollup: boolean;
  readonly having: Expression | null;
};

export type Item =
  | { readonly kind: 'item'; readonly expression: Expression; readonly alias: Name | null; readonly location: number }
  /** `*`, or `t.*`. */
  | { readonly kind: 'all'; readonly of: readonly string[]; readonly location: number };

export type Joined = {
  /** Empty for the first source. */
  readonly join: string;
  readonly source: Source;
  readonly on: Expression | null;
  readonly using: readonly string[];
};

export type Source = {
  readonly of: { readonly kind: 'name'; readonly path: readonly string[] } | Query;
  readonly alias: Name | null;
  readonly location: number;
};
