/** A relationship between two tables, as the interface has it. */
export type Relationship = {
  readonly relationshipName: string;
  readonly parentTableName: string;
  readonly parentColumnName: string;
  readonly childTableName: string;
  readonly childColumnName: string;
  readonly cardinality: string | null;
};
