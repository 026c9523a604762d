import { repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip, found } from './sent.ts';

/** Writes of pages, of projects and of groups. The first one makes the repository. */
export const wikiWrites: readonly Operation[] = (['project', 'group'] as const).flatMap((kind) => [
  endpoint(`POST /${kind}s/:id/wikis`, async (fixtures) => {
    const { path, token } = await wikiOf(fixtures, kind);
    const json = { title: 'home', content: 'one' };
    return { path, token, json, state: () => counted(fixtures, path, token) };
  }),
  endpoint(`PUT /${kind}s/:id/wikis/:slug`, async (fixtures) => {
    const { path, page, token } = await withPage(fixtures, kind);
    const json = { title: 'start', content: 'two' };
    const state = async () => {
      const listed = await fixtures.done('GET', `${path}?with_content=true`, { token });
      const told = listed.map(({ slug, content }: { slug: string; content: string }) => `${slug} ${content}`);
      return after(told.join(), 'home one', 'start two');
    };
    return { path: page, token, json, state };
  }),
  endpoint(`DELETE /${kind}s/:id/wikis/:slug`, async (fixtures) => {
    const { page, token } = await withPage(fixtures, kind);
    return { path: page, token, state: async () => flip(await found(fixtures, page, token)) };
  }),
  endpoint(`POST /${kind}s/:id/wikis/attachments`, async (fixtures) => {
    const { id, path, token } = await wikiOf(fixtures, kind);
    const raw = new FormData();
    raw.set('file', new File(['x'], 'a.txt'));
    // The branch comes with the first commit.
    const state = async () => {
      const refs = fixtures.store.repositories.open(repositoryIdOf({ kind: `${kind}-wiki`, id }));
      const total = await refs.page({ space: 'heads', limit: 1 }).then(
        (page) => page.total,
        () => 0,
      );
      return after(total, 0, 1);
    };
    return { path: `${path}/attachments`, token, raw, state };
  }),
]);

/** The wiki of a new project or group. */
async function wikiOf(
  fixtures: Fixtures,
  kind: 'project' | 'group',
): Promise<{ readonly id: number; readonly path: string; readonly token: string }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('written');
  const { id } = await fixtures.done('POST', `/${kind}s`, { token, json: { name, path: name } });
  return { id, path: `/${kind}s/${id}/wikis`, token };
}

async function withPage(fixtures: Fixtures, kind: 'project' | 'group') {
  const made = await wikiOf(fixtures, kind);
  const json = { title: 'home', content: 'one' };
  await fixtures.done('POST', made.path, { token: made.token, json });
  return { ...made, page: `${made.path}/home` };
}
