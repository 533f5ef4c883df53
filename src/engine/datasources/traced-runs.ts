/** Each statement as a span of the trace: its text without values, and how many rows came back. */
import { type Datasource, protocolOf } from '../../model/organization.js';
import { inSpan, type SpanStart } from '../../platform/traces/trace.js';
import type { OpenedDatabase } from '../connections/database.js';
import type { Statement } from '../dialect/dialect.js';
import { withoutValues } from '../run/query-watch.js';
import type { ClientDatabaseRef } from '../scope/client-database.js';

type Runs = Pick<OpenedDatabase, 'run' | 'stream'>;

/** The names that OpenTelemetry has for kinds of databases. A variant has that of its protocol. */
const systemOf = ({ datasourceType }: Pick<Datasource, 'datasourceType'>): string => {
  const protocol = protocolOf(datasourceType);
  return protocol === 'POSTGRES' ? 'postgresql' : protocol.toLowerCase();
};

const spanOfSql = (
  { sql }: Statement,
  datasource: Pick<Datasource, 'name' | 'datasourceType'>,
  names: readonly string[],
): SpanStart => ({
  name: 'SQL',
  kind: 'client',
  attributes: () => ({
    'db.system.name': systemOf(datasource),
    'db.query.text': withoutValues(sql, names),
    'guestlist.datasource': datasource.name,
  }),
});

/** Runs a statement of no client that another process sends. `rowsOf`: how many rows came back. */
export const inSpanOfSql = <R>(
  statement: Statement,
  datasource: Pick<Datasource, 'name' | 'datasourceType'>,
  run: () => Promise<R>,
  rowsOf: (answer: R) => number,
): Promise<R> =>
  inSpan(spanOfSql(statement, datasource, []), async (span) => {
    const answer = await run();
    span.note(() => ({ 'db.response.returned_rows': rowsOf(answer) }));
    return answer;
  });

/** A database or schema of one client is named after the client, so its name is left out of the text too. */
export const tracedRuns = (
  { run, stream }: Runs,
  datasource: Pick<Datasource, 'name' | 'datasourceType'>,
  client: Pick<ClientDatabaseRef, 'database'> | null,
): Runs => {
  const names = client === null ? [] : [client.database];
  const spanOf = (statement: Statement): SpanStart => spanOfSql(statement, datasource, names);
  return {
    run: (statement, ...asked) =>
      inSpan(spanOf(statement), async (span) => {
        const table = await run(statement, ...asked);
        span.note(() => ({ 'db.response.returned_rows': table.rows.length }));
        return table;
      }),
    stream: (statement, tenant, sink, running) =>
      inSpan(spanOf(statement), async (span) => {
        let rows = 0;
        await stream(
          statement,
          tenant,
          (batch) => {
            rows += batch.rows.length;
            return sink(batch);
          },
          running,
        );
        span.note(() => ({ 'db.response.returned_rows': rows }));
      }),
  };
};
