/**
 * The schema of the configuration: every setting with its type, default and meaning. All defaults are defined here.
 * `npm run docs` generates config/guestlist.yaml and docs/reference/configuration.md from it. `guestlist --help` lists the
 * variables.
 */

import { z } from 'zod';
import { capabilityNames } from '../../model/capability.js';
import { isTimezone } from '../../model/filter/date-range.js';
import { gatewayIdMend, isGatewayId } from '../../model/gateway-id.js';
import { studioRoles } from '../../model/person.js';
import { timePattern } from '../../model/schedule/recurrence.js';
import { readAllowedHost } from '../addresses/allowed-hosts.js';
import { databaseUrlMend, isDatabaseUrl } from '../addresses/database-url.js';
import { isOrigin, originFault } from '../addresses/origin.js';
import { isRedisUrl, redisUrlMend } from '../addresses/redis-url.js';
import { channelName, channelsSetting } from './channels.js';
import { hookProvidersSetting } from './hook-providers.js';
import { clockTolerance, issuersSetting } from './issuers.js';
import { logoFile, mailAddress, mailLanguage, mailText, senderName, tenantBrands } from './mail-brands.js';
import { modelsSetting } from './models.js';
import { variable } from './outgoing-settings.js';

const optionalText = z.string().min(1).nullable().default(null);
const origin = z.string().refine(isOrigin, { error: ({ input }) => originFault(input) });
const whole = (min: number, max: number) => z.number().int().min(min).max(max);
const perMinute = (usual: number) => whole(1, 1_000_000_000).nullable().default(usual);
const section = <T extends z.ZodRawShape>(meaning: string, shape: T) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(meaning);

const server = section('the port of gateway and service', {
  host: z.string().min(1).default('127.0.0.1').describe('address to listen on'),
  port: whole(0, 65_535).default(3000).describe('port of gateway and service; 0 takes a free port'),
  headersTimeoutSeconds: whole(1, 600)
    .default(10)
    .describe('how long a caller may take to send the head of a request; then the connection is cut'),
  requestTimeoutSeconds: whole(1, 3600)
    .default(60)
    .describe('how long a caller may take to send a whole request with its body; the answer may take longer'),
  keepAliveSeconds: whole(1, 3600)
    .default(72)
    .describe(
      'how long a connection without a request stays open; longer than the idle time-out of the balancer in front, whose usual value is 60, or requests that it sends just then fail',
    ),
});

const management = section(
  'a separate port for /metrics, /docs, /openapi.json, /gateway/admin and the causes in /readyz; server.port then answers 404 for them',
  {
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('address to listen on; everything but /gateway/admin is open to everybody who reaches it'),
    port: whole(0, 65_535)
      .nullable()
      .default(null)
      .describe(
        'null: no separate port; on server.port these paths then need GUESTLIST_METRICS_TOKEN or the gateway token in production',
      ),
  },
);

const shutdown = section('what SIGTERM does: /readyz answers 503, requests finish, and the process ends', {
  graceSeconds: whole(1, 3600)
    .default(20)
    .describe('time until the process has ended; requests that still run are cut, each with a log line'),
  noticeSeconds: whole(0, 600)
    .default(5)
    .describe(
      'how long requests are still accepted after /readyz answers 503, if something asks /readyz: as long as a load balancer needs',
    ),
});

const datasources = section('which databases may be datasources, and the connections to them', {
  allowedHosts: z
    .array(z.string().refine((entry) => readAllowedHost(entry) !== undefined, 'a host name or address, or host:port'))
    .default([])
    .describe('database servers that may be datasources: `host` for any port, or `host:port`; empty: none'),
  duckdbFolders: z
    .array(z.string().min(1))
    .default([])
    .describe('folders of DuckDB files that may be datasources, in addition to the folder `sources` inside dataDir'),
  sqliteFolders: z
    .array(z.string().min(1))
    .default([])
    .describe('folders of SQLite files that may be datasources, in addition to the folder `sources` inside dataDir'),
  untested: z
    .boolean()
    .default(false)
    .describe(
      'whether datasources may be of a type on which Guestlist was never run, such as REDSHIFT; docs/reference/databases.md lists them',
    ),
  maxConnections: whole(1, 10_000).default(100).describe('connections of this process to database servers, in total'),
  maxConnectionsPerDatasource: whole(1, 1_000)
    .default(10)
    .describe("connections to one datasource, including its clients' databases"),
  maxConnectionsPerClient: whole(1, 1_000)
    .default(3)
    .describe('connections to the database of one client, if each client has a database'),
});

