import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip } from './sent.ts';

const files = [{ file_path: 'a.txt', content: 'one\n' }];

/** Writes of snippets, of users and of projects. */
export const snippetWrites: readonly Operation[] = (['user', 'project'] as const).flatMap((kind) => {
  const [path, one] =
    kind === 'user'
      ? ['/snippets', '/snippets/:id']
      : ['/projects/:id/snippets', '/projects/:id/snippets/:snippet_id'];
  return [
    endpoint(`POST ${path}`, async (fixtures) => {
      const { at, token } = await owner(fixtures, kind);
      return { path: at, token, json: { title: 'v1', files }, state: () => counted(fixtures, at, token) };
    }),
    endpoint(`PUT ${one}`, async (fixtures) => {
      const { token, snippet } = await withSnippet(fixtures, kind);
      const change = { action: 'move', previous_path: 'a.txt', file_path: 'b.txt', content: 'two\n' };
      const state = async () => {
        const { title, file_name, visibility } = await fixtures.done('GET', snippet, { token });
        const text = await fixtures.done('GET', `${snippet}/raw`, { token });
        return after(
          `${title} ${file_name} ${visibility} ${text}`,
          'v1 a.txt private one\n',
          'v2 b.txt internal two\n',
        );
      };
      return { path: snippet, token, json: { title: 'v2', visibility: 'internal', files: [change] }, state };
    }),
    endpoint(`DELETE ${one}`, async (fixtures) => {
      const { at, token, snippet } = await withSnippet(fixtures, kind);
      return { path: snippet, token, state: async () => flip(await counted(fixtures, at, token)) };
    }),
  ];
});

/** A new user or project without snippets. */
async function owner(fixtures: Fixtures, kind: 'user' | 'project') {
  if (kind === 'user') {
    const { token } = await fixtures.service.user(fixtures.fresh('writer'));
    return { at: '/snippets', token };
  }
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('with-snippets');
  const { id } = await fixtures.done('POST', '/projects', { token, json: { name } });
  return { at: `/projects/${id}/snippets`, token };
}

export async function withSnippet(fixtures: Fixtures, kind: 'user' | 'project') {
  const made = await owner(fixtures, kind);
  const json = { title: 'v1', files, visibility: 'private' };
  const { id } = await fixtures.done('POST', made.at, { token: made.token, json });
  return { ...made, id: id as number, snippet: `${made.at}/${id}` };
}
