/** A datamart as requests write it, and how it differs from its database. */
import type { Break } from './change-breaks.js';
import type { RelationshipDraft } from './relationships.js';
import type { Offer } from './source-offers.js';
import type { TableDraft } from './tables.js';
import type { TenancyDraft } from './tenancy.js';

export type ComparedModel = {
  readonly tableList: readonly TableDraft[];
  readonly relationships: readonly RelationshipDraft[];
  readonly sharedTables: readonly string[];
  readonly tenancySettings?: TenancyDraft | undefined;
};

export type ComparedDatamart = {
  readonly offers: readonly Offer[];
  /** What comes of the changes that were accepted. Null: none was. `fault`: why they cannot be saved. */
  readonly accepted: {
    readonly model: ComparedModel;
    readonly breaks: readonly Break[];
    readonly fault: string | null;
  } | null;
};
