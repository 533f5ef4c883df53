/** Dockerfile, compose.yaml and the chart agree with the product and with each other, and hold no secret. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { copiesOf, findHelm, manifest, read, readStages, root, variablesOf } from './files.js';

const stages = readStages();
const last = stages.at(-1) ?? [];
const settings = defaultSettings();

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  .join('\n');

/** Whether the product reads a variable of this name. */
const isRead = (variable: string): boolean => new RegExp(`'${variable}'|\\.${variable}\\b`).test(sources);

const secretNames = /SECRET|TOKEN|PASSWORD|KEY|DATABASE_URL|REDIS_URL/;

describe('Dockerfile', () => {
  test('pins its base image by tag, in one place', () => {
    const [before = []] = stages;
    const { NODE_IMAGE = '' } = variablesOf(before, 'ARG');
    expect(NODE_IMAGE).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/);
    const bases = stages.slice(1).map(([from]) => from?.text.split(' ')[0]);
    expect(bases).toEqual([`\${NODE_IMAGE}`, `\${NODE_IMAGE}`, `\${NODE_IMAGE}`]);
  });

  test('the Node of the Dockerfile is one that the package supports', () => {
    const [major = 0, minor = 0] = (/node:(\d+)\.(\d+)/.exec(read('Dockerfile')) ?? []).slice(1).map(Number);
    const [leastMajor = 0, leastMinor = 0] = (/(\d+)\.(\d+)/.exec(manifest.engines.node) ?? []).slice(1).map(Number);
    expect(major > leastMajor || (major === leastMajor && minor >= leastMinor)).toBe(true);
  });

  test('copies only files that exist and that .dockerignore lets through', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toContain('*');
    const sent = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const copied = stages
      .flatMap(copiesOf)
      .filter(({ from }) => from === null)
      .flatMap((copy) => copy.sources);
    for (const path of copied) expect(() => statSync(join(root, path)), path).not.toThrow();
    expect([...new Set(copied)].toSorted()).toEqual(sent.toSorted());
  });

  test('the stage that builds has every file that the build imports', () => {
    const build = stages.find((stage) => stage.some(({ text }) => text.includes('node build.mjs'))) ?? [];
    const copied = copiesOf(build).flatMap((copy) => copy.sources);
    const missing = new Set<string>();
    const follow = (file: string): void => {
      if (!copied.some((path) => file === path || file.startsWith(`${path}/`))) missing.add(file);
      for (const [, path = ''] of read(file).matchAll(/(?:from |import\()'(\.[^']+)'/g))
        follow(join(dirname(file), path));
    };
    follow('build.mjs');
    expect([...missing]).toEqual([]);
  });

  test('the image holds every file of the published package', () => {
    const targets = copiesOf(last).map(({ target }) => target);
    expect(targets).toEqual(expect.arrayContaining(manifest.files.filter((file) => !file.startsWith('!'))));
    expect(copiesOf(last).flatMap((copy) => copy.sources)).toContain('package.json');
  });

  test('installs no development package into the image, runs no install script, and writes the SBOM', () => {
    const runs = stages.flat().filter(({ name, text }) => name === 'RUN' && text.includes('npm ci'));
    expect(runs).toHaveLength(2);
    for (const { text } of runs) expect(text).toContain('--ignore-scripts');
    const [from] = copiesOf(last).filter((copy) => copy.sources.includes('/guestlist/node_modules'));
    expect(from?.from).toBe('packages');
    expect(runs.at(-1)?.text).toContain('npm ci --omit=dev');
    expect(runs.at(-1)?.text).toMatch(/npm sbom .*--sbom-format=cyclonedx .*> sbom\.cdx\.json$/);
  });

  test('runs as a user by number, in production mode, with the version of the package', () => {
    const found = Object.fromEntries(last.map(({ name, text }) => [name, text]));
    expect(found.USER).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(variablesOf(last, 'ENV')).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0' });
    expect(variablesOf(last, 'ARG').VERSION).toBe(manifest.version);
    expect(found.STOPSIGNAL).toBe('SIGTERM');
    expect(found.EXPOSE).toBe(variablesOf(last, 'ENV').PORT);
    expect(found.EXPOSE).toBe(String(settings.server.port));
    expect(found.VOLUME).toBe(`["${variablesOf(last, 'ENV').GUESTLIST_DATA_DIR}"]`);
    expect(found.HEALTHCHECK).toContain('CMD ["node", "healthcheck.mjs", "/healthz"]');
  });

  test('sets only variables that the product reads, and no secret', () => {
    for (const variable of Object.keys(variablesOf(last, 'ENV'))) expect(isRead(variable), variable).toBe(true);
    const named = stages.flatMap((stage) => [
      ...Object.keys(variablesOf(stage, 'ENV')),
      ...Object.keys(variablesOf(stage, 'ARG')),
    ]);
    expect(named.filter((variable) => secretNames.test(variable))).toEqual([]);
  });
});