const queries = section('queries on datasources', {
  timeoutSeconds: whole(1, 3600)
    .default(30)
    .describe('how long a statement may run; then it is cancelled at the database'),
  answerRows: whole(1, 1_000_000)
    .default(10_000)
    .describe('rows of an answer if the request names no limit; an answer that is cut off says `truncated`'),
  answerMegabytes: whole(1, 1024)
    .default(32)
    .describe('size of an answer, and of one batch of a download, as the database sends it; more is not read'),
  downloadSeconds: whole(1, 86_400)
    .default(600)
    .describe('how long a CSV download may take, including the time of its reader'),
  cacheTtlSeconds: whole(0, 86_400)
    .default(60)
    .describe(
      'how long an answer is cached for the same client of the same data app; 0: never; a datamart can override it',
    ),
  cacheMegabytes: whole(1, 65_536)
    .default(64)
    .describe('size of the result cache in this process; with redisUrl, replicas also share cached answers, sealed'),
  warmUp: section('asking again what guests asked lately, after a rollup is built, after a roll-out and at a time', {
    at: z
      .string()
      .regex(timePattern)
      .nullable()
      .default(null)
      .describe('a time of each day, such as `06:00`; null: at none'),
    timezone: z.string().refine(isTimezone, 'expected an IANA name').default('UTC').describe('of `at`: an IANA name'),
    questions: whole(0, 10_000).default(200).describe('questions of one process each time; 0: none is asked again'),
    questionsPerTenant: whole(1, 1_000).default(20).describe('of them, those of one tenant'),
  }),
  runningPerClient: whole(1, 1_000)
    .nullable()
    .default(null)
    .describe('queries of one client that run at once on one database; null: two thirds of its connections'),
  waitingPerClient: whole(0, 100_000)
    .default(200)
    .describe('queries of one client that may wait at one database; more are refused'),
  waiting: whole(0, 1_000_000)
    .default(2_000)
    .describe('queries of all clients that may wait at one database; more are refused'),
  waitSeconds: whole(1, 600).default(30).describe('how long a query may wait before it is refused'),
});

const rollups = section('sums of tables that datamarts declare, kept beside the datasources', {
  folder: optionalText.describe(
    'folder of the files, which all replicas share; they have rows of all clients, so nobody else may read it. null: nothing is kept, and datasources answer',
  ),
  memoryMegabytes: whole(64, 65_536).default(512).describe('memory of a build, and of the questions that read files'),
  diskMegabytes: whole(64, 1_048_576)
    .default(4_096)
    .describe('disk that a build may use beside the files that it makes'),
  tailRows: whole(0, 100_000)
    .default(20_000)
    .describe(
      'groups of one client after the last closed period that a question may read from the datasource; with more, the datasource answers the whole question',
    ),
  niceness: whole(0, 19)
    .default(19)
    .describe(
      'how far the process that builds gives way to all else where processors are short: 0 not at all, 19 the most; a machine that is always busy may need less',
    ),
});

const themes = section('how the elements look: files of Design Tokens; a workspace names its theme by themeName', {
  folder: optionalText.describe('folder of themes, each in a file NAME.json; null: none'),
  clients: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('names of themes by client id, for clients with a theme of their own'),
});

const renders = section('PNG and PDF that this process draws with headless Chromium', {
  chromiumPath: optionalText.describe('the executable; null: the usual places are searched'),
  atOnce: whole(1, 32).default(2).describe('pages that are drawn at once'),
  waiting: whole(0, 1_000).default(20).describe('pages that may wait; more are answered 503'),
  perClient: whole(1, 1_000).default(4).describe('pages of one client under way; more are answered 429'),
  timeoutSeconds: whole(1, 600).default(60).describe('how long a page may take, including its wait'),
  niceness: whole(0, 19)
    .default(10)
    .describe('how far the browser gives way to queries where processors are short: 0 not at all, 19 the most (Linux)'),
});

