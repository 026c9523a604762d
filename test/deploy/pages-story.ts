import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call as callAny, eventually, gitIn, makeUser, withCredentials } from './client.ts';
import type { Deployed, Told } from './story.ts';

/** What writers do with a wiki and a snippet: by the API and by git, each of which sees what the other wrote. */
export async function pagesStory({ tally, url }: Deployed, { root }: Told): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-pages-'));
  const api = `${url}/api/v4`;
  const git = gitIn(work);
  let writer = '';
  const call = async (status: number, method: string, path: string, body?: object) => {
    const given = body === undefined ? {} : { body };
    const answer = await callAny(`${api}${path}`, { method, token: writer, ...given });
    assert.equal(answer.status, status, answer.text);
    return answer;
  };
  const remote = (path: string) => withCredentials(`${url}/${path}.git`, 'writer', writer);
  const commit = async (clone: string, file: string, text: string) => {
    writeFileSync(join(work, clone, file), text);
    await git(clone, 'add', '-A');
    await git(clone, 'commit', '--quiet', '-m', `Write ${file}`);
    await git(clone, 'push', '--quiet', 'origin', 'HEAD');
  };
  const wiki = '/projects/writer%2Fbook/wikis';

  try {
    await tally.step('a page of a wiki is written, cloned, and pushed back', async () => {
      writer = await makeUser(api, root, 'writer');
      await call(201, 'POST', '/projects', { name: 'book', visibility: 'private' });
      await call(201, 'POST', wiki, { title: 'Part one/Start', content: '# Begin\n' });
      await git('.', 'clone', '--quiet', remote('writer/book.wiki'), 'book');
      assert.equal(readFileSync(join(work, 'book/Part-one/Start.md'), 'utf8'), '# Begin\n');
      await commit('book', 'pushed.adoc', '= Pushed\n\n* *one*\n');
      const listed = JSON.parse((await call(200, 'GET', wiki)).text);
      assert.deepEqual(
        listed.map(({ slug }: { slug: string }) => slug),
        ['Part-one/Start', 'pushed'],
      );
    });

    await tally.step('pages become HTML, of Markdown and of AsciiDoc', async () => {
      const html = async (slug: string) =>
        String((await call(200, 'GET', `${wiki}/${slug}?render_html=true`)).json['content']);
      assert.match(await html('Part-one%2FStart'), /<h1>Begin<\/h1>/);
      assert.match(await html('pushed'), /<h1>Pushed<\/h1>.*<strong>one<\/strong>/s);
    });

    await tally.step('a search looks into pages, and workers index the titles of snippets', async () => {
      const search = async (path: string) => JSON.parse((await call(200, 'GET', path)).text);
      const pages = await search('/projects/writer%2Fbook/search?scope=wiki_blobs&search=begin');
      assert.deepEqual(
        pages.map(({ basename }: { basename: string }) => basename),
        ['Part-one/Start'],
      );
      const files = [{ file_path: 'a.txt', content: 'one\n' }];
      await call(201, 'POST', '/snippets', { title: 'Cormorant', visibility: 'private', files });
      await eventually(async () => {
        assert.equal((await search('/search?scope=snippet_titles&search=cormorant')).length, 1);
      });
    });

    await tally.step('a snippet is written, cloned, and pushed back', async () => {
      const files = [{ file_path: 'a.txt', content: 'one\n' }];
      const { json } = await call(201, 'POST', '/snippets', {
        title: 'A snippet',
        visibility: 'private',
        files,
      });
      const id = Number(json['id']);
      await git('.', 'clone', '--quiet', remote(`snippets/${id}`), 'snippet');
      assert.equal(readFileSync(join(work, 'snippet/a.txt'), 'utf8'), 'one\n');
      await commit('snippet', 'b.txt', 'two\n');
      const raw = await call(200, 'GET', `/snippets/${id}/files/main/b.txt/raw`);
      assert.equal(raw.text, 'two\n');
      await call(204, 'DELETE', `/snippets/${id}`);
      await call(404, 'GET', `/snippets/${id}`);
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
