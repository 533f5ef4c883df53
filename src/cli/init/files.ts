/** The texts of the files that `init` writes. Pure. */
import { stringify } from 'yaml';
import { claimNameFor } from '../../gateway/policy-tools/claim-name.js';
import type { DashboardFilter } from '../../model/dashboard/dashboard.js';
import type { FirstRestriction } from '../../model/dashboard/first/restriction.js';
import { type DatasourceConnection, isFile } from '../../model/organization.js';
import type { Login } from './login.js';

export type Setup = {
  readonly name: string;
  readonly dashboard: { readonly id: string; readonly title: string };
  readonly connection: DatasourceConnection;
  readonly port: number;
  /** Origin of the host's pages. */
  readonly origin: string;
  /** Name of the session's claim that holds the tenant, of sessions that the host signs itself. */
  readonly claim: string;
  /** The provider whose sessions are used; null: the host signs sessions itself. */
  readonly login: Login | null;
  /** Name of the claim that lists the tenants of a user who has several; null: each user has one. */
  readonly claimOfSeveral: string | null;
  /** What the policy's restriction narrows users to; null: the dashboard has no category. */
  readonly restricted: FirstRestriction | null;
  readonly tenants: readonly string[];
  /** Their names, by id; a tenant may have none. */
  readonly tenantNames: Readonly<Record<string, string>>;
};

/** Origin of the page that `init` writes to try the dashboard. */
export const trialOrigin = 'http://localhost:8080';

export const serviceUrlOf = ({ port }: Pick<Setup, 'port'>): string => `http://127.0.0.1:${port}`;

const text = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

const reachOf = (connection: DatasourceConnection): string =>
  isFile(connection)
    ? `  ${connection.datasourceType === 'SQLITE' ? 'sqliteFolders' : 'duckdbFolders'}: ${text([connection.path.replace(/[/\\][^/\\]*$/, '') || '/'])}`
    : `  allowedHosts: ${text([`${connection.host.includes(':') ? `[${connection.host}]` : connection.host}:${connection.port}`])}`;

const issuerText = (login: Login | null): string =>
  login === null
    ? ''
    : `  session:
    issuers: # sessions of ${login.provider}: ${login.docs}
      - ${text(login.issuer)}
`;

export const settingsFile = (setup: Setup): string => {
  const origins = [...new Set([setup.origin, trialOrigin])];
  const note = setup.origin === trialOrigin ? '' : ` # ${trialOrigin} is host-page.mjs: remove it when you do`;
  return `# The configuration of Guestlist, which \`guestlist serve\` reads when it is started in this folder. Every setting is
# explained in config/guestlist.yaml of the package. Secrets are in guestlist.env.
server:
  port: ${setup.port}
dataDir: ./data
datasources: # the databases that may be read
${reachOf(setup.connection)}
gateway:
  policies: ./policy.yaml
  allowedOrigins: ${text(origins)}${note}
${issuerText(setup.login)}`;
};

export const environmentFile = (secrets: Readonly<Record<string, string>>): string =>
  `# Secrets of Guestlist. Keep this file out of version control. GUESTLIST_HOST_JWT_SECRET signs the sessions of your
# application (HS256): use the secret that your backend signs its sessions with, or let it sign with this one.
${Object.entries(secrets)
  .map(([name, value]) => `${name}=${value}`)
  .join('\n')}
`;

const ignored = ['data/', 'guestlist.env'] as const;

/** Returns the text of .gitignore: `before`, which is empty if there is none, and the lines that keep secrets out. */
export const ignoreFile = (before: string): string => {
  const lines = before.split('\n').map((line) => line.trim());
  const missing = ignored.filter((line) => !lines.includes(line)).map((line) => `${line}\n`);
  const gap = before === '' || before.endsWith('\n') || missing.length === 0 ? '' : '\n';
  return `${before}${gap}${missing.join('')}`;
};

/** The claim that the restriction reads. */
const claimOf = (
  { name }: DashboardFilter,
  { claim, claimOfSeveral }: Pick<Setup, 'claim' | 'claimOfSeveral'>,
): string => claimNameFor(name, [claim, ...(claimOfSeveral === null ? [] : [claimOfSeveral])]);

/** A text as YAML that may stand in a flow collection too. JSON is YAML. */
const quoted = (value: string): string => JSON.stringify(value);
const restrictionName = ({ name }: DashboardFilter): string =>
  quoted(`restricted users see one ${name.toLowerCase()} only`);

/** Charts that the category says nothing of are hidden from restricted users, and the filter from all. */
const restrictionText = (setup: Setup, { filter, hidden }: FirstRestriction): string => {
  const { dashboard } = setup;
  const name = quoted(filter.name);
  const lost = hidden.map((one) => quoted(one.name)).join(', ');
  const hides =
    hidden.length === 0
      ? ''
      : `      hideMetrics: # charts whose rows have none
        ${dashboard.id}: [${lost}]
  - name: the filter does not narrow every chart, so nobody chooses by it
    when: "true"
    restrict:
      hideDashboardFilters: [${name}]
`;
  return `
restrictions: # every restriction whose \`when\` is true APPLIES, to all that is granted
  - name: ${restrictionName(filter)}
    when: '"restricted" in user.roles'
    restrict:
      dashboardFilters:
        ${name}: user.claims.${claimOf(filter, setup)}
${hides}`;
};