export const domainName = z.string().regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'a domain, such as customer.example');

const mail = section(
  'reports by e-mail that users schedule to themselves; off unless `from`, GUESTLIST_SMTP_URL and gateway.publicOrigin are set',
  {
    from: mailAddress.nullable().default(null).describe('address of the sender; null: no reports'),
    senderName: senderName.nullable().default(null).describe('name of the sender; null: the address alone'),
    replyTo: mailAddress.nullable().default(null).describe('address for answers; null: the sender'),
    logo: logoFile.nullable().default(null).describe('PNG or JPEG of at most 100 KiB above the text; null: none'),
    opening: mailText.nullable().default(null).describe('sentence at the beginning; null: none'),
    closing: mailText.nullable().default(null).describe('sentence at the end; null: none'),
    tenants: tenantBrands
      .default({})
      .describe(
        'what a tenant has of its own, by its clientId: from, senderName, replyTo, language, logo, opening, closing',
      ),
    dkim: z
      .strictObject({
        domain: domainName,
        selector: z.string().regex(/^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/, 'a selector, such as mail2026'),
        keyFile: z.string().min(1).nullable().default(null),
      })
      .nullable()
      .default(null)
      .describe(
        'signs messages (DKIM): domain, selector, and keyFile with an RSA key in PEM, else GUESTLIST_DKIM_KEY; null: the mail server does',
      ),
    allowedDomains: z
      .array(domainName)
      .default([])
      .describe('domains of the recipients, without their subdomains; empty: nobody gets a report'),
    addressClaim: z.string().min(1).default('email').describe("claim of the session that holds the user's address"),
    languageClaim: z
      .string()
      .min(1)
      .default('locale')
      .describe("claim of the session that holds the user's language, such as de or pt-BR"),
    language: mailLanguage
      .nullable()
      .default(null)
      .describe('language of messages to users whose session names none; null: English, with files as written'),
    dashboardUrl: z
      .url({ protocol: /^https?$/ })
      .nullable()
      .default(null)
      .describe(
        'page of the host application that shows a dashboard, with {dashboardId} in it; null: messages have no link',
      ),
    sessionDays: whole(1, 365)
      .default(30)
      .describe("how long a user's last session counts for reports, if the user does not come back"),
    perTenantPerMinute: whole(1, 100_000).default(30).describe('attempts for one tenant in a minute'),
    spreadMinutes: whole(0, 55)
      .default(10)
      .describe(
        'the time over which the messages of one moment leave, each schedule at a place of its own; of a schedule of the host, each tenant; 0: as fast as they can',
      ),
    atOnce: whole(1, 32).default(2).describe('reports that this process makes at once'),
    attempts: whole(1, 20).default(6).describe('attempts before a report fails'),
    megabytes: whole(1, 100).default(10).describe('size of the files of one message'),
    isTlsRequired: z.boolean().default(true).describe('whether a mail server without TLS is refused'),
  },
);

const openId = z
  .strictObject({
    issuer: z
      .url()
      .refine(
        (url) => /^https:/.test(url) || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]?/.test(url),
        'an https address, or http on this machine',
      )
      .describe('the issuer, whose /.well-known/openid-configuration is read'),
    clientId: z
      .string()
      .min(1)
      .describe('the id of Studio at the issuer; its redirect address is ORIGIN/studio/login/callback'),
    scopes: z.array(z.string().min(1)).min(1).default(['openid', 'profile']),
    rolesClaim: z.string().min(1).default('roles').describe('the claim with the values that `roles` maps'),
    nameClaim: z.string().min(1).default('name').describe('the claim with the name that Studio shows'),
    roles: z
      .record(z.string().min(1), z.array(z.enum(studioRoles)).min(1))
      .describe('roles of Studio by value of rolesClaim: owner, author, publisher, policyAdmin, support, auditor'),
    dataAccess: z
      .array(z.string().min(1))
      .default([])
      .describe('values of rolesClaim whose persons may see rows of tenants'),
    allowPrivateAddresses: z
      .boolean()
      .default(false)
      .describe('whether endpoints that the issuer names at other hosts than its own may be of your own network'),
  })
  .nullable()
  .default(null);

