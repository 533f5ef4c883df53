/** As image.test.ts, with the packages that `npm ci --omit=dev` really installs. Needs the npm registry. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { copiesOf, readStages, root } from './files.js';
import { argumentsOf, layOutImage, runImage, untilAnswered } from './image.js';

/** The files and the commands of the Dockerfile's stage `packages`. */
const installPackages = async (folder: string): Promise<void> => {
  const stage = readStages().find(([from]) => from?.text.endsWith(' AS packages')) ?? [];
  for (const file of copiesOf(stage).flatMap(({ sources }) => sources)) {
    await copyFile(join(root, file), join(folder, file));
  }
  const [command] = stage.filter(({ name }) => name === 'RUN');
  await promisify(execFile)('sh', ['-c', command?.text ?? 'false'], { cwd: folder });
};

test('the packages of the image suffice, and the SBOM names them', { timeout: 600_000 }, async () => {
  const { app, remove } = await layOutImage({ install: installPackages });
  try {
    const secret = (): string => randomBytes(36).toString('base64');
    const container = await runImage(app, { GUESTLIST_HOST_JWT_SECRET: secret(), GUESTLIST_API_KEY: secret() });
    await untilAnswered(container, '/elements.js');
    expect(await container.exec(argumentsOf('HEALTHCHECK'))).toBe(0);
    expect(await container.stop(), container.output()).toBe(0);
    const { default: sbom } = await import(join(app, 'sbom.cdx.json'), { with: { type: 'json' } });
    const names: readonly string[] = sbom.components.map(({ name }: { readonly name: string }) => name);
    expect(names).toContain('express');
    expect(names).not.toContain('vitest');
  } finally {
    await remove();
  }
});
