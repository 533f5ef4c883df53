// The processes of the token bench: one service with the demo's data, and gateways in front of it, each with a configuration of its own.
import { generateKeyPairSync, randomBytes, sign as signBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { stringify } from 'yaml';
import { credentialsIn, launch, root } from './server.mjs';
import { writeTenantTable } from './tenants.mjs';
import { onFirstCore } from './wrk.mjs';

const user = { sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
const pem = { type: 'spki', format: 'pem' };

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** jsonwebtoken signs nothing by EdDSA. */
const signEdDsa = (key) => (claims) => {
  const iat = Math.floor(Date.now() / 1000);
  const payload = { iss: 'EdDSA', ...user, iat, exp: iat + 3_600, ...claims };
  const input = `${encode({ alg: 'EdDSA', typ: 'JWT' })}.${encode(payload)}`;
  return `${input}.${signBytes(null, Buffer.from(input), key).toString('base64url')}`;
};

/** Signers of sessions of one user, by the algorithm, and the issuers that a gateway must know for them. */
export const createSigners = () => {
  const secret = randomBytes(48).toString('base64url');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ed = generateKeyPairSync('ed25519');
  const sign = (key, algorithm) => (claims) =>
    jwt.sign({ iss: algorithm, ...user, ...claims }, key, { algorithm, expiresIn: '1h' });
  return {
    secret,
    sign: {
      ...{ HS256: sign(secret, 'HS256'), RS256: sign(rsa.privateKey, 'RS256'), ES256: sign(ec.privateKey, 'ES256') },
      EdDSA: signEdDsa(ed.privateKey),
    },
    issuers: [
      { issuer: 'HS256', algorithms: ['HS256'], secretVariable: 'BENCH_SECRET' },
      { issuer: 'RS256', algorithms: ['RS256'], publicKey: rsa.publicKey.export(pem) },
      { issuer: 'ES256', algorithms: ['ES256'], publicKey: ec.publicKey.export(pem) },
      { issuer: 'EdDSA', algorithms: ['EdDSA'], publicKey: ed.publicKey.export(pem) },
    ],
  };
};

/** The organization as claims of providers have it: in objects, a map and a list of objects. */
export const nestedClaims = {
  o: { id: 'LAX', rol: 'admin', slg: 'lax' },
  realm_access: { roles: ['analyst', 'offline_access'] },
  organization: { LAX: { id: 'LAX', groups: ['a', 'b'] }, SFO: { id: 'SFO' } },
  memberships: Array.from({ length: 20 }, (_, index) => ({ id: `org-${index}`, roles: ['member'] })),
};

/** The shipped policy with nested claims instead of flat ones. */
const nested = (shipped) =>
  shipped
    .replace(
      /^ {2}claims:.*\n/m,
      `  claims:
    o: { id: string, rol: string, slg?: string }
    realm_access: { roles: list<string> }
    organization: "map<string, { id: string, groups?: list<string> }>"
    memberships: [{ id: string, roles: list<string> }]
`,
    )
    .replace(/^ {2}tenant: .*$/m, '  tenant: claims.o.id')
    .replace(/^ {2}roles: .*$/m, '  roles: claims.realm_access.roles');

/** Writes the demo's policy. With `tenants`, it looks tenants up in a table of that many. */
const writePolicy = (folder, tenants, isNested) => {
  const text = readFileSync(join(root, 'config/policies/flights.yaml'), 'utf8');
  const shipped = isNested ? nested(text) : text;
  const file = join(folder, 'policy.yaml');
  if (tenants === undefined) {
    writeFileSync(file, shipped);
    return file;
  }
  writeTenantTable(join(folder, 'tenants.csv'), tenants - 1);
  appendFileSync(join(folder, 'tenants.csv'), 'LAX,LAX\n');
  writeFileSync(file, shipped.replace(/^ {2}tenant: .*$/m, '  tenant: { key: claims.org_id, table: ./tenants.csv }'));
  return file;
};

export const startService = (folder) => {
  const dataDir = join(folder, 'service');
  return launch(onFirstCore(join(root, 'bin/guestlist.mjs'), 'serve', '--only', 'service'), { dataDir });
};

/**
 * Starts a gateway in its own process with everything on that production uses: limits that the load does not reach,
 * epochs, log, encrypted cache. `from`: the checkout to start. `env`: added to its environment.
 */
export const startGateway = async (
  folder,
  name,
  { service, signers, redisUrl, tenants, isNested = false, from = root, env = {} },
) => {
  const own = join(folder, name);
  mkdirSync(own);
  const { demoApiKey } = await credentialsIn(join(folder, 'service'));
  const config = {
    gateway: {
      policies: writePolicy(own, tenants, isNested),
      policyMayRead: { tables: ['./tenants.csv'] },
      // An earlier version may not know the newest algorithm.
      session: { issuers: signers.issuers.filter(({ issuer }) => from === root || issuer !== 'EdDSA') },
      limits: { userPerMinute: 1_000_000, tenantPerMinute: 1_000_000 },
    },
  };
  writeFileSync(join(own, 'guestlist.yaml'), stringify(config));
  return launch(onFirstCore(join(from, 'bin/guestlist.mjs'), 'serve', '--only', 'gateway'), {
    dataDir: join(own, 'data'),
    env: {
      GUESTLIST_CONFIG: join(own, 'guestlist.yaml'),
      GUESTLIST_SERVICE_URL: service.url,
      GUESTLIST_API_KEY: demoApiKey,
      BENCH_SECRET: signers.secret,
      ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
      ...env,
    },
  });
};

/** The gateway inside a host's app. */
export const startMounted = async (folder, { service }) => {
  const own = join(folder, 'mounted');
  mkdirSync(own);
  const { demoApiKey } = await credentialsIn(join(folder, 'service'));
  return launch(onFirstCore(join(root, 'test/bench/mounted.mjs')), {
    dataDir: join(own, 'data'),
    env: { MOUNTED_POLICY: writePolicy(own), MOUNTED_SERVICE_URL: service.url, MOUNTED_API_KEY: demoApiKey },
  });
};

/** The hand-written gateway of team.mjs. */
export const startTeam = async (folder, { service, signers, redisUrl }) => {
  const { demoApiKey } = await credentialsIn(join(folder, 'service'));
  return launch(onFirstCore(join(root, 'test/bench/team.mjs')), {
    dataDir: join(folder, 'team'),
    env: {
      NODE_ENV: 'production',
      TEAM_REDIS_URL: redisUrl,
      TEAM_SERVICE_URL: service.url,
      TEAM_API_KEY: demoApiKey,
      TEAM_JWT_SECRET: signers.secret,
    },
  });
};