const tenantText = (claim: string, several: string | null): string =>
  several === null ? `claims.${claim}` : quoted(`has(claims.${several}) ? claims.${several} : [claims.${claim}]`);

const sessionText = (setup: Setup): string => {
  const { login, claim, claimOfSeveral, restricted } = setup;
  return login === null
    ? `session: # which claims your sessions have, which of them is the tenant, and which holds the roles
  claims:
    ${claim}: string${claimOfSeveral === null ? '' : `\n    ${claimOfSeveral}: list<string>`}
    roles: list<string>${restricted === null ? '' : `\n    ${claimOf(restricted.filter, setup)}: string`}
  tenant: ${tenantText(claim, claimOfSeveral)}
  roles: "has(claims.roles) ? claims.roles : []"
`
    : `session: # claims, tenant and roles of ${login.provider}; what is given beside it replaces its part
  preset: ${login.preset}
`;
};

export const policyFile = (setup: Setup): string => {
  const { name, dashboard, restricted } = setup;
  return `# Who sees what. The package's docs explain each field: reference/policies.md.
version: 1
dataApp: ${text(name)}
workspace: ${text(name)}
datamart: ${text(name)}

${sessionText(setup)}
expiryMinutes: 60

templates: # dashboards that each tenant gets a copy of
  ${dashboard.id}:
    name: ${text(dashboard.title)}
onSignUp: [${dashboard.id}] # made at a sign-up by webhook already, else at the first login

rules: # every rule whose \`when\` is true ADDS what it grants
  - name: every user of a tenant sees ${dashboard.id}
    when: "true"
    grant:
      templates: [${dashboard.id}]
      permissions: [isShowDashboardName]
${restricted === null ? '' : restrictionText(setup, restricted)}`;
};

/** A session of the tenant, as YAML. JSON is YAML: a number stays text. */
const userText = ({ login, claim }: Setup, sub: string, tenant: string): string =>
  JSON.stringify({ sub, ...(login === null ? { [claim]: tenant } : login.claimsOf(tenant)) });

/** What a policy test expects beside the grant of every user. */
const hiddenFilters = ({ restricted }: Setup): readonly string[] =>
  restricted === null || restricted.hidden.length === 0
    ? []
    : [`hideDashboardFilters: [${quoted(restricted.filter.name)}]`];

const restrictedTests = (setup: Setup, tenant: string): string => {
  const { dashboard, claim, restricted } = setup;
  if (restricted === null) return '';
  const { filter, hidden } = restricted;
  const lost = hidden.map(({ name }) => quoted(name)).join(', ');
  const expected = [
    `dashboardFilters: { ${quoted(filter.name)}: some }`,
    ...hiddenFilters(setup),
    ...(hidden.length === 0 ? [] : [`hideMetrics: { ${dashboard.id}: [${lost}] }`]),
  ];
  return `
  - name: ${quoted(`a restricted user sees one ${filter.name.toLowerCase()} only`)}
    user: { sub: sam, ${claim}: ${tenant}, roles: [restricted], ${claimOf(filter, setup)}: some }
    expect:
      tenant: ${tenant}
      templates: [${dashboard.id}]
      permissions: [isShowDashboardName]
      restrictions: { ${expected.join(', ')} }

  - name: a restricted user whose session does not say which one sees nothing
    user: { sub: sam, ${claim}: ${tenant}, roles: [restricted] }
    expect: { denied: POLICY_UNDECIDED, by: ${restrictionName(filter)} }
`;
};

const severalTests = ({ dashboard, claimOfSeveral, ...setup }: Setup, tenant: string): string => {
  if (claimOfSeveral === null) return '';
  const user = `user: { sub: rita, ${claimOfSeveral}: [${tenant}, another] }`;
  return `
  - name: a user of several tenants sees the chosen one
    ${user}
    body: { tenant: ${tenant} }
    expect:
      tenant: ${tenant}
      templates: [${dashboard.id}]
      permissions: [isShowDashboardName]${restrictionsText(hiddenFilters({ dashboard, claimOfSeveral, ...setup }))}

  - name: a user of several tenants chooses among them only
    ${user}
    body: { tenant: third }
    expect: { denied: NO_TENANT }
`;
};

const restrictionsText = (expected: readonly string[]): string =>
  expected.length === 0 ? '' : `\n      restrictions: { ${expected.join(', ')} }`;

