import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryIdOf } from '../../lib/records/repository-owner.ts';
import { CHANGED_PAGE, DESCRIBED_FILE, NO_SNIPPET, snippetTitle } from './check-beside-code.ts';
import { call, done, type Outcome, WorkTree } from './client.ts';
import { type ExpectedState, NO_FILE } from './expected-state.ts';
import type { Host } from './host.ts';
import type { Person, Project } from './people.ts';
import { changing, type Step, settling, steps } from './subject-writers.ts';
import type { Fixtures } from './writers.ts';

const NEW_PAGE = 'new\n';
/** The branch of wikis and snippets. */
const BRANCH = 'main';

const pageText = (expectedState: ExpectedState, { id }: { readonly id: number }, slug: string) =>
  expectedState.text(repositoryIdOf({ kind: 'project-wiki', id }), `${slug}.md`);

/** The first page of a project's wiki, and a work tree of it. */
export async function startedWiki(
  url: string,
  owner: Person,
  project: Project,
  folder: string,
  expectedState: ExpectedState,
): Promise<WorkTree> {
  const page = { title: 'home', content: NEW_PAGE };
  done(await call(url, owner.token, 'POST', `/projects/${project.id}/wikis`, page));
  pageText(expectedState, project, 'home').acknowledge(NEW_PAGE);
  return WorkTree.clone(folder, { url, token: owner.token, fullPath: `${project.fullPath}.wiki` });
}

/**
 * Writes a page of a wiki and changes it; deletes every second one. Then pushes another page.
 * @param counted hears of each change that was made, as a round may end before the last
 */
export function writingPages(
  host: Host,
  { ada, shared, wikiTree }: Fixtures,
  expectedState: ExpectedState,
  counted: (outcome: Outcome<unknown>) => void,
): Step {
  let count = 0;
  const path = `/projects/${shared.id}/wikis`;
  const remote = { url: host.url, token: ada.token, fullPath: `${shared.fullPath}.wiki` };
  const ask = (method: string, at: string, json?: object) => call(host.url, ada.token, method, at, json);
  return steps(async (name) => {
    const slug = `page-${name}`;
    const text = pageText(expectedState, shared, slug);
    const change = async (to: string, send: () => Promise<Outcome<unknown>>) => {
      await settling(text, to, send);
      counted({ kind: 'done', value: undefined });
    };
    await change(NEW_PAGE, () => ask('POST', path, { title: slug, content: NEW_PAGE }));
    await change(CHANGED_PAGE, () => ask('PUT', `${path}/${slug}`, { content: CHANGED_PAGE }));
    if (count++ % 2 === 0) await change(NO_FILE, () => ask('DELETE', `${path}/${slug}`));

    const pushed = `pushed-${name}`;
    const fact = pageText(expectedState, shared, pushed);
    // What a push leaves unpushed goes with the next.
    fact.attempt(NEW_PAGE);
    await wikiTree.commitFile(`${pushed}.md`, NEW_PAGE);
    await wikiTree.rebase(remote, BRANCH);
    await settling(fact, NEW_PAGE, () => wikiTree.push(remote, `HEAD:refs/heads/${BRANCH}`));
  });
}

/**
 * Makes a snippet, of a person and of a project in turns, changes it with its file, pushes another file to it, and deletes
 * two of three.
 * @param counted hears of each change that was made, as a round may end before the last
 */
export function writingSnippets(
  host: Host,
  { ada, shared, folder }: Fixtures,
  expectedState: ExpectedState,
  counted: (outcome: Outcome<unknown>) => void,
): Step {
  let count = 0;
  const ask = (method: string, at: string, json?: object) => call(host.url, ada.token, method, at, json);
  return steps(async (name) => {
    const turn = count++;
    const [path, above] =
      turn % 2 === 0 ? ['/snippets', ''] : [`/projects/${shared.id}/snippets`, `${shared.fullPath}/`];
    const title = snippetTitle(name);
    const key = `snippet ${title}`;
    const change = async (to: string, send: () => Promise<Outcome<unknown>>) => {
      await changing(expectedState, key, to, send);
      counted({ kind: 'done', value: undefined });
    };
    const described = (action: string, text: string) => ({
      description: text,
      files: [{ action, file_path: DESCRIBED_FILE, content: text }],
    });

    expectedState.state(key, NO_SNIPPET);
    let id = 0;
    await change('first', async () => {
      const json = { title, visibility: 'public', ...described('create', 'first') };
      const made = await ask('POST', path, json);
      if (made.kind === 'done') id = made.value.id;
      return made;
    });
    await change('second', () => ask('PUT', `${path}/${id}`, described('update', 'second')));

    const remote = { url: host.url, token: ada.token, fullPath: `${above}snippets/${id}` };
    const folderOfClone = join(folder, `snippet-${name}`);
    try {
      const tree = await WorkTree.clone(folderOfClone, remote);
      await tree.commitFile('pushed.md', title);
      const fact = expectedState.text(repositoryIdOf({ kind: 'snippet', id }), 'pushed.md');
      await settling(fact, title, () => tree.push(remote, `HEAD:refs/heads/${BRANCH}`));
    } finally {
      rmSync(folderOfClone, { recursive: true, force: true });
    }
    counted({ kind: 'done', value: undefined });
    if (turn % 3 > 0) await change(NO_SNIPPET, () => ask('DELETE', `${path}/${id}`));
  });
}