const studio = section('Studio, the web app at /studio; it runs where gateway and service run in one process', {
  isEnabled: z.boolean().default(true).describe('whether this process serves Studio'),
  loginLink: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'whether a start prints a link that logs in as owner, once; null: yes, but not in production, where `guestlist studio-link` makes one',
    ),
  savesPolicy: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'whether Studio writes the policy file; null: yes, but neither in production nor for the demo, where it offers the changed file to download',
    ),
  openId: openId.describe(
    'logins by OpenID Connect, with the fields issuer, clientId, scopes, rolesClaim, nameClaim, roles, dataAccess and allowPrivateAddresses (true: endpoints that the issuer names at other hosts than its own may be of your own network); null: login links only; a confidential client has GUESTLIST_STUDIO_CLIENT_SECRET',
  ),
  uploadMegabytes: whole(0, 102_400)
    .nullable()
    .default(null)
    .describe(
      'greatest size of a file that an author uploads as a source; 0: no uploads; null: 256, and 0 with databaseUrl, because other processes would not have the file; with databaseUrl set a number only if this process is the only one, or all processes share dataDir',
    ),
  servesAssistants: z
    .boolean()
    .default(false)
    .describe('whether assistants of operators may call /studio/mcp, with keys of `guestlist operator-key`'),
  recheckMinutes: whole(1, 1_440)
    .default(5)
    .describe(
      'after how long the issuer of a login by OpenID Connect is asked again for the person, while the session is used',
    ),
  recheckGraceMinutes: whole(0, 1_440)
    .default(30)
    .describe(
      'how long after that a session goes on while the issuer cannot be reached; then it waits for the issuer, with status 503',
    ),
  idleMinutes: whole(1, 1_440).default(60).describe('how long a session may be unused; then its person logs in again'),
  sessionHours: whole(1, 720).default(12).describe('how long a session lasts, used or not'),
});

const limits = section(
  'limits of the service for each minute, counted over all replicas that share redisUrl; beyond: 429 with Retry-After; null: no limit',
  {
    guestTokenPerMinute: perMinute(12_000).describe(
      'requests with one guest token, which users with the same rights share',
    ),
    guestAddressPerMinute: perMinute(3_000).describe('requests with one guest token from one address'),
    failedCredentialsPerMinute: perMinute(300).describe(
      'wrong credentials from one address, counted for each kind (guest tokens, API keys, service tokens, gateway tokens, hooks); valid credentials are never refused because of it',
    ),
    refusedMegabytesPerMinute: whole(1, 1_000_000)
      .nullable()
      .default(8)
      .describe('megabytes of invalid bodies of one credential, counted in this process'),
  },
);

const mcp = section('/mcp: what guests may do as tools of the Model Context Protocol, with a guest token as bearer', {
  isEnabled: z.boolean().default(false).describe('whether this process serves /mcp; it needs the service'),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe('origins of web pages that may call /mcp; programs, which send no Origin, need no entry'),
});

const chat = section('what guests ask in words, of the models of `models`; without models: nothing is sent anywhere', {
  userPerMinute: perMinute(10).describe('questions of one user; of one guest token where it names no user'),
  tenantPerMinute: perMinute(60).describe('questions of all users of one tenant'),
  rounds: whole(1, 20).default(6).describe('answers of the model to one question, its uses of tools included'),
  tokens: whole(1_000, 10_000_000)
    .default(60_000)
    .describe('tokens of one question, as the model counts them, over all rounds; then no round follows'),
  seconds: whole(1, 600).default(120).describe('how long one question may take in total'),
});

const session = section('how sessions of the host application are verified', {
  cookie: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'a cookie name of letters, digits, _ and -')
    .default('guestlist_session')
    .describe("name of the cookie that holds the host's session JWT"),
  issuer: optionalText.describe('the `iss` of sessions signed with GUESTLIST_HOST_JWT_SECRET; null: not checked'),
  audience: optionalText.describe('the `aud` of sessions signed with GUESTLIST_HOST_JWT_SECRET; null: not checked'),
  clockToleranceSeconds: clockTolerance.describe(
    'how much the clocks of host and gateway may differ, for sessions signed with GUESTLIST_HOST_JWT_SECRET',
  ),
  issuers: issuersSetting.describe('every other issuer of sessions, with these fields:'),
});

