import type { ShownSnippet } from '../../domain/snippets/snippets.ts';
import { projectUrl, type Roots } from '../projects/present.ts';
import { author as authorOf } from '../users/present.ts';

export function snippetOf({ snippet, access, author }: ShownSnippet, { baseUrl, cloneRoot }: Roots) {
  const { id, branch } = snippet;
  const url = `${access === undefined ? baseUrl : projectUrl(access.project, baseUrl)}/-/snippets/${id}`;
  const repository = `${access === undefined ? '' : `${access.project.fullPath}/`}snippets/${id}.git`;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost';
  return {
    id,
    title: snippet.title,
    description: snippet.description,
    visibility: snippet.visibility,
    author: authorOf(author, snippet.author, baseUrl),
    created_at: snippet.createdAt,
    updated_at: snippet.updatedAt,
    expires_at: null,
    project_id: snippet.projectId,
    web_url: url,
    raw_url: `${url}/raw`,
    ssh_url_to_repo: `git@${host}:${repository}`,
    http_url_to_repo: `${cloneRoot}/${repository}`,
    file_name: snippet.files[0] ?? null,
    files: snippet.files.map((path) => ({ path, raw_url: `${url}/raw/${encoded(branch)}/${encoded(path)}` })),
  };
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
