import type { MovedKind } from '../../../lib/records/storage-moves.ts';
import { storageOf } from '../../../lib/records/storages.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint } from './sent.ts';
import { withSnippet } from './snippet-endpoints.ts';

const KINDS = ['project', 'group', 'snippet'] as const;

/** Orders to move repositories to another storage, one and all. */
export const storageMoveWrites: readonly Operation[] = KINDS.flatMap((kind) => {
  const one = kind === 'snippet' ? '/snippets/:snippet_id' : `/${kind}s/:id`;
  return [
    endpoint(`POST ${one}/repository_storage_moves`, async (fixtures) => {
      const { rootToken: token } = fixtures.service;
      const path = `${(await subject(fixtures, kind)).path}/repository_storage_moves`;
      const state = () => counted(fixtures, path, token);
      return { path, token, json: { destination_storage_name: 'cold' }, state };
    }),
    endpoint(`POST /${kind}_repository_storage_moves`, async (fixtures) => {
      const { rootToken: token } = fixtures.service;
      const { id, path } = await subject(fixtures, kind);
      const there = { destination_storage_name: 'warm' };
      await fixtures.done('POST', `${path}/repository_storage_moves`, { token, json: there });
      await fixtures.settle();
      const state = async () => {
        await fixtures.settle();
        return after(await storage(fixtures, kind, id), 'warm', 'cold');
      };
      const json = { source_storage_name: 'warm', destination_storage_name: 'cold' };
      return { path: `/${kind}_repository_storage_moves`, token, json, state };
    }),
  ];
});

async function subject(fixtures: Fixtures, kind: MovedKind): Promise<{ id: number; path: string }> {
  if (kind === 'snippet') {
    const { id, snippet } = await withSnippet(fixtures, 'user');
    return { id, path: snippet };
  }
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('moved');
  const { id } = await fixtures.done('POST', `/${kind}s`, { token, json: { name, path: name } });
  return { id, path: `/${kind}s/${id}` };
}

async function storage({ store }: Fixtures, kind: MovedKind, id: number): Promise<string> {
  const record = await store[`${kind}s`].get(id);
  return storageOf(record?.storagePrefix);
}
