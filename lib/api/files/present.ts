import type { FileFacts } from '../../domain/repository/read.ts';
import type { CommitRecord } from '../../git/repository.ts';
import { gitTime } from '../git-time.ts';

/** The fields of a file without its content; the digest is left out where it is not known. */
export function fileFacts(file: FileFacts & { readonly sha256?: string }, ref: string) {
  return {
    file_name: file.entry.name,
    file_path: file.entry.path,
    size: file.size,
    encoding: 'base64',
    ...(file.sha256 === undefined ? {} : { content_sha256: file.sha256 }),
    ref,
    blob_id: file.entry.id,
    commit_id: file.commit,
    last_commit_id: file.lastCommit,
  };
}

/** The fields as response headers: `Blob-Id`, `Commit-Id`, ... */
export function fileHeaders(facts: ReturnType<typeof fileFacts>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name.replace(
        /(^|_)([a-z])/g,
        (_match, lead: string, letter: string) => (lead === '' ? '' : '-') + letter.toUpperCase(),
      ),
      value,
    ]),
  );
}

/** The commit of a blame range, with fewer fields than commits have elsewhere. */
export function blamedCommit(commit: CommitRecord) {
  return {
    id: commit.oid,
    parent_ids: [...commit.parents],
    message: commit.message,
    authored_date: gitTime(commit.author),
    author_name: commit.author.name,
    author_email: commit.author.email,
    committed_date: gitTime(commit.committer),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
  };
}

/** `inline; filename="x"; filename*=UTF-8''x` (RFC 6266). */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
