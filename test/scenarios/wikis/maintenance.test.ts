/** Repositories beside code are maintained as code is: many small packs become one, and nothing of them is lost. */
import { expect, test } from 'vitest';
import { makeDeps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { type RepositoryOwner, repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { world, as } = ownWorld();
const WRITES = 30;

test.each(['project-wiki', 'group-wiki', 'snippet'] as const)(
  'many writes of a %s leave few packs, with what was written',
  async (kind) => {
    const { id, one, text } = await written(kind);
    const repositoryId = repositoryIdOf({ kind, id });
    const body = { repositoryId, collect: true, refs: true };
    // What the host does to the repository by itself keeps others away from it.
    await settled();
    await runJob(makeDeps(), { id: `maintain ${kind}`, type: 'repository.maintain', body });
    const packs = await world.store.repositories.open(repositoryId).listPacks();
    expect(packs.length).toBeLessThan(WRITES / 2);
    const { body: shown } = await as('owner', 'GET', one);
    expect(text(shown)).toBe(`text ${WRITES}`);
  },
);

interface Written {
  /** Of the owner of the repository. */
  readonly id: number;
  readonly one: string;
  readonly text: (body: unknown) => unknown;
}

async function written(kind: RepositoryOwner['kind']): Promise<Written> {
  if (kind === 'snippet') {
    const file = { file_path: 'a.txt', content: 'text 1' };
    const { id } = (await as('owner', 'POST', '/snippets', { title: 'x', files: [file] })).body;
    for (let n = 2; n <= WRITES; n++)
      await as('owner', 'PUT', `/snippets/${id}`, { file_name: 'a.txt', content: `text ${n}` });
    return { id, one: `/snippets/${id}/raw`, text: (body) => body };
  }
  const json = { name: kind, path: kind };
  const at = kind === 'group-wiki' ? '/groups' : '/projects';
  const { id } = (await as('owner', 'POST', at, json)).body;
  const wiki = `${at}/${id}/wikis`;
  await as('owner', 'POST', wiki, { title: 'home', content: 'text 1' });
  for (let n = 2; n <= WRITES; n++) await as('owner', 'PUT', `${wiki}/home`, { content: `text ${n}` });
  return { id, one: `${wiki}/home`, text: (body) => (body as { content: string }).content };
}