const upstream = section('the service that mints tokens; all but serviceUrl is for a service in another process', {
  serviceUrl: z.url().nullable().default(null).describe('base URL of the service; null: the built-in service'),
  timeoutMs: whole(100, 60_000).default(10_000).describe('how long one try of a call may take'),
  deadlineMs: whole(100, 120_000)
    .default(20_000)
    .describe('how long a call may take in total: its wait in the queue, its tries and the pauses between them'),
  retries: whole(0, 5)
    .default(2)
    .describe('further tries of a call that may be repeated; minting a token is never repeated'),
  maxConcurrent: whole(1, 1_000).default(64).describe('calls that run at once'),
  maxQueued: whole(0, 100_000).default(1_000).describe('calls that may wait; more are answered 503 at once'),
  breakerFailures: whole(1, 1_000)
    .default(8)
    .describe('failures in a row after which calls pause; cached tokens are still answered'),
  breakerOpenMs: whole(100, 30_000)
    .default(2_000)
    .describe('how long calls pause at first; the pause doubles with each further failure, up to 30 seconds'),
  capabilities: z
    .union([z.enum(['auto', 'none']), z.array(z.enum(capabilityNames))])
    .default('auto')
    .describe(
      'what the service supports beyond the interface: auto asks the service, none, or a list such as [delete-dashboard]',
    ),
});

const gatewayLimits = section(
  'limits of POST /embed-token for each minute, counted over all replicas that share redisUrl; beyond: 429; null: no limit',
  {
    userPerMinute: perMinute(300).describe('requests of one user'),
    tenantPerMinute: perMinute(12_000).describe('requests of all users of one tenant'),
    failedSessionsPerMinute: perMinute(300).describe(
      'sessions from one address that could not be verified; valid sessions are never refused because of it',
    ),
    trustedProxies: whole(0, 10)
      .default(0)
      .describe('proxies in front that append to X-Forwarded-For; 0: the address of the connection counts'),
  },
);

const policyMayRead = section(
  'what the policy may read besides its own files; a policy that names anything else is refused, also one that somebody only tries',
  {
    tables: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'tables of tenants (session.tenant.table), as the policy names them: regular files in the folder of the policy file, or below it',
      ),
    lookups: z
      .array(
        z.strictObject({
          url: z.string().min(1).describe('the address, as in the policy'),
          secretVariable: variable.describe('the variable of its secret, as in the policy'),
          allowPrivateAddresses: z.boolean().default(false).describe('whether the host may be of your own network'),
        }),
      )
      .default([])
      .describe('hosts that are asked for tenants (session.tenant.http)'),
  },
);

const retention = section('how long something is kept; `guestlist hold` keeps what is of a tenant for longer', {
  auditDays: whole(1, 36_500)
    .nullable()
    .default(null)
    .describe(
      'days after which entries of the audit are archived in archiveFolder, signed, and deleted here; null: never',
    ),
  archiveFolder: optionalText.describe(
    'folder of archived entries of the audit, which all replicas share; needed with auditDays',
  ),
  explanationsDays: whole(1, 3650)
    .default(30)
    .describe('days for which the input of a decision is kept, sealed, for `policy explain --request`'),
  deliveriesDays: whole(1, 3650)
    .default(90)
    .describe('days for which deliveries of reports and answers to webhooks are kept after their end'),
  tokensDays: whole(0, 3650)
    .default(7)
    .describe('days for which guest tokens are kept after they expired; their callers learn that they expired'),
  usageDays: whole(31, 36_500).default(1100).describe('days after which sums of what was used are deleted'),
});

