/** Finds commits that texts refer to. Reads repositories: it is loaded where a text names one. */
import { titleOf } from '../../git/commit-title.ts';
import { can } from '../access/permissions.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { CommitReference } from '../markdown/references.ts';
import { codeOf } from '../repository/read.ts';
import type { Finder } from './reading.ts';

/** Commits of one text that are looked up, and projects that they are in; others stay text. */
const MAX_COMMITS = 50;
const MAX_PROJECTS = 10;
/** Characters of a commit's id that links show. */
const SHORT = 8;

/** By the beginning of their ids, where it is that of one commit alone. One after the other in each repository. */
export const findCommits: Finder<CommitReference> = async (deps, targets, { actor, baseUrl, project }) => {
  let left = MAX_COMMITS;
  const links = new Map<string, ReferenceLink>();
  const readable = targets.filter(({ access }) => can(actor, access, 'read_code')).slice(0, MAX_PROJECTS);
  for (const { access, references } of readable) {
    const { id, fullPath } = access.project;
    const git = codeOf(deps, access);
    for (const { source, sha } of references) {
      if (left-- <= 0) return links;
      const found = await git.resolve(sha);
      // A branch may have the name.
      if (found === undefined || !found.commit.startsWith(sha)) continue;
      const { commit } = found;
      const isUrl = source.startsWith(baseUrl);
      links.set(source, {
        href: isUrl ? source : `${baseUrl}/${fullPath}/-/commit/${commit}`,
        text: `${id === project?.project.id ? '' : `${fullPath}@`}${commit.slice(0, SHORT)}`,
        title: titleOf((await git.commit(commit)).message),
        class: 'commit',
        data: { 'reference-type': 'commit', project: id, commit },
      });
    }
  }
  return links;
};
