import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { HostOptions } from '../../local/host.ts';
import { ownWorld } from '../harness/own-world.ts';
import { GitCli, withToken } from './git-cli.ts';

/**
 * A service whose responses carry packs of 2 MB, a stock git, and its working copy of a private project.
 *
 * @param fill the first commits and pushes
 */
export function gitWithFetchLimit(options: Partial<HostOptions>, fill: () => Promise<void>) {
  const git = new GitCli();
  const work = git.path('work');
  beforeAll(() => {
    process.env['MAX_FETCH_BYTES'] = '2000000';
  });
  const { service, world } = ownWorld(options);
  beforeAll(async () => {
    await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
    await fill();
  });
  afterAll(() => {
    delete process.env['MAX_FETCH_BYTES'];
    git[Symbol.dispose]();
  });

  /** Of the private project, with its owner's token. */
  const url = () => withToken(service.url, 'owner/private-thing', world.tokens.owner);
  return {
    git,
    work,
    url,
    async commitFile(name: string, content: Buffer): Promise<void> {
      writeFileSync(join(work, name), content);
      await git.ok(work, 'add', '.');
      await git.ok(work, 'commit', '--quiet', '-m', name);
    },
    push: () => git.ok(work, 'push', '--quiet', url(), 'main'),
  };
}