const gateway = section('the gateway: sessions, policy, and its upstream', {
  deploymentId: z
    .string()
    .refine(isGatewayId, gatewayIdMend)
    .nullable()
    .default(null)
    .describe(
      'name of this gateway at the service, the same for all of its replicas and after each restart; a changed policy revokes the tokens that it minted, and not those of another gateway of the service; null: one of the database',
    ),
  policies: z
    .string()
    .min(1)
    .default('./policies/flights.yaml')
    .describe('the policy file: which tenant a user belongs to, and who may see what'),
  policyMayRead,
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe(
      "origins of host pages that may call /embed-token, besides the gateway's own origin; exact. While server.host is an address of this machine alone, pages of this machine may call it too with a Bearer session, but not in production",
    ),
  publicOrigin: origin
    .nullable()
    .default(null)
    .describe(
      "the gateway's own origin as browsers see it, for example https://numbers.example.com; null: the Host of the request, any scheme",
    ),
  session,
  upstream,
  hooks: section('hooks of the host application, off without GUESTLIST_HOOK_SECRETS, and of providers', {
    toleranceSeconds: whole(1, 3600).default(300).describe("how much the sender's clock may differ"),
    providers: hookProvidersSetting.describe(
      'login and billing providers that send to /hooks/provider/NAME, each by a name: kind (clerk, workos, auth0, propelauth, kinde, logto, stripe, supabase, custom) and secretVariable, or secretVariables with two while one replaces the other; claims and when (CEL over event), erase: true where a deletion erases; kinde has issuer, stripe suspend and resume, supabase header and table, custom signature and read (docs/how-to/provider-webhooks.md)',
    ),
  }),
  publicServiceUrl: z
    .url()
    .nullable()
    .default(null)
    .describe(
      'base URL at which browsers reach the service; null: upstream.serviceUrl, else publicOrigin, else this server (if it listens on every address: the Host of the request)',
    ),
  limits: gatewayLimits,
});

export const settingsSchema = z.strictObject({
  server,
  management,
  shutdown,
  dataDir: z
    .string()
    .min(1)
    .default('./data')
    .describe('folder of everything that is stored: metadata, demo data, generated credentials'),
  databaseUrl: optionalText
    .refine((url) => url === null || isDatabaseUrl(url), databaseUrlMend)
    .describe(
      'PostgreSQL for the metadata: postgres://user@host/db, or postgres://user@host1,host2/db for a primary and its standbys; null: PGlite inside dataDir',
    ),
  embeddedDatabase: section('PGlite, if databaseUrl is null', {
    flush: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        'whether each write is flushed to disk (fsync) before it is acknowledged; null: yes, but not for the demo',
      ),
  }),
  redisUrl: optionalText
    .refine((url) => url === null || isRedisUrl(url), `REDIS_URL ${redisUrlMend}`)
    .describe(
      'Redis for caches and limits of several replicas: redis://host:port, redis-sentinel://host:port,host:port/name or redis-cluster://host:port,host:port (rediss for TLS); null: memory of this process',
    ),
  logLevel: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('least level of log lines: silent, error, warn, info or debug'),
  demo: z
    .boolean()
    .default(true)
    .describe('the flights demo; it never runs with another configuration file, or under NODE_ENV=production'),
  datasources,
  queries,
  rollups,
  renders,
  mail,
  channels: channelsSetting.describe(
    'webhooks that alerts and links may go to, each by a name that policies grant: `kind: webhook` with url and secretVariable (Standard Webhooks; two secrets with a space between them while one replaces the other), or `kind: slack` with urlVariable; allowPrivateAddresses: true for a receiver in your own network',
  ),
  models: modelsSetting.describe(
    'language models that guests may ask, each by the name that `llmName` of a workspace has: url (of an interface like that of OpenAI, such as https://models.example/v1), model, keyVariable; allowRows: true sends rows of the guest who asks; allowPrivateAddresses: true for a server in your own network, allowHttp: true for one without TLS; timeoutSeconds (60) and answerTokens (2000) limit one answer',
  ),
  chat,
  themes,
  studio,
  limits,
  usage: section('what is counted of the use of this installation, by hour and tenant', {
    hourDays: whole(1, 3650).default(35).describe('days after which the sums of hours become sums of days'),
    channel: channelName
      .nullable()
      .default(null)
      .describe(
        'the webhook of `channels` to which what tenants used is sent, hour by hour, for a billing system; policies cannot grant it; null: none',
      ),
  }),
  retention,
  mcp,
  gateway,
});

export type Settings = z.output<typeof settingsSchema>;

/** Returns the settings if nothing is configured. */
export const defaultSettings = (): Settings => settingsSchema.parse({});
