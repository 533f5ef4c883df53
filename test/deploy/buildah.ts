/**
 * Builds the Dockerfile with Buildah and runs it with Podman, without pulling: the base is made of Debian's packages and of
 * the Node.js binary in an npm package. Everything is in one folder, apart from the machine's own images.
 */
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readStages, root, variablesOf } from './files.js';

const execute = promisify(execFile);
const run = (command: string, args: readonly string[], cwd: string) =>
  execute(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });

const programs = ['buildah', 'podman', 'runc', 'debootstrap'];
const isThere = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Whether an image can be built and run here. Otherwise says loudly what is missing. */
export const canBuildImages = (): boolean => {
  const missing = programs.filter((program) => !isThere(program));
  if (process.getuid?.() === 0 && missing.length === 0) return true;
  console.warn(`NO IMAGE IS BUILT: needs root, and ${missing.join(', ') || 'nothing else'}`);
  return false;
};

const base = 'localhost/node-without-registry';
const image = 'localhost/guestlist-of-test';

/** The release of Node.js that the Dockerfile names. */
const nodeVersion = (): string =>
  /:([\d.]+)-/.exec(variablesOf(readStages()[0] ?? [], 'ARG').NODE_IMAGE ?? '')?.[1] ?? '';

/** A file system with Debian 12, Node.js, and the npm of this machine. */
const layOutBase = async (folder: string): Promise<void> => {
  const system = join(folder, 'system');
  await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', system], folder);
  const { stdout: packed } = await run(
    'npm',
    ['pack', `node-linux-${process.arch}@${nodeVersion()}`, '--silent'],
    folder,
  );
  const unpack = ['xzf', packed.trim(), '--strip-components=1', '--no-same-owner', '-C', join(system, 'usr/local')];
  await run('tar', [...unpack, 'package/bin'], folder);
  const { stdout: modules } = await run('npm', ['root', '--global'], folder);
  await cp(join(modules.trim(), 'npm'), join(system, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(system, 'usr/local/bin/npm'));
  const instructions = ['FROM scratch', 'ADD system /', 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
  await writeFile(join(folder, 'Containerfile'), instructions.join('\n'));
};

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** The registry that this machine uses, for the time of the build: mounted, so no layer holds the file. */
const registryMounts = async (folder: string): Promise<readonly string[]> => {
  const { stdout } = await run('npm', ['config', 'get', 'userconfig'], folder);
  const own = await readFile(stdout.trim(), 'utf8').catch(() => '');
  const file = join(folder, 'npmrc');
  await writeFile(file, `${own}\ncafile=${certificates}\n`, { mode: 0o600 });
  return [`--volume=${file}:/root/.npmrc:ro`, `--volume=${certificates}:${certificates}:ro`];
};

export type BuiltImage = {
  readonly folder: string;
  /** Runs Podman on the image's own store. Rejects if the command ends with another code than 0. */
  readonly podman: (...args: readonly string[]) => Promise<string>;
  readonly name: string;
  readonly remove: () => Promise<void>;
};

/** Builds the base and the image of this repository. Takes a minute or two. */
export const buildImage = async (): Promise<BuiltImage> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-container-'));
  await mkdir(join(folder, 'podman'));
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
  const build = (...args: readonly string[]) =>
    run('buildah', [...store, 'build', '--format=docker', '--isolation=chroot', ...args], folder);
  const own = ['--tmpdir', join(folder, 'podman'), '--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];
  const podman = async (...args: readonly string[]): Promise<string> =>
    (await run('podman', [...store, ...own, '--log-level=fatal', ...args], folder)).stdout;
  const remove = async (): Promise<void> => {
    await podman('rm', '--all', '--force', '--volumes', '--time=0');
    // Unmounts what is left of the layers.
    await podman('rmi', '--all', '--force');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await layOutBase(folder);
    await build(`--tag=${base}`, '.');
    const mounts = await registryMounts(folder);
    await build('--network=host', `--build-arg=NODE_IMAGE=${base}`, ...mounts, `--tag=${image}`, root);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, podman, name: image, remove };
};
