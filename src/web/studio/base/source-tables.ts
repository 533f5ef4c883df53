/** What a source has, and what the service proposes about it. */
import type { OperationAnswer } from './api.js';

export type Catalogue = OperationAnswer<'listDatasourceTables'>['data'];
export type SourceTable = Catalogue['tables'][number];
export type SourceColumn = SourceTable['columns'][number];
