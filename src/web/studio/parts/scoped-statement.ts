/** The statement that runs, with the lines marked that keep it to one tenant. The editor of code must be loaded. */
import { html, type TemplateResult } from 'lit';
import type { CodeFault } from '../base/sql-faults.js';
import { shownStatement } from '../base/statement-lines.js';

export const scopedStatement = (sql: string, tenant: string): TemplateResult => {
  const { text, scopes } = shownStatement(sql);
  const message = `The scope: only rows of the tenant ${tenant}.`;
  const marks = scopes.map((line): CodeFault => ({ line, column: 1, message, severity: 'info' }));
  const where =
    marks.length === 0
      ? 'It reads only tables that all tenants share.'
      : `Marked: the scope of the tenant ${tenant}, which Guestlist puts around each table.`;
  return html`<p class="soft">What the database runs for this user, with placeholders in place of values. ${where}</p>
    <studio-code label="SQL that runs" language="sql" read-only .text=${text} .faults=${marks}></studio-code>`;
};