export const policyTestFile = (setup: Setup): string => {
  const { dashboard, tenants } = setup;
  const [first = 'some-tenant'] = tenants;
  const tenant = JSON.stringify(first);
  const user = userText(setup, 'ann', first);
  return `# Tests of policy.yaml: \`guestlist policy test policy.test.yaml\`. \`expect\` is the whole answer.
tests:
  - name: a user sees the dashboard of the own tenant
    user: ${user}
    expect:
      tenant: ${tenant}
      templates: [${dashboard.id}]
      permissions: [isShowDashboardName]${restrictionsText(hiddenFilters(setup))}

  - name: a session without a tenant sees nothing
    user: { sub: nobody }
    expect: { denied: NO_TENANT }

  - name: nobody chooses another tenant
    user: ${user}
    body: { tenant: another }
    expect: { denied: NO_TENANT }
${restrictedTests(setup, tenant)}${severalTests(setup, tenant)}`;
};

/** The lines that a host's page needs. `yourSessionJwt` is the session that the host's backend signed. */
export const pageLines = (
  serviceUrl: string,
): string => `<script type="module" src="${serviceUrl}/elements.js"></script>
<guestlist-dashboard id="numbers"></guestlist-dashboard>
<script type="module">
  document.querySelector('#numbers').getToken = async (asked) => {
    const answer = await fetch('${serviceUrl}/embed-token', {
      method: 'POST',
      headers: { authorization: \`Bearer \${yourSessionJwt}\`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    return answer.json();
  };
</script>`;

const restrictedLink = (setup: Setup): string =>
  setup.restricted === null
    ? ''
    : ` To try the restriction, add \`&roles=restricted&${claimOf(setup.restricted.filter, setup)}=…\` to the address.`;

/** The function of the page that signs a session. Of a provider: the claims that its session in the organization has. */
const sessionOf = ({ login, claim, tenants }: Setup): string => {
  const life = 'exp: Math.floor(Date.now() / 1000) + 3600';
  const sub = `sub: \`someone-at-\${tenant}\``;
  if (login === null)
    return `const session = ({ tenant = tenants[0], roles = '', ...claims }) =>
  sign({ ${sub}, ${claim}: tenant, roles: roles.split(',').filter(Boolean), ...claims, ${life} });`;
  const claims = Object.fromEntries(tenants.map((tenant) => [tenant, login.claimsOf(tenant)]));
  return `const claimsOf = ${JSON.stringify(claims)}; // as ${login.provider} has them
const session = ({ tenant = tenants[0] }) => sign({ ${sub}, ...claimsOf[tenant], ${life} });`;
};

export const hostPageFile = (
  setup: Setup,
): string => `// A page of another origin that shows the dashboard: stands for your application while you try Guestlist. It signs a
// session for whatever tenant the address names, so never put it where others reach it.
//   node host-page.mjs      then open the address that it prints.${restrictedLink(setup)}
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseEnv } from 'node:util';

const { GUESTLIST_HOST_JWT_SECRET: secret } = parseEnv(readFileSync(new URL('guestlist.env', import.meta.url), 'utf8'));
const tenants = ${JSON.stringify(setup.tenants)};
const names = ${JSON.stringify(setup.tenantNames)};
const plain = (text) => text.replace(/[&<>"]/g, '');
const nameOf = (id) => (names[id] === undefined ? plain(id) : \`\${plain(names[id])} <small>\${plain(id)}</small>\`);

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sign = (claims) => {
  const text = \`\${base64({ alg: 'HS256', typ: 'JWT' })}.\${base64(claims)}\`;
  return \`\${text}.\${createHmac('sha256', secret).update(text).digest('base64url')}\`;
};
${sessionOf(setup)}

const lines = ${JSON.stringify(pageLines(serviceUrlOf(setup)).split('\n'), null, 2)};
const page = \`<!doctype html>
<meta charset="utf-8">
<title>My application</title>
<style>body { font: 15px system-ui, sans-serif; margin: 0; padding: 1rem 2rem; background: #f4f5f7 } nav a { margin-right: 1rem }</style>
<nav>Tenant: \${tenants.map((id) => \`<a href="/?tenant=\${encodeURIComponent(id)}">\${nameOf(id)}</a>\`).join('')}</nav>
\${lines.join('\\n').replace('const answer', \`const yourSessionJwt = await (await fetch('/session' + location.search)).text();\\n    const answer\`)}\`;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const isSession = pathname === '/session';
  response.setHeader('content-type', isSession ? 'text/plain' : 'text/html; charset=utf-8');
  response.setHeader('cache-control', 'no-store');
  response.end(isSession ? session(Object.fromEntries(searchParams)) : page);
});
server.on('error', ({ code, message, port }) => {
  console.error(code === 'EADDRINUSE' ? \`Port \${port} is taken. Name another: node host-page.mjs \${port + 1}\` : message);
  process.exitCode = 1;
});
server.listen(Number(process.argv[2] ?? 8080), 'localhost', () => console.log(\`Open http://localhost:\${server.address().port}\`));
`;