type ComposeService = {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly [key: string]: unknown;
};
type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};

describe('compose.yaml', () => {
  const compose: Compose = parse(read('compose.yaml'));
  const { guestlist, postgres, redis } = compose.services;
  const environment = guestlist?.environment ?? {};

  test('sets only variables that the product reads', () => {
    for (const variable of Object.keys(environment)) expect(isRead(variable), variable).toBe(true);
  });

  test('takes every secret from the environment, and has no default for one', () => {
    const all = { ...environment, ...postgres?.environment };
    const secrets = Object.entries(all).filter(([name]) => secretNames.test(name) && name !== 'REDIS_URL');
    expect(secrets.length).toBeGreaterThan(7);
    for (const [name, value] of secrets) {
      const references = [...value.matchAll(/\$\{([A-Z_]+)(:\?[^}]+|:-)\}/g)];
      expect(references, name).toHaveLength(1);
    }
    expect(environment.DATABASE_URL?.replace(/\$\{[^}]*\}/, '')).toBe('postgres://guestlist:@postgres:5432/guestlist');
    expect(environment.REDIS_URL).toBe('redis://redis:6379');
  });

  test('git does not take the file of secrets', () => {
    expect(read('.gitignore').split('\n')).toContain('.env');
  });

  test('the container runs as the user of the image, with a read-only root and no capabilities', () => {
    expect(guestlist).toMatchObject({
      user: last.find(({ name }) => name === 'USER')?.text,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(guestlist?.image).toBe(`guestlist:${manifest.version}`);
  });

  test('ports, volumes and health check fit the image', () => {
    const { PORT, GUESTLIST_DATA_DIR } = variablesOf(last, 'ENV');
    expect(guestlist?.ports).toEqual([expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:.*:${PORT}$`))]);
    expect(guestlist?.volumes).toEqual([expect.stringMatching(/:\/etc\/guestlist:ro$/), `data:${GUESTLIST_DATA_DIR}`]);
    expect(environment.GUESTLIST_CONFIG).toBe('/etc/guestlist/guestlist.yaml');
    expect(guestlist?.healthcheck).toMatchObject({ test: ['CMD', 'node', 'healthcheck.mjs', '/readyz'] });
    expect(Number.parseInt(String(guestlist?.stop_grace_period), 10)).toBeGreaterThan(settings.shutdown.graceSeconds);
  });

  test('the stores cannot be reached from outside, and their volumes and networks are declared', () => {
    expect(postgres?.networks).toEqual(['stores']);
    expect(redis?.networks).toEqual(['stores']);
    expect(postgres?.ports ?? redis?.ports).toBeUndefined();
    expect(compose.networks).toEqual({ stores: { internal: true } });
    expect(Object.keys(compose.volumes)).toEqual(['data', 'postgres']);
  });
});

const minimum = {
  image: { repository: 'registry.example.com/guestlist' },
  secret: 'guestlist',
  files: { 'guestlist.yaml': 'gateway: { policies: ./policies.yaml }\n', 'policies.yaml': 'x: 1\n' },
};

describe('chart', () => {
  const chart: { readonly version: string; readonly appVersion: string } = parse(read('deploy/chart/Chart.yaml'));
  const values = parse(read('deploy/chart/values.yaml'));
  const deployment = read('deploy/chart/templates/deployment.yaml');
  const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
    JSON.parse(read('deploy/chart/values.schema.json')),
  );
  const check = (given: object): readonly string[] => {
    validate({ ...values, ...given });
    return (validate.errors ?? []).map(({ instancePath }) => instancePath).toSorted();
  };

  test('has the version of the package', () => {
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
  });

  test('the defaults lack only image, secret and configuration', () => {
    expect(check({})).toEqual(['/files', '/image/repository', '/secret']);
    const image = { ...values.image, ...minimum.image };
    expect(check({ ...minimum, image })).toEqual([]);
  });

  test('the schema describes every value and no other', () => {
    const schema = JSON.parse(read('deploy/chart/values.schema.json'));
    expect(Object.keys(schema.properties).toSorted()).toEqual([...Object.keys(values), 'global'].toSorted());
    expect(check({ ...minimum, image: { ...values.image, ...minimum.image }, replica: 3 })).toEqual(['']);
  });

  test('the schema refuses secrets among the plain variables', () => {
    const image = { ...values.image, ...minimum.image };
    for (const name of ['GUESTLIST_API_KEY', 'DATABASE_URL', 'LOGIN_SECRET', 'GUESTLIST_HOOK_SECRETS'])
      expect(check({ ...minimum, image, env: { [name]: 'x' } }), name).not.toEqual([]);
    expect(check({ ...minimum, image, env: { GUESTLIST_USER_PER_MINUTE: '600' } })).toEqual([]);
  });

  test('an autoscaler has no less than one pod, and waits are whole milliseconds', () => {
    const image = { ...values.image, ...minimum.image };
    const autoscaling = (given: object) =>
      check({ ...minimum, image, autoscaling: { ...values.autoscaling, ...given } });
    expect(autoscaling({ enabled: true, queueWaitMilliseconds: 250 })).toEqual([]);
    for (const wrong of [{ minReplicas: 0 }, { cpuPercent: 101 }, { queueWaitMilliseconds: -1 }, { more: 1 }])
      expect(autoscaling(wrong), JSON.stringify(wrong)).not.toEqual([]);
  });

  test('pods spread over zones and nodes, and the autoscaler reads the metric that the rules record', () => {
    expect([...deployment.matchAll(/topologyKey: (\S+)/g)].map(([, key]) => key)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    const asked = read('deploy/chart/templates/horizontalpodautoscaler.yaml').match(/name: (guestlist_query\w+)/)?.[1];
    expect(read('docs/how-to/deploy.md')).toContain(`as: "${asked}"`);
    expect(read('docs/how-to/deploy.md')).toContain('guestlist:query_wait_seconds:p95');
    expect(read('deploy/monitoring/alerts.yaml')).toContain('record: guestlist:query_wait_seconds:p95');
  });

  test('sets only variables that the product reads, and secrets only from the Secret', () => {
    const named = [...deployment.matchAll(/- name: ([A-Z_]+)\n\s+(value:|valueFrom:\n\s+secretKeyRef:)(.*)/g)];
    expect(named).toHaveLength(10);
    for (const [, variable = '', source, rest] of named) {
      expect(isRead(variable), variable).toBe(true);
      const isSecret = secretNames.test(variable);
      expect(source?.startsWith('valueFrom'), variable).toBe(isSecret);
      if (isSecret) expect(rest?.trim()).toBe(`{ name: {{ .Values.secret }}, key: ${variable} }`);
    }
    const kinds = readdirSync(join(root, 'deploy/chart/templates')).map((file) =>
      read(`deploy/chart/templates/${file}`),
    );
    expect(kinds.some((text) => /^kind: Secret$/m.test(text))).toBe(false);
  });

  test('ports, folders and user fit the image, and the graces fit the product', () => {
    const { PORT, GUESTLIST_DATA_DIR } = variablesOf(last, 'ENV');
    expect(deployment).toContain(`containerPort: ${PORT}`);
    expect(deployment).toContain(`mountPath: ${GUESTLIST_DATA_DIR}`);
    const [user] = last.find(({ name }) => name === 'USER')?.text.split(':') ?? [];
    expect(deployment).toContain(`runAsUser: ${user}`);
    expect(values.management.port).not.toBe(Number(PORT));
    expect(values.shutdown).toEqual(settings.shutdown);
    const probes = [...deployment.matchAll(/(\w+)Probe:\n\s+httpGet: \{ path: (\S+), port: (\w+) \}/g)];
    expect(probes.map(([, probe, path, port]) => [probe, path, port])).toEqual([
      ['startup', '/healthz', 'http'],
      ['liveness', '/healthz', 'http'],
      ['readiness', '/readyz', 'http'],
    ]);
  });
});

const helm = findHelm();

type Manifest = { readonly kind: string; readonly spec: Record<string, never>; readonly [key: string]: unknown };

/** Real Helm, where the machine has one. It reads values from standard input. */
describe.skipIf(helm === undefined)('chart, rendered by Helm', () => {
  const run = (args: readonly string[], given: object): string =>
    execFileSync(helm ?? '', [...args, '--values', '-'], {
      input: JSON.stringify(given),
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const chart = join(root, 'deploy/chart');
  const render = (given: object): readonly Manifest[] =>
    parseAllDocuments(run(['template', 'numbers', chart], given)).map((document) => document.toJS());
  const find = (given: object, kind: string): Manifest | undefined =>
    render(given).find((found) => found?.kind === kind);

  test('lints without a warning', () => {
    expect(run(['lint', '--strict', chart], minimum)).toContain('0 chart(s) failed');
  });

  test('refuses to be rendered without its three values', () => {
    expect(() => run(['template', 'numbers', chart], {})).toThrow(/image\/repository/);
    expect(() => run(['template', 'numbers', chart], { ...minimum, secret: '' })).toThrow(/secret/);
  });

  test('makes these objects, and no Secret and no Job', () => {
    const kinds = render(minimum).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceAccount',
    ]);
  });

  test('keeps the files of the configuration as they are', () => {
    expect(find(minimum, 'ConfigMap')?.data).toEqual(minimum.files);
  });

  test('without peers nobody reaches the management port; with peers only they do', () => {
    const rulesOf = (given: object) => find({ ...minimum, ...given }, 'NetworkPolicy')?.spec.ingress;
    expect(rulesOf({})).toEqual([{ ports: [{ port: 'http', protocol: 'TCP' }] }]);
    const peer = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
    expect(rulesOf({ networkPolicy: { managementFrom: [peer] } })).toEqual([
      { ports: [{ port: 'http', protocol: 'TCP' }] },
      { ports: [{ port: 'management', protocol: 'TCP' }], from: [peer] },
    ]);
  });

  test('with autoscaling the number of pods is the autoscaler’s, which may look at the wait for databases', () => {
    const given = { ...minimum, autoscaling: { enabled: true, maxReplicas: 9, queueWaitMilliseconds: 500 } };
    expect(find(given, 'Deployment')?.spec).not.toHaveProperty('replicas');
    expect(find(minimum, 'Deployment')?.spec).toHaveProperty('replicas', 2);
    expect(find(given, 'HorizontalPodAutoscaler')?.spec).toMatchObject({
      ...{ minReplicas: 2, maxReplicas: 9 },
      metrics: [{ type: 'Resource' }, { type: 'External', external: { target: { value: '500m' } } }],
    });
    const byCpu = { ...minimum, autoscaling: { enabled: true } };
    expect(find(byCpu, 'HorizontalPodAutoscaler')?.spec.metrics).toHaveLength(1);
  });

  test('a changed file replaces the pods, and every optional value has its place', () => {
    const full = {
      ...minimum,
      only: 'service',
      strategy: 'Recreate',
      imagePullSecrets: ['registry'],
      env: { GUESTLIST_USER_PER_MINUTE: '600' },
      volumes: [{ name: 'ducks', persistentVolumeClaim: { claimName: 'ducks' } }],
      volumeMounts: [{ name: 'ducks', mountPath: '/srv/ducks', readOnly: true }],
      podLabels: { team: 'data' },
      podAnnotations: { note: 'x' },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'k', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    };
    const templateOf = (given: object) => JSON.stringify(find(given, 'Deployment')?.spec.template);
    const changed = { ...minimum, files: { ...minimum.files, 'policies.yaml': 'x: 2\n' } };
    expect(templateOf(changed)).not.toBe(templateOf(minimum));
    const text = templateOf(full);
    for (const word of [
      '"--only","service"',
      '"registry"',
      'GUESTLIST_USER_PER_MINUTE',
      '/srv/ducks',
      '"team"',
      '"ssd"',
    ])
      expect(text).toContain(word);
    expect(find(full, 'Deployment')?.spec.strategy).toEqual({ type: 'Recreate' });
  });
});
