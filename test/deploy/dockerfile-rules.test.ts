/**
 * The rules of Hadolint (DL…) that can apply to this Dockerfile: it installs nothing by apt, apk, yum, dnf, zypper, pip, gem, go
 * or yarn, so the rules about those hold as long as the first test does. ShellCheck checks RUN where it is installed.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { copiesOf, type Instruction, readStages, variablesOf } from './files.js';

const [before = [], ...stages] = readStages();
const all = stages.flat();
const last = stages.at(-1) ?? [];
const named = (name: string, among: readonly Instruction[] = all): readonly string[] =>
  among.filter((one) => one.name === name).map(({ text }) => text);
const runs = named('RUN');
const aliases = named('FROM').map((text) => / AS (\S+)$/.exec(text)?.[1]);

describe('Dockerfile', () => {
  test('runs npm, node and what removes and creates files, and no other program (DL3001, DL3003, DL3004, DL3008 to DL3062)', () => {
    const commands = runs.flatMap((text) => text.split(/&&|;|\|\|?/)).map((text) => text.trim().split(' ')[0]);
    expect([...new Set(commands)].toSorted()).toEqual(['install', 'node', 'npm', 'rm']);
    // Only `npm install` takes packages without a version (DL3016). A pipe would hide a failure (DL4006).
    for (const text of runs) expect(text).not.toMatch(/npm (i|install|add|exec)\b|\||\/bin\/sh/);
  });

  test('begins with ARG and FROM, and its stages have different names, none reserved (DL3061, DL3024, DL3063, DL3029)', () => {
    expect(before.map(({ name }) => name)).toEqual(['ARG']);
    const own = aliases.filter((alias) => alias !== undefined);
    expect(new Set(own).size).toBe(own.length);
    for (const alias of own) expect(['scratch', 'context']).not.toContain(alias);
    for (const text of named('FROM')) expect(text).not.toContain('--platform');
  });

  test('has absolute working folders, and each relative COPY is after one (DL3000, DL3045)', () => {
    for (const stage of stages) {
      for (const text of named('WORKDIR', stage)) expect(text).toMatch(/^\//);
      const names = stage.map(({ name }) => name);
      expect(names.indexOf('WORKDIR')).toBeLessThan(names.indexOf('COPY'));
      expect(names).toContain('WORKDIR');
    }
  });

  test('copies by COPY, several files into a folder, and from an earlier stage (DL3010, DL3020, DL3021, DL3022, DL3023)', () => {
    expect(named('ADD')).toEqual([]);
    stages.forEach((stage, index) => {
      for (const { sources, target, from } of copiesOf(stage)) {
        if (sources.length > 1) expect(target).toMatch(/\/$/);
        if (from !== null) expect(aliases.slice(0, index)).toContain(from);
        expect(sources.join(' ')).not.toMatch(/\.(tar|tgz|zip|gz|xz)\b/);
      }
    });
  });

  test('has one of each final instruction, in JSON notation where that exists (DL3012, DL3025, DL4003, DL4004, DL3057)', () => {
    for (const name of ['CMD', 'ENTRYPOINT', 'HEALTHCHECK']) {
      expect(named(name)).toHaveLength(1);
      expect(named(name, last)[0]).toMatch(/\[("[^"]+"(, )?)+\]$/);
    }
    for (const name of ['MAINTAINER', 'ONBUILD']) expect(named(name)).toEqual([]);
  });

  test('ends with a user by number and a valid port (DL3002, DL3011, DL3066)', () => {
    expect(named('USER', last).at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    for (const port of named('EXPOSE')) expect(Number(port)).toBeLessThanOrEqual(65_535);
  });

  test('sets no variable by another of the same instruction, and none that sounds secret (DL3044, DL3064)', () => {
    for (const text of named('ENV')) {
      const own = Object.keys(variablesOf([{ name: 'ENV', text }], 'ENV'));
      for (const name of own) expect(text).not.toMatch(new RegExp(`\\$\\{?${name}\\b`));
    }
    const variables = [
      ...Object.keys(variablesOf(all, 'ENV')),
      ...Object.keys(variablesOf([...before, ...all], 'ARG')),
    ];
    for (const name of variables) expect(name).not.toMatch(/SECRET|TOKEN|PASSWORD|KEY|CREDENTIAL|AUTH/);
  });

  test('joins what one layer can do, and labels by valid keys (DL3059, DL3048)', () => {
    for (const stage of stages) {
      stage.forEach(({ name }, index) => {
        if (name === 'RUN') expect(stage[index + 1]?.name).not.toBe('RUN');
      });
    }
    const keys = named('LABEL').flatMap((text) => [...text.matchAll(/(\S+)=/g)].map(([, key]) => key));
    for (const key of keys) expect(key).toMatch(/^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/);
    expect(keys.length).toBeGreaterThan(0);
  });

  test('ignores no rule by a comment (DL1001), and ShellCheck finds nothing in its commands', () => {
    expect(before.length).toBeGreaterThan(0);
    for (const text of runs) {
      const { error, status, stdout } = spawnSync('shellcheck', ['--shell=sh', '-'], { input: text, encoding: 'utf8' });
      if (error !== undefined)
        return console.warn('NO SHELLCHECK on the PATH: THE COMMANDS OF THE DOCKERFILE ARE NOT CHECKED');
      expect([status, stdout]).toEqual([0, '']);
    }
  });
});
