/** Files that a guest downloads. */
import type { TimeGrain } from '../dashboard/metric.js';
import type { ColumnDates } from '../datamart/dates.js';
import type { FilterValue } from '../filter/filter.js';
import type { AnswerColumn, MetricStream } from '../query/engine.js';

/** `label` is the title for readers, and `name` the one of the interface. */
export type DownloadColumn = AnswerColumn & {
  readonly label: string;
  readonly grain?: TimeGrain | undefined;
  readonly dates?: ColumnDates | undefined;
};

/** The rows of a metric from `offset`. `batches` may have one row more than `limit`, to show that the file is cut. */
export type DownloadRows = Pick<MetricStream, 'batches'> & {
  readonly columns: readonly DownloadColumn[];
  readonly offset: number;
  readonly limit: number | null;
  /** The reader's language, for notes. Undefined: English. */
  readonly language?: string | undefined;
};

/** A filter that the guest may know of. `isFixed`: the token sets the value. */
export type StatedFilter = { readonly name: string; readonly value: FilterValue; readonly isFixed: boolean };

/** One metric of a workbook. `load` reads its rows and must be called at most once. */
export type DownloadSheet = {
  readonly name: string;
  readonly filters: readonly StatedFilter[];
  readonly load: () => Promise<DownloadRows>;
};

/** A workbook: what it is about, and a sheet for each metric. */
export type Workbook = {
  readonly title: string;
  /** The reader's language, for what the first sheet says. Undefined: English. */
  readonly language?: string | undefined;
  readonly madeAt: Date;
  /** IANA name. Null: times are shown as stored. */
  readonly timezone: string | null;
  readonly filters: readonly StatedFilter[];
  readonly sheets: readonly DownloadSheet[];
};
