import type { ExcessRight, SourceRights } from '../../../model/datamart/source-rights.js';
import type { Ask } from '../../dialect/source-tables.js';

/** Each column is a right of the session's user. Every name is qualified: see `settings` in database.ts. */
const rightsQuery = `SELECT pg_catalog.current_setting('server_version'), r.rolsuper,
  r.rolbypassrls OR EXISTS (SELECT FROM pg_catalog.pg_class c
    WHERE c.relrowsecurity AND NOT c.relforcerowsecurity AND pg_catalog.pg_has_role(c.relowner, 'USAGE')),
  EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')),
  EXISTS (SELECT FROM pg_catalog.pg_namespace n
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')),
  r.rolcreaterole OR r.rolcreatedb OR r.rolreplication
  FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) current_user`;

const rights: readonly ExcessRight[] = ['superuser', 'bypass-rls', 'write', 'create', 'administer'];
const isTrue = (value: unknown): boolean => value === true || value === 't' || value === 'true';

export const readRights = async (ask: Ask): Promise<SourceRights> => {
  const [[version, ...held] = []] = await ask(rightsQuery);
  return { version: String(version ?? ''), excess: rights.filter((_, index) => isTrue(held[index])) };
};

/** Of a server whose catalog does not say what a user may do. */
export const readVersion = async (ask: Ask): Promise<SourceRights> => {
  const [[version] = []] = await ask('SELECT version()');
  return { version: String(version ?? ''), excess: [], isUnknown: true };
};
